#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pfcurve --slurm and pftune --slurm on a real Slurm of one machine, which this script sets up in a temporary folder and takes down again.
# Usage, as root: tests/cli/pfcurve/slurm.sh [BUILD]. Not part of ./run-tests, because slurmd and munged want to be root.
# It needs Debian's slurmctld, slurmd, slurm-client and munge; nothing of the system's own Slurm is touched.
set -eu

cd "$(dirname "$0")/../../.."
build=$(realpath "${1:-build}")
[ "$(id -u)" -eq 0 ] || { echo "slurm.sh: must run as root" >&2; exit 1; }
for tool in slurmctld slurmd munged sbatch scontrol; do
    command -v $tool >/dev/null || { echo "slurm.sh: $tool is missing (Debian: slurmctld slurmd slurm-client munge)" >&2; exit 1; }
done

work=$(mktemp -d "${TMPDIR:-/tmp}/pf-slurm-XXXXXX")
host=$(hostname -s)

# Only processes that this script started: each has written its number into the folder.
stop()
{
    status=$?
    for daemon in slurmd slurmctld munged; do
        [ ! -s "$work/$daemon.pid" ] || kill "$(cat "$work/$daemon.pid")" 2>/dev/null || true
    done
    sleep 2
    [ "$status" -eq 0 ] || tail -n 15 "$work"/*.log >&2
    rm -rf "$work"
    exit "$status"
}
trap stop EXIT
trap 'exit 1' INT TERM

# Waits up to 60 s for a command to succeed.
await()
{
    for _ in $(seq 120); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.5
    done
    echo "slurm.sh: in vain: $*" >&2
    return 1
}

mkdir "$work/state" "$work/spool" "$work/munge"
chmod 755 "$work" "$work/munge"
dd if=/dev/urandom of="$work/munge/key" bs=128 count=1 2>/dev/null
chmod 400 "$work/munge/key"
munged --force --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munged.pid" \
    --log-file="$work/munged.log" --seed-file="$work/munge/seed"
await test -S "$work/munge/socket"

cat >"$work/slurm.conf" <<END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$work/munge/socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=sched_min_interval=100000
$(slurmd -C | grep -o 'NodeName=.*RealMemory=[0-9]*') NodeAddr=127.0.0.1
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=other Nodes=ALL MaxTime=INFINITE State=UP
END
export SLURM_CONF="$work/slurm.conf"
slurmctld -f "$SLURM_CONF"
slurmd -f "$SLURM_CONF"
await sh -c 'sinfo -h -p all -o %T | grep -q idle'

fail() { echo "slurm.sh: $*" >&2; exit 1; }

cat >"$work/schedules" <<END
mixed   setup=smpi,solve=analytic,report=smpi
broken  solve=unknown
END
# One schedule fails on purpose: exit status 1, and the others' results are there.
set -- "$build/bin/pfcurve" --slurm -np 4 --models analytic,smpi --schedules "$work/schedules" --repeat 2 \
    --cfg=smpi/simulate-computation:no --output "$work/out"
timeout 300 "$@" "$build/examples/cg" -n 8 >"$work/said.log" 2>&1 && fail "a failed run must show in the exit status"
grep -q "^failed: broken, run 2: .*unknown model" "$work/said.log" || fail "the failed run is not reported"
[ "$(grep -c '^mixed,.*,2,0,' "$work/out/points.csv")" -eq 1 ] || fail "the mixed schedule has no two runs"
[ -s "$work/out/curve.png" ] || fail "no picture"
jobs=$(find "$work/out" -name 'slurm-*.log' | wc -l)
[ "$jobs" -eq 8 ] || fail "$jobs jobs instead of 8 (4 schedules, 2 runs each)"

# pftune submits its runs in the same way.
"$build/bin/pftune" -machine marenostrum5 -nodes 4 -sizes 64 -collectives allgather --slurm -o "$work/rules.conf" >>"$work/said.log" 2>&1 ||
    fail "pftune --slurm"
grep -q "^# allgather " "$work/rules.conf" || fail "no table in the rules"
[ "$(find "$work/rules.conf.runs" -name 'slurm-*.log' | wc -l)" -eq 6 ] || fail "not 6 jobs of pftune (default and 5 algorithms)"

# ^C takes the jobs back; the partition and more options reach sbatch.
cat >"$work/sleep.c" <<END
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    system("sleep 120");
    MPI_Finalize();
    return 0;
}
END
"$build/bin/pfcc" "$work/sleep.c" -o "$work/sleep"
timeout -s INT 20 "$build/bin/pfcurve" --slurm --partition other --sbatch=--job-name=slow -np 2 --models analytic,smpi \
    --switch-after --output "$work/slow" "$work/sleep" >>"$work/said.log" 2>&1 && fail "an interrupted sweep must not succeed"
grep -q "^pfcurve: stopped" "$work/said.log" || fail "no word about the interruption"
scontrol -o show job | grep 'JobName=slow .*Partition=other' >/dev/null || fail "no job in the other partition"
await sh -c '[ -z "$(squeue -h)" ]'
echo "slurm.sh: passed ($jobs jobs on Slurm $(sbatch --version | cut -d' ' -f2))"
