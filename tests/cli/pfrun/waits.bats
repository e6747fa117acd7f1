# SPDX-License-Identifier: BSD-3-Clause
# Clocks and waits: simulated time, in every model and mode.
load common.bash

setup_file() {
    "$PF_BIN/pfcxx" -O1 -fopenmp -o "$BATS_FILE_TMPDIR/waits" "$BATS_TEST_DIRNAME/waits.cpp"
}

# all_right arguments-of-pfrun...: 2 ranks find nothing wrong
all_right() {
    run timeout -k 5 300 "$PF_BIN/pfrun" --log=root.thres:critical -np 2 "$@"
    echo "$*: $output"
    [ "$status" -eq 0 ]
    [ "$(grep -c ': 0 wrong$' <<<"$output")" -eq 2 ]
}

@test "every clock is the rank's, every loop on one ends, and every wait takes simulated time" {
    local app=$BATS_FILE_TMPDIR/waits
    for model in smpi analytic portals packet; do
        all_right -model $model "$app"
    done
    all_right -schedule 'every:5=analytic|portals|smpi' "$app"
}

@test "the same without computation" {
    local app=$BATS_FILE_TMPDIR/waits no=--cfg=smpi/simulate-computation:no
    all_right -model smpi $no "$app" silent
    for model in analytic portals; do
        all_right -model $model $no "$app"
    done
    all_right -schedule 'every:5=analytic|portals' $no "$app"
}

@test "loops on a clock end before MPI_Init and after MPI_Finalize, and where clocks cost nothing" {
    local app=$BATS_FILE_TMPDIR/waits no=--cfg=smpi/simulate-computation:no
    all_right "$app" early
    for model in smpi portals; do
        all_right -model $model $no "$app" early
        run timeout -k 5 60 "$PF_BIN/pfrun" --log=root.thres:critical -np 2 -model $model $no --cfg=smpi/wtime:0 "$app"
        [ "$status" -eq 0 ]
    done
}

# 20 million reads: a stop of the simulation for each would take a minute.
@test "a long wait by MPI_Wtime takes as many reads as it costs, and no rank else waits longer" {
    cat >loop.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    long reads = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double begin = MPI_Wtime(), now = begin;
    for (; rank && now - begin < 0.2; reads++)
        now = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    double whole = MPI_Wtime() - begin;
    printf("%d: %d %d\n", rank, whole > 0.2 && whole < 0.2001, !rank || (reads > 2000000 && reads < 20100000));
    MPI_Finalize();
    return 0;
}
END
    "$PF_BIN/pfcc" -O1 -o loop loop.c
    for model in smpi analytic portals; do
        for computes in yes no; do
            [ "$(pfrun -np 2 -quiet -model $model --cfg=smpi/simulate-computation:$computes ./loop | sort)" = $'0: 1 1\n1: 1 1' ]
        done
    done
}
