# SPDX-License-Identifier: BSD-3-Clause
# Faults during the run: a line that names the rank, the exit status of the contract, nothing left behind.
load common.bash

# crashes MODE STATUS TEXT...: rank 1 does MODE
crashes() {
    local mode=$1 expected=$2
    shift 2
    run pfrun -np 3 "$APP" "$mode"
    echo "$output"
    [ "$status" -eq "$expected" ]
    for text in "$@"; do
        grep -F -- "$text" <<<"$output"
    done
}

@test "null pointer" { crashes segv 139 "rank 1: segmentation fault (SIGSEGV) in misbehave at faults.c:" "$APP+0x" "touching address (nil)"; }
@test "null pointer inside the C library" { crashes libc 139 "rank 1: segmentation fault (SIGSEGV)" "$APP+0x"; }
@test "null pointer before MPI_Init" { crashes early 139 "rank 0: segmentation fault (SIGSEGV) in main"; }
@test "division by zero" { crashes fpe 136 "rank 1: arithmetic error (SIGFPE)"; }
@test "abort" { crashes abort 134 "rank 1: abort (SIGABRT) in misbehave"; }
@test "stack overflow" { crashes overflow 139 "rank 1: segmentation fault" "contexts/stack-size"; }
@test "MPI_Abort: its code" { crashes mpiabort 9 "rank 1"; }
@test "a call from another thread" { crashes thread 1 "MPI_Comm_rank was called from a thread that is no rank"; }
@test "a call before MPI_Init" { crashes beforeinit 1 "MPI_Comm_size was called before MPI_Init"; }
@test "deadlock" { crashes deadlock 1 "deadlock at simulated time" "rank 1"; }

# stops SIGNAL STATUS TEXT: sends the signal while rank 1 computes. Ranks' copies are files, else there would be nothing to remove.
stops() {
    PARFOCAL_PROGRAM_LOADING=copies "$PF_BIN/pfrun" --log=root.thres:critical -np 3 "$APP" spin >out 2>err &
    local pid=$! i
    for i in $(seq 100); do
        grep -q spinning out && break
        sleep 0.1
    done
    [ -n "$(ls -A tmp)" ] || { kill -9 "$pid"; return 1; }
    kill -s "$1" "$pid"
    local result=0
    wait "$pid" || result=$?
    cat err
    [ "$result" -eq "$2" ]
    [ "$(wc -l <err)" -eq 1 ]
    grep -F "$3" err
}

@test "^C" {
    # A shell without job control starts background jobs with SIGINT ignored.
    set -m
    stops INT 130 "stopped by ^C (SIGINT)"
}
@test "SIGTERM" { stops TERM 143 "stopped by SIGTERM"; }
@test "SIGHUP" { stops HUP 129 "stopped by SIGHUP"; }
@test "SIGQUIT" { stops QUIT 131 "stopped by SIGQUIT"; }

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
