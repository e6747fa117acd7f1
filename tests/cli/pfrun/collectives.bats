# SPDX-License-Identifier: BSD-3-Clause
# Algorithms of collectives in model analytic: listed, chosen, refused, explained.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/cg
    "$PF_BIN/pfcc" -O1 -o "$APP" "$BATS_TEST_DIRNAME/../../../examples/cg/cg.c" -lm
}

# refused TEXT CHOICE
refused() {
    PARFOCAL_ANALYTIC_COLL=$2 refuses "$1" -np 2 -model analytic "$APP"
}

@test "unknown collective" { refused "no collective 'allredouce'; there are barrier, bcast, scatter" allredouce:ring; }
@test "unknown algorithm" { refused "bcast has no algorithm 'rings'; there are basic_linear, chain" bcast:rings; }
@test "no algorithm" { refused "'bcast' is not COLLECTIVE:ALGORITHM" bcast; }
@test "bad segment" { refused "'8x' is not the bytes of a segment" allreduce:ring,bcast:chain:8x; }

@test "pfinfo lists kinds, algorithms and rules" {
    run timeout 60 "$PF_BIN/pfinfo" --collectives
    [ "$status" -eq 0 ]
    [ "$(grep -c 'nonblocking:' <<<"$output")" -eq 17 ]
    grep -A3 "^allgather: linear, bruck, recursive_doubling" <<<"$output" | grep "2 ranks  *two_proc"
    grep -A20 "^reduce:" <<<"$output" | grep -A1 "does not commute" | grep "2 to 3 ranks  *in-order_binary below 8 B, linear"
}

@test "the choice is used, and -explain says so" {
    run pfrun -np 8 -model analytic -explain --cfg=smpi/simulate-computation:no "$APP"
    echo "$output"
    [ "$status" -eq 0 ]
    grep "^allreduce  *recursive_doubling  *8 " <<<"$output"
    PARFOCAL_ANALYTIC_COLL=allreduce:basic_linear run pfrun -np 8 -model analytic -explain --cfg=smpi/simulate-computation:no "$APP"
    echo "$output"
    [ "$status" -eq 0 ]
    grep "cg: verified" <<<"$output"
    grep "^allreduce  *basic_linear  *8 " <<<"$output"
    ! grep "^allreduce  *recursive_doubling" <<<"$output"
}
