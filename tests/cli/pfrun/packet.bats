# SPDX-License-Identifier: BSD-3-Clause
# Models packet and portals: the same times where nothing is congested, and the same ones in each run.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/packet
    "$PF_BIN/pfcc" -O1 -o "$APP" "$BATS_TEST_DIRNAME/packet.c" -lm
}

FIXED="--cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0"

# times_agree PER-CENT WHAT ARGUMENTS...: of 64 sizes, between portals and packet
times_agree() {
    local limit=$1 what=$2
    shift 2
    for model in portals packet; do pfrun "$@" $FIXED -model $model "$APP" "$what" >$model; done
    paste portals packet | awk -v limit="$limit" '
        function size(x) { return x < 0 ? -x : x }
        NF == 4 && $1 == $3 { n++; if (size($4 - $2) > limit / 100 * $2) { print "apart: " $0; bad++ } }
        END { print n " sizes, " bad + 0 " apart"; exit !(n == 64 && !bad) }'
}

# Hosts with links of their own that serve both directions, behind a backbone that is not shared: backbone BANDWIDTH
backbone() {
    echo "<?xml version='1.0'?><!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>"
    echo "<platform version='4.1'><zone id='all' routing='Full'><host id='a' speed='1Gf'/><host id='b' speed='1Gf'/>"
    echo "<link id='la' bandwidth='12.5GBps' latency='300ns'/><link id='lb' bandwidth='12.5GBps' latency='300ns'/>"
    echo "<link id='between' bandwidth='$1' latency='400ns' sharing_policy='FATPIPE'/>"
    echo "<route src='a' dst='b'><link_ctn id='la'/><link_ctn id='between'/><link_ctn id='lb'/></route></zone></platform>"
}

@test "two ranks take the times of portals" { times_agree 0.001 sizes -np 2; }

# Acknowledgements and requests meet the next messages at the nodes, and pass them as they pass a flow.
@test "a ring of 16 takes the times of portals" {
    for platform in fattree star dragonfly dragonflyplus; do times_agree 0.3 sizes -np 16 -platform $platform:16; done
}

# A message that is there first is fetched by its receiver, which takes as long again: a round that differs in this is far off.
@test "ten rounds of a ring take the times of portals" {
    for platform in star dragonfly; do times_agree 1 rounds -np 16 -platform $platform:16; done
    # Up to this size nothing passes a message in portals.
    export PARFOCAL_NET_SMALL_MAX=1024
    times_agree 1 rounds -np 16 -platform fattree:16
    PARFOCAL_NET_ALTERNATES=no run times_agree 1 rounds -np 16 -platform fattree:16
    [ "$status" -ne 0 ]
}

@test "a backbone that is not shared holds no packet up" {
    printf 'a\nb\n' >hosts
    for bandwidth in 12.5GBps 100GBps; do
        backbone $bandwidth >platform.xml
        times_agree 0.2 sizes -np 2 -platform platform.xml -hostfile hosts
    done
}

# Behind it, what goes to a busy host holds up nothing for others.
@test "a backbone that all share is as fast as in portals" {
    only_openmpi_4
    local cells=$BATS_TEST_DIRNAME/../../../experiments/cells
    "$PF_BIN/pfcc" -O1 -o cells "$cells/cells.c"
    seconds() { pfrun -np 16 -platform "$cells/backbone.xml" $FIXED -model "$1" ./cells isends 65536 | awk '$1 == "seconds" { print $2 }'; }
    seconds portals >times
    seconds packet >>times
    PARFOCAL_NET_OUTPUT_QUEUES=no seconds packet >>times
    awk '{ t[NR] = $1 } END { print t[1], t[2], t[3]; exit !(NR == 3 && t[2] < 1.05 * t[1] && t[1] < 1.05 * t[2] && t[3] > 1.3 * t[1]) }' times
}

@test "a backbone that would bound each message by itself is refused" {
    printf 'a\nb\n' >hosts
    backbone 2GBps >platform.xml
    run pfrun -np 2 -platform platform.xml -hostfile hosts $FIXED -model packet "$APP" sizes
    echo "$output"
    [ "$status" -ne 0 ]
    grep "network packet: link between is a FATPIPE of 2e+09 B/s" <<<"$output"
}

@test "twenty runs are the same to the last bit" {
    for run in {1..20}; do
        MALLOC_PERTURB_=$((12 * run)) pfrun -np 8 $FIXED -model packet "$APP" crowd >run.$run
    done
    cat run.1
    [ "$(grep -c "^round" run.1)" -eq 28 ]
    for run in {2..20}; do cmp run.1 run.$run; done
}

# The fit measures what is alone, which takes the times of portals: but for what acknowledgements take of the links (3 ns).
@test "pfinfo --fit=packet: small errors, and the parameters of portals" {
    for model in portals packet; do
        run timeout 250 "$PF_BIN/pfinfo" --fit=$model --output $model -- -np 4
        echo "$output"
        [ "$status" -eq 0 ]
        awk '/^median error/ { found = 1; if ($3 > 10) bad = 1 } END { exit bad || !found }' <<<"$output"
    done
    others='^#|^nic_time|^control_latency'
    [ "$(grep -vcE "$others" portals)" -gt 10 ]
    diff <(grep -vE "$others" portals) <(grep -vE "$others" packet)
    PARFOCAL_ANALYTIC_PARAMETERS=packet pfrun -np 4 $FIXED -model analytic "$APP" crowd | grep -c "^end"
}
