# SPDX-License-Identifier: BSD-3-Clause
# The launcher adds nothing: a program built with smpicc has the same simulated time under smpirun as the same source built with
# pfcc under pfrun, to the last digit.
load common.bash

stock_works() {
    command -v smpirun >/dev/null || skip "no smpirun"
    [[ $PWD != *' '* ]] || skip "stock smpirun does not work in a folder with a space in its name"
}

@test "same simulated time as stock smpirun on the built-in platforms" {
    stock_works
    smpicc -o stock "$BATS_TEST_DIRNAME/faults.c"
    printf 'node-1001:2\nnode-1000\nnode-1002:3\n' >hosts
    for name in fattree:16 star:5 torus:8 dragonfly:64; do
        "$PF_BIN/pfinfo" --platform "$name" >p.xml
        for ranks in "-np 5" "-np 2" "-hostfile hosts" "-np 4 -hostfile hosts"; do
            a=$(smpirun $ranks --cfg=smpi/simulate-computation:no -platform p.xml ./stock 2>/dev/null)
            b=$(pfrun $ranks --cfg=smpi/simulate-computation:no -platform p.xml "$APP")
            echo "$name $ranks: $a | $b"
            grep -q "end [0-9]" <<<"$a"
            [ "$a" = "$b" ]
        done
    done
}

# What stock SMPI sees of the clocks are the calls in the application's own sources: not what libstdc++ calls in its name, nor
# time(), clock() and clock_nanosleep().
@test "clocks and sleeps cost what they cost under stock smpirun" {
    stock_works
    smpicxx -o stock "$BATS_TEST_DIRNAME/clocks.cpp"
    "$PF_BIN/pfcxx" -o ours "$BATS_TEST_DIRNAME/clocks.cpp"
    "$PF_BIN/pfinfo" --platform fattree:16 >p.xml
    for more in --cfg=smpi/wtime:1e-8 --cfg=smpi/wtime:3e-6; do
        a=$(smpirun -np 3 $more --cfg=smpi/simulate-computation:no -platform p.xml ./stock 2>/dev/null | sort)
        b=$(pfrun -np 3 $more --cfg=smpi/simulate-computation:no -platform p.xml ./ours | sort)
        echo "$a | $b"
        [ "$(grep -c "end 0.0" <<<"$a")" -eq 3 ]
        [ "$a" = "$b" ]
    done
    for model in smpi analytic $("$PF_BIN/pfinfo" | awk '$1 == "portals" && $2 == "available" { print $1 }'); do
        [ "$(pfrun -np 3 -model $model --cfg=smpi/simulate-computation:no ./ours show | grep -c shown)" -eq 3 ]
    done
}

# The reads after the first 1,000 stop the simulation once for 100.
@test "a loop on MPI_Wtime ends when it ends under stock smpirun, after as many reads" {
    stock_works
    cat >loop.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    long reads = 0;
    double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < 1e-3)
        reads++;
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%.17g %ld\n", MPI_Wtime(), reads);
    MPI_Finalize();
    return 0;
}
END
    smpicc -o stock loop.c
    "$PF_BIN/pfcc" -o ours loop.c
    "$PF_BIN/pfinfo" --platform star:2 >p.xml
    a=$(smpirun -np 2 --cfg=smpi/simulate-computation:no -platform p.xml ./stock 2>/dev/null | sort)
    b=$(pfrun -np 2 -quiet -model smpi --cfg=smpi/simulate-computation:no -platform p.xml ./ours | sort)
    echo "$a | $b"
    [ "$(wc -l <<<"$a")" -eq 2 ]
    [ "$a" = "$b" ]
}

# Packing is computation there, which SMPI measures; the middleware must not take it away.
@test "packing takes the time that it takes" {
    "$PF_BIN/pfcc" -O1 -o pack "$BATS_TEST_DIRNAME/pack.c"
    pfrun -np 1 --cfg=smpi/host-speed:1Gf ./pack >share
    cat share
    awk '{ exit $2 < 0.5 || $2 > 1.5 }' share
}

# Stock SMPI charges each of them with a question to the system's clock. Both measure, on a machine that may be busy: within a
# factor of four, in the best of some tries (without the question it is far more).
@test "many short computations take what they take under stock smpirun" {
    stock_works
    smpicc -O1 -o stock "$BATS_TEST_DIRNAME/short.c"
    "$PF_BIN/pfcc" -O1 -o ours "$BATS_TEST_DIRNAME/short.c"
    "$PF_BIN/pfinfo" --platform star:2 >p.xml
    local settings="--cfg=smpi/host-speed:50Gf --cfg=smpi/cpu-threshold:5e-8"
    for attempt in 1 2 3 4 5 6; do
        a=$(smpirun -np 2 $settings -platform p.xml ./stock 2>/dev/null)
        b=$(pfrun -np 2 $settings -platform p.xml ./ours)
        echo "stock $a ours $b"
        awk -v a="$a" -v b="$b" 'BEGIN { exit !(a > 0.01 && b > a / 4 && b < a * 4) }' && return
    done
    return 1
}
