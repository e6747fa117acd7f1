# SPDX-License-Identifier: BSD-3-Clause
# Threads of OpenMP inside ranks (docs/faq.md).
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/threads
    "$PF_BIN/pfcc" -O1 -fopenmp -o "$APP" "$BATS_TEST_DIRNAME/threads.c"
    unset OMP_WAIT_POLICY
}

@test "threads wait passively, and only the rank's own takes simulated time" {
    pfrun -np 2 --cfg=smpi/host-speed:1Gf "$APP" | sort >times
    cat times
    [ "$(cut -d ' ' -f 1-3 times)" = "rank 0 passive
rank 1 passive" ]
    awk '!($4 > 0 && $5 >= 0 && $5 < $4 / 2) { exit 1 }' times # one that spins takes as long as what it waits for
    for way in portals analytic; do
        pfrun -np 2 -model $way --cfg=smpi/host-speed:1Gf "$APP" | awk '!($3 == "passive" && $4 > 0 && $5 < $4 / 2) { exit 1 }'
    done
}

@test "a policy of the user's stays" {
    OMP_WAIT_POLICY=ACTIVE pfrun -np 1 --cfg=smpi/simulate-computation:no "$APP" | grep "rank 0 ACTIVE"
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
