#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Model ucx: protocols at their thresholds, UCX's variables, and how its copies of Open MPI are loaded.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/ucx
    "$PF_BIN/pfcc" -O1 -o "$APP" "$BATS_TEST_DIRNAME/ucx.c"
}

# counts VARIABLE=VALUE... -- SENDS: what the sends of 8 B, 2,000 B, 5,000 B and 100,000 B, nonblocking and blocking, take: short,
# bcopy, zcopy, rndv
counts() {
    local variables=()
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    env "${variables[@]}" "$PF_BIN/pfrun" -np 2 -model ucx -quiet -report report --cfg=smpi/simulate-computation:no "$APP" >out 2>err
    python3 -c 'import json; u = json.load(open("report/summary.json"))["ucx"]; print(u["short"], u["bcopy"], u["zcopy"], u["rndv"])' >counts
    cat err counts
    [ "$(cat counts)" = "$2" ]
}

@test "Open MPI runs over UCX, and names one-sided communication that it has not got" {
    "$PF_BIN/pfrun" -np 2 -model ucx -quiet "$APP" 2>err
    cat err
    [ ! -s err ] # nor does it say a word of variables that the user has not set
    export PARFOCAL_UCX_OSC=pt2pt
    case ${PF_OPENMPI:-4} in
    4*) "$PF_BIN/pfrun" -np 2 -model ucx -quiet "$APP" ;;
    *) refuses "has no osc/pt2pt; ucx is what it has" -np 2 -model ucx "$APP" ;;
    esac
}

@test "messages take the protocols of their sizes" {
    counts A=1 -- "2 4 1 1"
    counts UCX_RNDV_THRESH=0 -- "0 0 0 8"
    counts UCX_RNDV_THRESH=inf -- "2 4 2 0"
    counts UCX_RNDV_THRESH=4k UCX_ZCOPY_THRESH=1k -- "2 1 1 4"
    # Of both, the one for all sends holds, whichever stands first in the environment.
    counts UCX_RNDV_THRESH=4k UCX_RNDV_SEND_NBR_THRESH=1m -- "2 2 0 4"
    counts UCX_RNDV_SEND_NBR_THRESH=1m UCX_RNDV_THRESH=4k -- "2 2 0 4"
    counts PARFOCAL_UCX_RNDV_THRESH=3000 PARFOCAL_UCX_RNDV_NBR_THRESH=100000 -- "2 3 0 3"
    counts PARFOCAL_UCX_ZCOPY_THRESH=1000 -- "2 3 2 1"
    counts UCX_MPI_RNDV_SEND_NBR_THRESH=100000 UCX_ZCOPY_THRESH=inf -- "2 4 0 2"
}

@test "UCX's variables without effect are named, wrong values refused" {
    run env UCX_TLS=rc UCX_RNDV_SCHEME=put_zcopy "$PF_BIN/pfrun" -np 2 -model ucx "$APP"
    [ "$status" -eq 0 ]
    [ "$(grep -c "UCX_TLS has no effect" <<<"$output")" -eq 1 ]
    [ "$(grep -c "UCX_RNDV_SCHEME has no effect" <<<"$output")" -eq 1 ]
    run env UCX_TLS=rc "$PF_BIN/pfrun" -np 2 -model portals "$APP"
    [[ "$output" != *"no effect"* ]]
    for wrong in UCX_RNDV_THRESH=8x UCX_RNDV_THRESH= UCX_ZCOPY_THRESH=-1 UCX_BCOPY_BW=fast UCX_IB_SEG_SIZE=0; do
        export "${wrong?}"
        refuses "${wrong%%=*} is" -np 2 -model ucx "$APP"
        unset "${wrong%%=*}"
    done
}

@test "copies cost time, and the times are the same with clones" {
    for how in "" "PARFOCAL_UCX_BCOPY_BW=0" "PARFOCAL_UCX_SEG_SIZE=1000000" "PARFOCAL_OPENMPI_LOADING=clones"; do
        env A=1 $how "$PF_BIN/pfrun" -np 2 -model ucx -quiet --cfg=smpi/simulate-computation:no "$APP" | tail -1 >"times.${how:-plain}"
    done
    cmp times.plain times.PARFOCAL_OPENMPI_LOADING=clones
    # One piece is copied, sent, and copied again; several overlap.
    python3 -c 'a, b = (float(open(f).read().split()[-1]) for f in ("times.plain", "times.PARFOCAL_UCX_SEG_SIZE=1000000")); assert a < b, (a, b)'
    python3 -c 'a, b = (float(open(f).read().split()[-1]) for f in ("times.plain", "times.PARFOCAL_UCX_BCOPY_BW=0")); assert a > b > 0, (a, b)'
}

@test "a lost message ends the run in one line" {
    export PARFOCAL_NIC_E2E=no PARFOCAL_NET_LOSS=1
    refuses "rank 0: UCX has lost a message to rank 1" -np 2 -model ucx "$APP"
}
