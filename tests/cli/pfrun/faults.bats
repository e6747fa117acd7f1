# SPDX-License-Identifier: BSD-3-Clause
# Faults during the run: a line that names the rank, the exit status of the contract, nothing left behind.
load common.bash

# crashes MODE STATUS TEXT...: rank 1 does MODE
crashes() {
    local mode=$1 expected=$2
    shift 2
    run pfrun -np 3 -report report "$APP" "$mode"
    echo "$output"
    [ "$status" -eq "$expected" ]
    for text in "$@"; do
        grep -F -- "$text" <<<"$output"
    done
    case $mode in early | beforeinit) return ;; esac # nothing has been simulated: no table
    is_partial "$expected" <<<"$output"
}

# is_partial STATUS <output: table and summary, both marked, and where rank 0 was
is_partial() {
    local output=$(cat)
    [ "$(grep -c '^partial, not the whole run: .' <<<"$output")" -eq 1 ]
    grep -E '^all +[0-9.]+ [mun]?s ' <<<"$output"
    grep -E '^parfocal: rank 0 is (blocked|not) ' <<<"$output"
    python3 - "$1" <<'END'
import json, sys
summary = json.load(open("report/summary.json"))
assert summary["partial"] is True and summary["partial_reason"], summary
assert summary["exit_status"] == int(sys.argv[1]) and summary["ranks"] == 3, summary
assert summary["phases"][0]["calls"] > 0, summary
END
}

@test "null pointer" { crashes segv 139 "rank 1: segmentation fault (SIGSEGV) in misbehave at faults.c:" "$APP+0x" "touching address (nil)"; }
@test "an exception that nobody catches" {
    cat >throws.cpp <<'END'
#include <mpi.h>
#include <stdexcept>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        throw std::runtime_error("too far");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
END
    "$PF_BIN/pfcxx" throws.cpp -o throws
    run pfrun -np 3 -model portals ./throws
    [ "$status" -eq 134 ]
    grep "rank 1: uncaught exception std::runtime_error: too far, at simulated time" <<<"$output"
}
@test "null pointer inside the C library" { crashes libc 139 "rank 1: segmentation fault (SIGSEGV)" "$APP+0x"; }
@test "null pointer before MPI_Init" { crashes early 139 "rank 0: segmentation fault (SIGSEGV) in main"; }
@test "a buffer that is no memory of the host" {
    local model size text="touching address 0x7e0000000000 for MPI: buffers must be memory of the host that can be read and written (device memory,"
    for model in smpi portals analytic; do
        for size in 8 300000; do
            run pfrun -np 3 -model $model "$APP" device $size
            echo "$output"
            [ "$status" -eq 139 ]
            grep -F "$text" <<<"$output"
            grep -E "^parfocal: rank 1 is blocked in MPI_Send \\(peer 0, tag 7\\), model $model, at faults.c:[0-9]+ \\(misbehave\\)$" <<<"$output"
        done
    done
}
@test "a jump to no code" { crashes jump 139 "rank 1: segmentation fault (SIGSEGV)" "touching address 0x10"; }
@test "division by zero" { crashes fpe 136 "rank 1: arithmetic error (SIGFPE)"; }
@test "abort" { crashes abort 134 "rank 1: abort (SIGABRT) in misbehave"; }
@test "stack overflow" { crashes overflow 139 "rank 1: segmentation fault" "contexts/stack-size"; }
@test "MPI_Abort: its code" { crashes mpiabort 9 "rank 1"; }
@test "a call from another thread" { crashes thread 1 "MPI_Barrier was called from a thread that is no rank"; }
@test "a call before MPI_Init" { crashes beforeinit 1 "MPI_Comm_size was called before MPI_Init"; }
@test "deadlock" { crashes deadlock 1 "deadlock at simulated time" "rank 1"; }

# starts MODE pfrun-arguments...: until the program is there. Ranks' copies are files, else there would be nothing to remove.
starts() {
    local mode=$1 i
    shift
    PARFOCAL_PROGRAM_LOADING=copies "$PF_BIN/pfrun" --log=root.thres:critical -np 3 -report report "$@" "$APP" "$mode" >out 2>err &
    pid=$!
    for i in $(seq 600); do
        grep -q spinning out && break
        sleep 0.02
    done
    [ -n "$(ls -A tmp)" ] || { kill -9 "$pid"; return 1; }
}

# has_stopped STATUS TEXT
has_stopped() {
    local result=0
    wait "$pid" || result=$?
    cat err
    [ "$result" -eq "$1" ]
    [ "$(grep -c "^parfocal: error" err)" -eq 1 ]
    grep -F "$2" err
}

# stops SIGNAL STATUS TEXT [MODE [pfrun-arguments...]]: sends the signal while rank 1 computes, or does MODE
stops() {
    local signal=$1 expected=$2 text=$3
    shift 3
    starts "${1:-spin}" "${@:2}"
    kill -s "$signal" "$pid"
    has_stopped "$expected" "$text"
    is_partial "$expected" <err
}

@test "^C" {
    # A shell without job control starts background jobs with SIGINT ignored.
    set -m
    stops INT 130 "stopped by ^C (SIGINT)"
}
@test "SIGTERM" { stops TERM 143 "stopped by SIGTERM"; }
@test "SIGHUP" { stops HUP 129 "stopped by SIGHUP"; }
@test "SIGQUIT" { stops QUIT 131 "stopped by SIGQUIT"; }
@test "SIGXCPU" { stops XCPU 152 "stopped by the limit of CPU time (SIGXCPU)"; }
@test "SIGALRM" { stops ALRM 142 "stopped by a time limit (SIGALRM)"; }

@test "a signal while all ranks communicate for ever" {
    for model in smpi portals analytic; do
        stops TERM 143 "stopped by SIGTERM" loop -model $model
        grep -E "^parfocal: rank . is blocked in MPI_Allreduce, model $model, at faults.c:[0-9]+ " err
    done
}

@test "a signal while a rank is in the C library: in malloc, in memset, in a system call" {
    for mode in malloc memset pause; do
        stops TERM 143 "stopped by SIGTERM" $mode
        grep -E "^parfocal: rank 1 is not in an MPI call; the last one was MPI_Comm_size at faults.c:[0-9]+ " err
    done
}

@test "timeout(1), which sends its signal twice" {
    PARFOCAL_PROGRAM_LOADING=copies run timeout 0.5 "$PF_BIN/pfrun" --log=root.thres:critical -np 3 -report report "$APP" pause
    echo "$output"
    [ "$status" -eq 124 ]
    is_partial 143 <<<"$output"
}

@test "ulimit -t, which sets both limits" {
    run bash -c 'ulimit -t 2 && exec "$@"' - "$PF_BIN/pfrun" --log=root.thres:critical -np 3 -report report "$APP" spin
    echo "$output"
    [ "$status" -eq 152 ]
    is_partial 152 <<<"$output"
}

@test "a second signal ends at once, and leaves nothing behind" {
    starts pause
    kill -s TERM "$pid"
    sleep 0.6
    kill -s INT "$pid"
    local result=0
    wait "$pid" || result=$?
    [ "$result" -eq 130 ]
    [ "$(grep -c "^parfocal: error" err)" -eq 0 ]
    [ ! -e report/summary.json ]
}

@test "nohup" {
    PARFOCAL_PROGRAM_LOADING=copies nohup "$PF_BIN/pfrun" --log=root.thres:critical -np 3 -report report "$APP" spin >out 2>err &
    pid=$!
    until grep -q spinning out; do sleep 0.02; done
    kill -s HUP "$pid"
    sleep 0.1
    kill -s TERM "$pid"
    has_stopped 143 "stopped by SIGTERM"
}

@test "many ranks are at few places" {
    run pfrun -np 40 "$APP" deadlock
    echo "$output"
    [ "$status" -eq 1 ]
    grep -E '^parfocal: ranks 0, 2-39 are blocked in MPI_Allreduce, model smpi, at faults.c:[0-9]+ \(main\)$' <<<"$output"
    grep -E '^parfocal: rank 1 is blocked in MPI_Recv \(peer 0, tag 99\), model smpi, at faults.c:[0-9]+ \(misbehave\)$' <<<"$output"
    [ "$(wc -l <<<"$output")" -eq 3 ]
}

@test "what a killed run left behind, the next one removes; a live run keeps its files" {
    for i in 1 2; do
        PARFOCAL_PROGRAM_LOADING=copies "$PF_BIN/pfrun" --log=root.thres:critical -np 3 "$APP" spin >out$i 2>/dev/null &
        pids[i]=$!
    done
    for i in $(seq 100); do
        grep -q spinning out1 && grep -q spinning out2 && break
        sleep 0.1
    done
    [ "$(ls tmp | wc -l)" -eq 2 ] || { kill -9 "${pids[@]}"; return 1; }
    kill -9 "${pids[1]}"
    wait "${pids[1]}" || true
    [ "$(ls tmp | wc -l)" -eq 2 ]
    run pfrun -np 2 "$APP"
    [ "$status" -eq 0 ]
    [ "$(ls tmp | wc -l)" -eq 1 ]
    ls tmp | grep -- "-${pids[2]}-"
    kill "${pids[2]}"
    wait "${pids[2]}" || true
}
