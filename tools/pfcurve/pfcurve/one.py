#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""One run of the sweep: one.py runs/NAME/run.json, in the folder of the results.

Writes result.json to the same folder in any case, so that a run that failed is a result as well and does not stop the others.
"""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time


def last_line(text):
    """What explains a failure best: our own error, else the end of the output."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("parfocal: error: ")]
    return (errors or lines or ["no output"])[0 if errors else -1]


def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def write_json(path, value):
    """The file is complete whenever it exists."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
    os.replace(path + ".new", path)


def prepare(folder, key, command, environment, timeout):
    """A new folder for a run, with the run.json that main() reads."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    write_json(os.path.join(folder, "run.json"),
               {"key": key, "command": [command[0], "-report", folder, "-quiet", *command[1:]], "cwd": os.getcwd(), "environment": environment, "timeout": timeout})


def execute(run, folder):
    """Returns (exit status or text, wall-clock seconds, processor seconds)."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PARFOCAL_", "OMPI_MCA_"))} | run["environment"]
    begin = time.monotonic()
    with open(os.path.join(folder, "output.txt"), "wb") as output, open(run.get("stdin", os.devnull), "rb") as given:
        # A session of its own, so that all its processes can be ended with it.
        process = subprocess.Popen(run["command"], stdin=given, stdout=output, stderr=subprocess.STDOUT,
                                   cwd=run["cwd"], env=environment, start_new_session=True)

        def stop(number, _):
            end(process)
            sys.exit(128 + number)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        try:
            status = process.wait(timeout=run["timeout"])
        except subprocess.TimeoutExpired:
            end(process)
            status = f"stopped after {run['timeout']:g} s (--timeout)"
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return status, time.monotonic() - begin, used.ru_utime + used.ru_stime


def end(process):
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=5)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


def main():
    path = sys.argv[1]
    folder = os.path.dirname(os.path.abspath(path))
    run = read_json(path)
    status, seconds, processor = execute(run, folder)
    with open(os.path.join(folder, "output.txt"), encoding="utf-8", errors="replace") as output:
        text = output.read()
    summary = read_json(os.path.join(folder, "summary.json"))
    result = {"key": run["key"], "command": run["command"], "status": status, "seconds": seconds, "processor_s": processor,
              "host": os.uname().nodename,
              "load": os.getloadavg()[0], "why": "" if status == 0 and summary else last_line(text)}
    if isinstance(status, str):
        result["why"] = status
    result["ok"] = status == 0 and summary is not None
    write_json(os.path.join(folder, "result.json"), result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
