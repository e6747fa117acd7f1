# SPDX-License-Identifier: BSD-3-Clause
# The launcher adds nothing: a program built with smpicc has the same simulated time under smpirun as the same source built with
# pfcc under pfrun, to the last digit.
load common.bash

@test "same simulated time as stock smpirun on the built-in platforms" {
    command -v smpicc >/dev/null || skip "no smpicc"
    smpicc -o stock "$BATS_TEST_DIRNAME/faults.c"
    printf 'node-1:2\nnode-0\nnode-2:3\n' >hosts
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
