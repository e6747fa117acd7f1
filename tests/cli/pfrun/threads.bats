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
    printf '%s\n' '#include <mpi.h>' '#include <stdio.h>' '#include <stdlib.h>' \
        'int main(void) { MPI_Init(0, 0); puts(getenv("SCOTCH_PTHREAD_NUMBER")); return MPI_Finalize(); }' >scotch.c
    "$PF_BIN/pfcc" scotch.c -o scotch
    [ "$(unset SCOTCH_PTHREAD_NUMBER; pfrun -np 1 ./scotch)" = 1 ]
    [ "$(SCOTCH_PTHREAD_NUMBER=2 pfrun -np 1 ./scotch)" = 2 ]
}

@test "computation of other threads is not charged, and the run says so" {
    "$PF_BIN/pfcc" -pthread -o other "$BATS_TEST_DIRNAME/multiple.c"
    pfrun -np 2 --cfg=smpi/host-speed:1Gf ./other work 2>err
    grep "threads of the program have used .* s of processor time that no rank was charged for" err
}

@test "each thread of a region may ask for its rank, and for the name of its host" {
    cat >asks.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    int rank, right = 0, length;
    char host[MPI_MAX_PROCESSOR_NAME];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_processor_name(host, &length);
#pragma omp parallel num_threads(3) reduction(+ : right)
    {
        int own = -1, size = -1, letters;
        char name[MPI_MAX_PROCESSOR_NAME];
        MPI_Comm_rank(MPI_COMM_WORLD, &own);
        MPI_Comm_size(MPI_COMM_SELF, &size);
        MPI_Get_processor_name(name, &letters);
        right += own == rank && size == 1 && letters == length && !strcmp(name, host);
    }
    printf("%d: %d\n", rank, right);
    MPI_Finalize();
}
END
    "$PF_BIN/pfcc" -fopenmp -o asks asks.c
    mpicc -fopenmp -o theirs asks.c
    for program in ./asks ./theirs; do
        [ "$(pfrun -quiet -np 3 -model portals $program | sort | xargs)" = "0: 3 1: 3 2: 3" ]
        [ "$(PARFOCAL_CHECK=yes pfrun -quiet -np 3 -trace csv:run.csv $program | sort | xargs)" = "0: 3 1: 3 2: 3" ]
    done
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
    PARFOCAL_THREAD_LEVEL=multiple pfrun -np 3 ./multiple >out 2>err
    [ "$(cut -d' ' -f3- out | sort -u)" = "multiple 1 6" ]
    [ ! -s err ]
    PARFOCAL_THREAD_LEVEL=serialized pfrun -np 3 ./multiple >out
    [ "$(cut -d' ' -f3- out | sort -u)" = "serialized 1 6" ]
    refuses "MPI_Barrier was called from a thread that is no rank of the job" -np 3 ./multiple both
    PARFOCAL_THREAD_LEVEL=multiple refuses "MPI_Barrier was called from a thread that is no rank of the job" -np 3 ./multiple both
}

# living STATUS MESSAGE THREAD END: what the run says, in a line of error but for MPI_Abort, and how soon it ends. Its input stays open.
living() {
    run timeout -k 5 60 "$PF_BIN/pfrun" --log=root.thres:critical -np 2 ./living "$3" "$4" <&7
    echo "$3 $4: $status $output"
    [ "$status" -eq "$1" ]
    grep -E "^parfocal: $2" <<<"$output"
    [ "$(grep -c "^rank . has begun" <<<"$output")" -ge 1 ]
}

@test "a run ends as it would, whatever other threads of the program do" {
    "$PF_BIN/pfcc" -g -w -pthread -o living "$BATS_TEST_DIRNAME/living.c"
    mkfifo open
    exec 7<>open
    for thread in reads opens keeps spins; do
        for end in none child; do
            run timeout -k 5 60 "$PF_BIN/pfrun" --log=root.thres:critical -np 2 ./living $thread $end <&7
            echo "$thread $end: $status $output"
            [ "$status" -eq 0 ]
        done
        living 7 "warning: rank . has ended with status 7" $thread exit
        living 7 "rank . called MPI_Abort with code 7 at living.c" $thread MPI_Abort
        living 139 "error: rank .: segmentation fault \(SIGSEGV\) in end_run at living.c" $thread crash
        living 134 "error: rank .: abort \(SIGABRT\) in end_run at living.c" $thread abort
        living 2 "error: rank .: MPI_Send, called at living.c.* failed: MPI_ERR_COUNT" $thread error
        living 1 "error: deadlock at" $thread deadlock
    done
}

@test "a thread that ends the run is named, and so is its rank" {
    "$PF_BIN/pfcc" -g -w -pthread -o living "$BATS_TEST_DIRNAME/living.c"
    exec 7</dev/null
    for end in exit _exit quick_exit; do
        living 7 "error: a thread of rank [01] called exit\(7\)" ends $end
    done
    living 7 "a thread of rank [01] called MPI_Abort with code 7 at living.c" ends MPI_Abort
    living 139 "error: a thread of rank [01]: segmentation fault \(SIGSEGV\) in end_run at living.c" ends crash
    living 134 "error: a thread of rank [01]: abort \(SIGABRT\) in end_run at living.c" ends abort
    living 139 "error: .*rank [01]: segmentation fault \(SIGSEGV\) in end_run at living.c" both crash
}

@test "MPI_Init in a thread of the program's own is named" {
    printf '%s\n' '#include <mpi.h>' '#include <pthread.h>' 'static void *begin(void *arg) { MPI_Init(0, 0); return arg; }' \
        'int main(void) { pthread_t one; pthread_create(&one, 0, begin, 0); return pthread_join(one, 0); }' >begin.c
    "$PF_BIN/pfcc" -pthread begin.c -o begin
    run pfrun -np 1 ./begin
    [ "$status" -eq 1 ]
    grep "error: MPI_Init was called from a thread that the program has made" <<<"$output"
}
