# SPDX-License-Identifier: BSD-3-Clause
# By which network a message goes when its rank calls one model after the other.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/networks
    "$PF_BIN/pfcc" -O1 -o "$APP" "$BATS_TEST_DIRNAME/networks.c"
}

# reduced MODEL OTHER [twice]: when a collective of MODEL was complete whose rounds went on in calls of OTHER
reduced() {
    printf 'node-%s\n' 0 1 2 3 2 4 >hosts
    run pfrun -np 6 -platform star:5 -hostfile hosts -model portals -quiet --cfg=smpi/simulate-computation:no "$APP" "$@"
    echo "$*: $output"
    [ "$status" -eq 0 ]
    grep -x 'right at 0.0000[0-9]* s' <<<"$output"
    date=$output
}

@test "all rounds of a nonblocking collective go by the network of its model" {
    for stack in portals ucx mpich; do
        "$PF_BIN/pfinfo" | grep -q "^  $stack  *available" || continue
        reduced $stack $stack
        loaded=$date
        reduced $stack:ideal $stack:ideal
        free=$date
        [ "$loaded" != "$free" ] # the round that progress begins crosses the loaded link
        reduced $stack $stack:ideal
        [ "$date" = "$loaded" ]
        reduced $stack:ideal $stack
        [ "$date" = "$free" ]
    done
}

# later THIS THAN: by two microseconds at least, a fraction of what the loaded link costs
later() {
    awk -v a="${1//[^0-9.]/}" -v b="${2//[^0-9.]/}" 'BEGIN { exit !(a > b + 2e-6) }'
}

@test "a call goes on in its own network when it has advanced a collective of another" {
    for model in portals portals-ideal; do
        reduced $model portals twice # the second reduction crosses the loaded link
        loaded=$date
        reduced $model portals-ideal twice
        later "$loaded" "$date"
    done
}

@test "each exchange takes after a switch what it takes without one" {
    "$PF_BIN/pfcc" -O1 -o afterwards "$BATS_TEST_DIRNAME/afterwards.c"
    for model in portals packet; do
        pfrun -np 6 --cfg=smpi/simulate-computation:no -model $model ./afterwards >plain
        pfrun -np 6 --cfg=smpi/simulate-computation:no -model analytic -schedule @coll:1=$model ./afterwards >switched
        # To the last digit but one: they are differences of dates that are not the same.
        paste -d ' ' plain switched
        paste -d ' ' plain switched | awk '{ d = $(NF / 2 - 1) - $(NF - 1); if ($1 != $(NF / 2 + 1) || d < -0.00015 || d > 0.00015) exit 1 }'
        [ "$(wc -l <plain)" -eq 8 ]
    done
}
