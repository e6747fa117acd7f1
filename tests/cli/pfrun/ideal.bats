#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# -explain=ideal: serialisation and transfer, and what the page says of a program that does not scale.
load common.bash

setup_file() {
    export PROGRAM=$BATS_FILE_TMPDIR/serial
    "$PF_BIN/pfcc" -O1 -g "$BATS_TEST_DIRNAME/serial.c" -o "$PROGRAM"
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    mkdir tmp
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
}

@test "serialisation and transfer are those of POP, in every model" {
    for model in analytic smpi portals packet; do
        pfrun -np 4 -model $model -quiet -report report -explain=ideal --cfg=smpi/simulate-computation:no "$PROGRAM" 2>/dev/null
        rm -rf with
        mv report with
        pfrun -np 4 -model $model -quiet -report report -explain --cfg=smpi/simulate-computation:no "$PROGRAM" 2>/dev/null
        python3 - <<'PYTHON'
import json
run, plain = (json.load(open(f"{name}/summary.json")) for name in ("with", "report"))
assert run["simulated_s"] == plain["simulated_s"] and "transfer" not in plain["efficiency"]
times = {phase["phase"]: phase["simulated_s"] for phase in run["phases"]}
found = {phase["phase"]: phase["efficiency"] for phase in run["phases"] if "efficiency" in phase}
def near(value, right):
    assert abs(value - right) < 0.005, (run["configuration"]["model"], value, right, found)
near(found["serial"]["serialisation"], 1 / 4)
near(found["serial"]["transfer"], 0.004 / times["serial"])
near(found["bytes"]["transfer"], 0)
assert "serialisation" not in found["bytes"]
near(found["both"]["serialisation"], 1)
near(found["both"]["transfer"], 0.001 / times["both"])
near(run["efficiency"]["transfer"], 0.005 / run["simulated_s"])
near(run["efficiency"]["communication"], run["efficiency"]["serialisation"] * run["efficiency"]["transfer"])
PYTHON
    done
}

@test "measured computation is the same in both runs, up to the end of each phase and to MPI_Finalize" {
    for model in smpi portals; do
        pfrun -np 2 -model $model -quiet -report report -explain=ideal --cfg=smpi/host-speed:1Gf "$PROGRAM" measured
        python3 - <<'PYTHON'
import json
run = json.load(open("report/summary.json"))
for phase in run["phases"]:
    if phase["phase"] in ("measured", "more"):
        efficiency = phase["efficiency"]
        assert phase["simulated_s"] > 1e-3 and abs(efficiency["serialisation"] - 1) < 0.02 and efficiency["transfer"] > 0.95, phase
PYTHON
        pfrun -np 2 -model $model -quiet -trace replay:recording --cfg=smpi/host-speed:1Gf "$PROGRAM" measured
        grep -A3 '^1 phase more' recording | grep -E '^1 compute [0-9]{7}'
    done
}

@test "what cannot be played is refused, or said" {
    refuse() {
        local says=$1
        shift
        run pfrun -np 2 "$@"
        [ "$status" -ne 0 ]
        [[ "$output" == *"$says"* ]]
    }
    refuse "maybe -explain=ideal?" -explain=ideas "$PROGRAM"
    refuse "not for a run without -report DIR" -explain=ideal "$PROGRAM"
    refuse "leave -trace replay, prv and otf2 to another run" -explain=ideal -report report -trace replay:recording "$PROGRAM"
    printf '0 init\n0 finalize\n1 init\n1 finalize\n' >two.txt
    PARFOCAL_EXPLAIN_IDEAL=yes refuse "not for a run that plays a trace" -report report -replay two.txt
    printf '%s\n' '#include <mpi.h>' 'int main(int c, char **v) { MPI_File f; MPI_Init(&c, &v);' \
        'MPI_File_open(MPI_COMM_SELF, "data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f); MPI_File_close(&f); return MPI_Finalize(); }' >file.c
    "$PF_BIN/pfcc" file.c -o file
    pfrun -np 2 -quiet -explain=ideal -report report ./file 2>err
    grep "the run does not play on an ideal network: .*MPI_File_open, which a replay cannot do" err
    run grep -c '"transfer"' report/summary.json
    [ "$output" -eq 0 ]
}

@test "the page names the three reasons why forecast does not scale" {
    pfrun -np 16 -platform twolevels:8,2,1 -model packet -quiet -report report -explain=ideal --cfg=smpi/simulate-computation:no "$PF_BIN/../examples/forecast"
    timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/browser" --virtual-time-budget=5000 --dump-dom \
        "file://$PWD/report/report.html" 2>/dev/null | sed 's/<[^>]*>/|/g' >page.txt
    grep -E "Phase output \(packet\), [0-9.]+ % of the critical path: 9[0-9.]+ % of that is computation of rank 0, after MPI_Recv at forecast.c:[0-9]+ \(output\); load balance 6.3 %" page.txt
    grep -E "Phase physics \(packet\), [0-9.]+ % of the critical path: 9[0-9.]+ % of that is computation of rank 5, .*; load balance 37.5 %" page.txt
    grep -E "Phase transpose \(packet\), [0-9.]+ % .* transfer of bytes .* in MPI_Alltoall at forecast.c:[0-9]+ \(transpose\); the busiest link, r[01]-r2, is in use for [0-9.]+ ms" page.txt
    grep -F "|x transfer|" page.txt
    grep -F "|transfer efficiency|" page.txt
}
