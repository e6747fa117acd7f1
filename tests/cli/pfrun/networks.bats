# SPDX-License-Identifier: BSD-3-Clause
# By which network a message goes when its rank calls one model after the other.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/networks
    "$PF_BIN/pfcc" -O1 -o "$APP" "$BATS_TEST_DIRNAME/networks.c"
}

# reduced MODEL OTHER: when a collective of MODEL was complete whose rounds went on in calls of OTHER
reduced() {
    printf 'node-%s\n' 0 1 2 3 2 4 >hosts
    run pfrun -np 6 -platform star:5 -hostfile hosts -model portals -quiet --cfg=smpi/simulate-computation:no "$APP" "$@"
    echo "$*: $output"
    [ "$status" -eq 0 ]
    grep -x 'right at 0.0000[0-9]* s' <<<"$output"
    date=$output
}

@test "all rounds of a nonblocking collective go by the network of its model" {
    reduced portals portals
    loaded=$date
    reduced portals-ideal portals-ideal
    free=$date
    [ "$loaded" != "$free" ] # the round that progress begins crosses the loaded link
    reduced portals portals-ideal
    [ "$date" = "$loaded" ]
    reduced portals-ideal portals
    [ "$date" = "$free" ]
}
