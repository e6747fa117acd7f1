# SPDX-License-Identifier: BSD-3-Clause
# With measured computation, which is the default: what the middleware does of its own takes no simulated time.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/measured
    "$PF_BIN/pfcc" -O1 -o "$APP" "$BATS_TEST_DIRNAME/measured.c"
}

# takes_nothing RANKS PFRUN-ARGUMENTS...: a computation of 20 us would take 20 ms on these hosts. What the application itself
# does between its calls is less, and so is what an interrupt adds to it, at least in one of some runs. With more ranks there
# are more of them, and what the middleware does for all ranks is longer, too.
takes_nothing() {
    local ranks=$1 took least=2e-5
    shift
    [ "$ranks" -lt 16 ] || least=1e-4
    [ "$ranks" -lt 64 ] || least=5e-4
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        took=$(pfrun -np "$ranks" --cfg=smpi/host-speed:1000Gf --cfg=smpi/cpu-threshold:$least "$@" "$APP")
        echo "$ranks ranks $*: $took"
        [[ $took == took\ 0.00[0-4]* ]] && return 0
    done
    return 1
}

# every_pair RANKS: and each model without a switch, with the others loaded
every_pair() {
    local from to other
    for from in smpi portals analytic; do
        for to in smpi portals analytic; do
            takes_nothing "$1" -model $from -schedule b=$to || return 1
        done
    done
    for other in portals-ideal packet; do # of one implementation: another network, nothing else
        takes_nothing "$1" -model portals -schedule b=$other || return 1
        takes_nothing "$1" -model $other -schedule b=portals || return 1
    done
    takes_nothing "$1" -model packet -schedule b=smpi || return 1
    takes_nothing "$1" -model smpi -load portals,analytic
}

@test "a switch takes no simulated time: one rank" { every_pair 1; }
@test "a switch takes no simulated time: 2 ranks" { every_pair 2; }
@test "a switch takes no simulated time: 16 ranks" { every_pair 16; }
@test "a switch takes no simulated time: 64 ranks" {
    takes_nothing 64 -model smpi -schedule b=portals
    takes_nothing 64 -model portals -schedule b=analytic
    takes_nothing 64 -model analytic -schedule b=smpi
}

@test "a switch takes no simulated time by the system's clock either" {
    export PARFOCAL_FAST_CLOCK=no
    takes_nothing 16 -model portals -schedule b=smpi
    takes_nothing 16 -model smpi -schedule b=portals
}

# Thousands of shadows, switches, phases and communicators, every nanosecond charged: the visits in which the program does nothing
# but switch take a hundredth of what they cost (a quarter, if a call's own work were measured).
@test "the middleware's work is not the application's computation" {
    pfrun -np 4 --cfg=smpi/host-speed:1Gf --cfg=smpi/cpu-threshold:0 -report out "$APP" work >table 2>&1
    python3 - <<'PY'
import json, statistics
rows = [row for row in json.load(open("out/summary.json"))["phases"] if row["messages"] == 0 and row["phase"] != "start"]
share = [4 * row["simulated_s"] / row["overhead_s"] for row in rows]
print(sorted(share))
assert len(rows) > 30 and 0 < statistics.median(share) < 0.1
PY
}

@test "the warning about the speed of this machine comes only where the speed means something" {
    "$PF_BIN/pfcc" -o small "$BATS_TEST_DIRNAME/measured.c"
    timeout 60 "$PF_BIN/pfrun" -np 2 ./small 2>&1 | grep -c "the speed of this machine is not set"
    timeout 60 "$PF_BIN/pfrun" -np 2 --cfg=smpi/simulate-computation:no ./small >quiet 2>&1
    PARFOCAL_COMPUTATION_RECORD=record timeout 60 "$PF_BIN/pfrun" -np 2 ./small
    PARFOCAL_COMPUTATION_REPLAY=record timeout 60 "$PF_BIN/pfrun" -np 2 ./small >>quiet 2>&1
    [ "$(grep -c took quiet)" -eq 2 ]
    ! grep "machine is not set" quiet
}
