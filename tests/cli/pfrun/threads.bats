# SPDX-License-Identifier: BSD-3-Clause
# Threads of OpenMP inside ranks (docs/faq.md).
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/threads
    "$PF_BIN/pfcc" -O1 -fopenmp -o "$APP" "$BATS_TEST_DIRNAME/threads.c"
    unset OMP_WAIT_POLICY
}

# measures pfrun-arguments...: prints what the program does, sorted. It must be as in `expected`, where a machine that is taken away for
# long in the middle of a region may need several attempts.
measures() {
    local attempt
    for attempt in 1 2 3 4 5 6; do
        pfrun -np 2 --cfg=smpi/host-speed:1Gf "$@" "$APP" 2>err | sort >out
        diff expected out && return
    done
    echo "not once in $attempt attempts"
    return 1
}

@test "a region takes as long as its longest thread, and each rank has its own threads" {
    printf '%s\n' "0 clocks 3" "0 equal 3" "0 loop 4" "0 messages 3" "0 one 6" "0 turns 6" "1 clocks 3" "1 equal 3" "1 loop 4" "1 messages 3" "1 one 6" \
        "1 turns 6" >expected
    for way in "-model smpi" "-model analytic" "-model portals" "-schedule every:3=smpi|portals"; do
        # shellcheck disable=SC2086
        measures $way
    done
}

@test "threads share the rank's cores, with a warning" {
    # Each rank on a host of one core: the time of all threads, but for waits.
    printf '%s\n' "0 clocks 3" "0 equal 6" "0 loop 8" "0 messages 6" "0 one 7" "0 turns 6" "1 clocks 3" "1 equal 9" "1 loop 12" \
        "1 messages 9" "1 one 8" "1 turns 9" >expected
    export PARFOCAL_PLATFORM_CORES=1
    measures
    grep -E "[23] threads and 1 core of host" err
}

@test "threads wait passively, one is the default, and what the user sets stays" {
    pfrun -np 2 -platform star:1 --cfg=smpi/simulate-computation:no "$APP" what | sort | diff - <(printf '0 passive 1 16\n1 passive 1 16\n')
    OMP_WAIT_POLICY=ACTIVE OMP_NUM_THREADS=3 pfrun -np 1 --cfg=smpi/simulate-computation:no "$APP" what | grep "0 ACTIVE 3 32"
}

@test "computation of other threads is not charged, and the run says so" {
    "$PF_BIN/pfcc" -pthread -o other "$BATS_TEST_DIRNAME/multiple.c"
    pfrun -np 2 --cfg=smpi/host-speed:1Gf ./other work 2>err
    grep "threads of the program have used .* s of processor time that no rank was charged for" err
}

@test "a program that asks for MPI_THREAD_MULTIPLE runs, and gets a note about its level when that is wanted" {
    "$PF_BIN/pfcc" -pthread -o multiple "$BATS_TEST_DIRNAME/multiple.c"
    for way in smpi analytic portals; do
        pfrun -np 3 -model $way ./multiple >out 2>err
        [ "$(sort out)" = "rank 0 funneled 1 6
rank 1 funneled 1 6
rank 2 funneled 1 6" ]
        [ ! -s err ]
    done
    PARFOCAL_THREAD_NOTICE=yes pfrun -np 3 ./multiple 2>err
    cat err
    [ "$(cat err)" = "parfocal: the program asks for MPI_THREAD_MULTIPLE and gets MPI_THREAD_FUNNELED: only the thread that \
called MPI_Init_thread may call MPI" ]
    refuses "MPI_Comm_rank was called from a thread that is no rank of the job" -np 3 ./multiple both
}
