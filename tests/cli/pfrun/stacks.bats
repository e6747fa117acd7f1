# SPDX-License-Identifier: BSD-3-Clause
# Models as STACK:NETWORK: all spellings, in all places where a model is named.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/mpich
    "$PF_BIN/pfcc" -O1 -o "$APP" "$BATS_TEST_DIRNAME/mpich.c"
}

# has MODEL: it can be used here
has() {
    "$PF_BIN/pfinfo" | grep -q "^  $1  *available"
}

# runs OPTIONS... -- ARGUMENTS...: the program's output, of which the last line is the time
runs() {
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    "$PF_BIN/pfrun" -np 4 -quiet -report report --cfg=smpi/simulate-computation:no "${options[@]}" "$APP" "${@:2}"
}

# used: the models of the last run
used() {
    python3 -c 'import json; print(*dict.fromkeys(row["model"] for row in json.load(open("report/summary.json"))["phases"] if row["messages"]))'
}

@test "today's names and STACK:NETWORK are the same" {
    for pair in portals=portals:flow portals-ideal=portals:ideal packet=portals:packet ucx=ucx:flow mpich=mpich:flow; do
        has "${pair%=*}" || continue
        runs -model "${pair%=*}" -- "${pair%=*}" "${pair%=*}" >name
        runs -model "${pair#*=}" -- "${pair#*=}" "${pair#*=}" >pair
        grep PASS name
        cmp name pair
        [ "$(used)" = "${pair%=*}" ]
        PARFOCAL_MODEL=${pair#*=} runs -- "${pair#*=}" "${pair%=*}" | cmp name
    done
}

@test "each stack runs on each network, and the network makes the time" {
    for stack in portals ucx mpich; do
        has $stack || continue
        for network in ideal flow packet; do
            runs -model $stack:$network -- $stack:$network $stack:$network >$network
            grep PASS $network
            PARFOCAL_NET_MODEL=$network runs -model $stack -- $stack $stack | cmp $network
        done
        ! cmp -s ideal packet
    done
}

@test "in schedules, beside every:, @coll: and pcontrol:" {
    has ucx || skip "no Open MPI that Parfocal knows"
    for schedule in every:3=portals:packet\|ucx:packet @start=ucx:ideal,@coll:2=portals:packet '@start=ucx:packet,pcontrol:1=smpi,@coll:3=portals:packet'; do
        runs -schedule "$schedule" -load ucx:ideal,smpi -- "" "" >out
        grep PASS out
        used
        [[ " $(used) " == *" packet "* ]]
        [[ " $(used) " == *" ucx:"* ]]
    done
}

@test "wrong names" {
    refuses "unknown model 'ucx:packt', maybe ucx:packet?" -np 2 -model ucx:packt "$APP"
    refuses "unknown model 'portal:packet', maybe portals:packet?" -np 2 -load portal:packet "$APP"
    refuses "column 9: unknown model 'mpich:flows', maybe mpich:flow?" -np 2 -schedule @coll:1=mpich:flows "$APP"
    refuses "unknown model 'smpi:flow'" -np 2 -model smpi:flow "$APP"
    refuses "model 'ucx:external' is without a network" -np 2 -model ucx:external "$APP"
}

@test "Python's table of models is that of C" {
    "$PF_BIN/pfinfo" | sed -nE 's/^  ([a-z:-]+) +(available|missing).*/\1/p' >c
    python3 -c 'import sys; sys.path.insert(0, sys.argv[1]); import models; print(*models.NAMES, sep="\n")' "$BATS_TEST_DIRNAME/../../../base" | cmp c
}
