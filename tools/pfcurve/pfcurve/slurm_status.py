#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What became of a Slurm job, in Snakemake's words: slurm_status.py JOB. Works without Slurm's accounting database."""
import re
import subprocess
import sys

RUNNING = ("PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "REQUEUED", "RESIZING")


def main():
    job = sys.argv[-1].partition(";")[0]  # sbatch --parsable may add the cluster
    done = subprocess.run(["scontrol", "--oneliner", "show", "job", job], capture_output=True, text=True, check=False)
    state = re.search(r"JobState=(\w+)", done.stdout)
    # slurmctld forgets a job some minutes after its end, and may be too busy to answer: then the result decides.
    if state and state[1] in RUNNING or "timed out" in done.stderr:
        print("running")
    else:
        print("success" if not state or state[1] == "COMPLETED" else "failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
