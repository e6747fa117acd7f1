# SPDX-License-Identifier: BSD-3-Clause
# Computation apart from communication: recorded and replayed, and reported per rank (docs/models.md).
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/compute
    "$PF_BIN/pfcc" -O1 -o "$APP" "$BATS_TEST_DIRNAME/compute.c"
    cd "$BATS_FILE_TMPDIR"
    PARFOCAL_COMPUTATION_RECORD=record timeout -k 5 60 "$PF_BIN/pfrun" -np 3 --cfg=smpi/host-speed:1Gf "$APP" |
        sort >recorded.times
}

replay() { # pfrun-arguments...: the dates of the ranks
    PARFOCAL_COMPUTATION_REPLAY=$BATS_FILE_TMPDIR/record pfrun -np 3 "$@" "$APP" | sort
}

# refuses_file TEXT CONTENTS
refuses_file() {
    printf "$2" >bad
    PARFOCAL_COMPUTATION_REPLAY=bad refuses "$1" -np 3 "$APP"
}

@test "a replay has the dates of the recorded run, whatever the machine's speed" {
    [ "$(wc -l <"$BATS_FILE_TMPDIR/recorded.times")" -eq 3 ]
    replay >smpi
    cmp smpi "$BATS_FILE_TMPDIR/recorded.times"
    replay --cfg=smpi/host-speed:7Gf >other
    cmp smpi other
}

# notes ARGUMENTS...: how many lines about the speed of this machine, of which none is SMPI's
notes() { "$PF_BIN/pfrun" -np 3 "$@" "$APP" 2>&1 >out | grep -cE "^parfocal: note: .* speed of this machine is not set|smpi_config" || :; }

@test "only where computation is measured does a note say that the speed of this machine is not set" {
    [ "$(notes)" -eq 1 ]
    [ "$(notes -quiet)" -eq 0 ]
    [ "$(notes --log=smpi_config.thres:warning)" -eq 0 ]
    [ "$(notes --cfg=smpi/host-speed:7Gf)" -eq 0 ]
    [ "$(notes --cfg=smpi/simulate-computation:no)" -eq 0 ]
    [ "$(PARFOCAL_COMPUTATION_REPLAY=$BATS_FILE_TMPDIR/record notes)" -eq 0 ]
    cat >platform.xml <<'END'
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <config><prop id="smpi/simulate-computation" value="no"/></config>
  <cluster id="small" prefix="node-" suffix="" radical="0-2" speed="1Gf" bw="1GBps" lat="1us"/>
</platform>
END
    [ "$(notes -platform platform.xml)" -eq 0 ]
}

@test "replays in the other models, and with switches, are the same each time" {
    for way in "-model portals" "-model analytic" "-schedule every:3=analytic|portals|smpi"; do
        replay $way >once
        replay $way >again
        [ "$(wc -l <once)" -eq 3 ]
        cmp once again
    done
}

@test "the file decides how long a rank computes" {
    awk '/^rank 2 /{ print; print "0*2 S S 0 S S 0 S S 0 S S 0 S S 0*4"; exit } { print }' "$BATS_FILE_TMPDIR/record" |
        sed 's/S/1000000000/g' >slow
    PARFOCAL_COMPUTATION_REPLAY=slow pfrun -np 3 "$APP" | sort >times
    awk '{ if ($3 < 10 || $3 > 10.1) exit 1 }' times # ten times a second on rank 2, for which all wait
}

@test "a replay that does not fit" {
    PARFOCAL_COMPUTATION_REPLAY=$BATS_FILE_TMPDIR/record refuses "was recorded with 3 ranks, this run has 2" -np 2 "$APP"
    PARFOCAL_COMPUTATION_REPLAY=$BATS_FILE_TMPDIR/record refuses "computes more often than the" -np 3 "$APP" more
    PARFOCAL_COMPUTATION_RECORD=long run pfrun -np 3 "$APP" more
    [ "$status" -eq 0 ]
    PARFOCAL_COMPUTATION_REPLAY=long refuses "times in long: that was another program" -np 3 "$APP"
}

@test "files that are none" {
    PARFOCAL_COMPUTATION_REPLAY=nosuch refuses "computations cannot be read from nosuch: No such file" -np 3 "$APP"
    refuses_file "bad is no file of recorded computations" 'what is this\n'
    refuses_file "bad has version 2" 'parfocal-computation 2\nranks 3\nspeed 1\n'
    refuses_file "ranks and speed must be greater than 0" 'parfocal-computation 1\nranks 3\nspeed 0\n'
    refuses_file "the computations of rank 0 are missing" 'parfocal-computation 1\nranks 3\nspeed 1\nrank 1 intervals 0\n'
    refuses_file "bad ends within the computations of rank 0" 'parfocal-computation 1\nranks 3\nspeed 1\nrank 0 intervals 3\n1 2\n'
    refuses_file "'-1' among the computations of rank 0" 'parfocal-computation 1\nranks 3\nspeed 1\nrank 0 intervals 3\n1 -1 2\n'
    refuses_file "'0*4' among the computations of rank 0" 'parfocal-computation 1\nranks 3\nspeed 1\nrank 0 intervals 3\n0*4\n'
    { cat "$BATS_FILE_TMPDIR/record"; echo more; } >bad
    PARFOCAL_COMPUTATION_REPLAY=bad refuses "bad goes on after the computations of its last rank" -np 3 "$APP"
}

@test "a file that cannot be written, both at once, too many intervals" {
    PARFOCAL_COMPUTATION_RECORD=no/such/file refuses "computations cannot be written to no/such/file" -np 3 "$APP"
    PARFOCAL_COMPUTATION_RECORD=a PARFOCAL_COMPUTATION_REPLAY=b refuses "exclude each other" -np 3 "$APP"
    PARFOCAL_COMPUTATION_MAX=3 PARFOCAL_COMPUTATION_RECORD=a refuses "PARFOCAL_COMPUTATION_MAX allows more" -np 3 "$APP"
}

@test "the times of the ranks, printed and in the summary" {
    PARFOCAL_COMPUTATION_REPLAY=$BATS_FILE_TMPDIR/record PARFOCAL_RANK_TIMES=yes PARFOCAL_SUMMARY=summary.json \
        run pfrun -np 3 "$APP"
    [ "$status" -eq 0 ]
    grep -o '^rank [0-9]*: simulated time .* computation .* communication' <<<"$output" | cut -d: -f1 >order
    [ "$(tr '\n' ' ' <order)" = "rank 0 rank 1 rank 2 " ]
    python3 - "$BATS_FILE_TMPDIR/record" <<'PY'
import json, re, sys
ranks = json.load(open("summary.json"))["rank_times"]
parts = re.split(r"rank \d+ intervals \d+\n", open(sys.argv[1]).read())[1:]
for rank, text in zip(ranks, parts):
    recorded = sum(int(n.split("*")[0]) * int((n.split("*") + ["1"])[1]) for n in text.split()) * 1e-9
    slept = 100e-6
    assert abs(rank["computation_s"] - recorded - slept) < 5e-6, (rank, recorded)
    assert abs(rank["simulated_s"] - rank["computation_s"] - rank["communication_s"]) < 1e-12
assert [r["rank"] for r in ranks] == [0, 1, 2]
PY
}

# A rank that computes in a phase is charged there, and not in the phase of the next call. What else a phase takes depends on how busy the
# machine is; the program knows how long it has computed.
@test "a phase has the computation before its end" {
    "$PF_BIN/pfcc" -O1 -o phases "$BATS_TEST_DIRNAME/phases.c"
    for way in "-model smpi" "-model portals" "-model analytic -load analytic" "-schedule short=portals,long=analytic"; do
        pfrun -np 1 $way -report out --cfg=smpi/host-speed:1Gf ./phases >said
        python3 - <<'EOF'
import json, re
time = {}
for row in json.load(open("out/summary.json"))["phases"]:
    time[row["phase"]] = time.get(row["phase"], 0) + row["simulated_s"]
computed = float(re.search(r"computed (\S+)", open("said").read())[1])
print(time, computed)
assert computed > 0 and {"short", "pcontrol:1"} <= set(time)
assert time["long"] > 0.9 * computed
EOF
    done
}

@test "by ways: as in the order of the calls where that is the same" {
    PARFOCAL_COMPUTATION_WAYS=yes PARFOCAL_COMPUTATION_RECORD=ways pfrun -np 3 "$APP" | sort >recorded
    grep -q '@' ways
    for model in smpi portals; do
        PARFOCAL_COMPUTATION_REPLAY=ways pfrun -np 3 -model $model "$APP" | sort >by-order
        PARFOCAL_COMPUTATION_WAYS=yes PARFOCAL_COMPUTATION_REPLAY=ways pfrun -np 3 -model $model "$APP" | sort >by-ways
        cmp by-order by-ways
    done
    PARFOCAL_COMPUTATION_WAYS=yes PARFOCAL_COMPUTATION_REPLAY=ways pfrun -np 3 -model smpi "$APP" | sort >same
    cmp same recorded
    export PARFOCAL_COMPUTATION_WAYS=yes
    refuses_file "bad was not recorded with PARFOCAL_COMPUTATION_WAYS" 'parfocal-computation 1\nranks 3\nspeed 1\nrank 0 intervals 3\n1 2 3\n'
    refuses_file "'1@' among the computations of rank 0 is no interval" 'parfocal-computation 1\nranks 3\nspeed 1\nrank 0 intervals 3\n1@ 2 3\n'
}

@test "by ways: a program that polls more often in one model than in another" {
    "$PF_BIN/pfcc" -O1 -o polls "$BATS_TEST_DIRNAME/polling.c"
    PARFOCAL_COMPUTATION_WAYS=yes PARFOCAL_COMPUTATION_RECORD=record pfrun -np 2 -model analytic ./polls iprobe
    PARFOCAL_COMPUTATION_REPLAY=record refuses "calls depend on time" -np 2 -model portals ./polls iprobe
    for i in 1 2; do
        PARFOCAL_COMPUTATION_WAYS=yes PARFOCAL_COMPUTATION_REPLAY=record PARFOCAL_SUMMARY=s$i.json pfrun -np 2 -model portals ./polls iprobe
    done
    [ "$(grep '"simulated_s"' s1.json)" = "$(grep '"simulated_s"' s2.json)" ]
}

@test "by ways: a rank that works until a message has come works as much, however fast messages are" {
    "$PF_BIN/pfcc" -O1 -o pieces "$BATS_TEST_DIRNAME/pieces.c"
    computed() { # of all ranks
        python3 -c 'import json; print(sum(row["computation_s"] for row in json.load(open("summary.json"))["rank_times"]))'
    }
    export PARFOCAL_COMPUTATION_WAYS=yes PARFOCAL_RANK_TIMES=yes PARFOCAL_SUMMARY=summary.json
    local network="-np 4 -model smpi --cfg=smpi/host-speed:1Gf --cfg=smpi/test:1e-6 --cfg=smpi/grow-injected-times:no --cfg=smpi/bw-factor:0"
    PARFOCAL_COMPUTATION_RECORD=record pfrun $network:0.02 ./pieces >/dev/null
    recorded=$(computed)
    for speed in 0.01 0.02 0.05 0.5; do
        PARFOCAL_COMPUTATION_REPLAY=record pfrun $network:$speed ./pieces >/dev/null
        python3 -c 'import sys; a, b = map(float, sys.argv[1:]); print(a, b); assert b > 0.01 and abs(a / b - 1) < 0.03' "$(computed)" "$recorded"
    done
}
