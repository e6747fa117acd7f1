# SPDX-License-Identifier: BSD-3-Clause
# report.html, as a browser shows it, and the efficiencies in it.

setup_file() {
    export PROGRAM=$BATS_FILE_TMPDIR/page
    "$PF_BIN/pfcc" "$BATS_TEST_DIRNAME/page.c" -o "$PROGRAM"
}

setup() {
    cd "$BATS_TEST_TMPDIR"
}

report() {
    "$PF_BIN/pfrun" -np 4 -quiet -report report --cfg=smpi/simulate-computation:no "$@"
}

# What the page is after its script has run, as text, without the script.
page() {
    timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/browser" --virtual-time-budget=5000 --dump-dom \
        "file://$PWD/report/report.html" 2>/dev/null |
        python3 -c 'import re, sys; print(re.sub("<[^>]*>", "|", re.sub("(?s)<script.*?</script>", "", sys.stdin.read())))' >page.txt
    [ -s page.txt ]
}

@test "efficiencies are those of POP, in smpi, analytic and portals" {
    for model in smpi analytic portals; do
        report -model $model -explain "$PROGRAM" >/dev/null 2>&1
        python3 - <<'PYTHON'
import json
run = json.load(open("report/summary.json"))
phases = {phase["phase"]: phase for phase in run["phases"]}
def near(value, right):
    assert abs(value - right) < 0.005, (run["configuration"]["model"], value, right)
even, uneven, talk = (phases[name]["efficiency"] for name in ("even", '</script><b>uneven & "', "talk"))
near(even["load_balance"], 1)
near(even["parallel"], 0.001 / phases["even"]["simulated_s"])
near(uneven["load_balance"], 2.5 / 4)
near(uneven["communication"], 0.004 / phases['</script><b>uneven & "']["simulated_s"])
near(uneven["parallel"], uneven["load_balance"] * uneven["communication"])
near(talk["parallel"], 0)
near(run["efficiency"]["parallel"], 0.0035 / run["simulated_s"])
near(run["efficiency"]["load_balance"], 3.5 / 5)
PYTHON
    done
}

@test "looking costs no simulated time, and without -explain there is nothing to look at" {
    for model in analytic portals; do
        report -model $model -explain "$PROGRAM" >/dev/null 2>&1
        mv report looked
        report -model $model "$PROGRAM"
        python3 -c '
import json
looked, plain = (json.load(open(f"{name}/summary.json")) for name in ("looked", "report"))
assert looked["simulated_s"] == plain["simulated_s"], (looked["simulated_s"], plain["simulated_s"])
assert "efficiency" in looked and "rank_times" in looked and "efficiency" not in plain and "rank_times" not in plain'
        rm -r looked
    done
}

@test "what a trace computes is computation; without ranks that is not known, and said" {
    printf 'num_ranks 2\nrank 0 {\nl1: calc 1000000\nl2: send 8b to 1 tag 0\nl2 requires l1\n}\nrank 1 {\nl1: recv 8b from 0 tag 0\n}\n' >one.goal
    PARFOCAL_REPLAY_RANKS=yes "$PF_BIN/pfrun" -replay one.goal -model smpi -quiet -explain -report report >/dev/null
    python3 -c '
import json
run = json.load(open("report/summary.json"))
assert abs(run["efficiency"]["load_balance"] - 0.5) < 1e-9 and abs(run["efficiency"]["communication"] - 1) < 0.01, run["efficiency"]'
    "$PF_BIN/pfrun" -replay one.goal -model analytic -quiet -explain -report report >/dev/null 2>err
    grep "a trace that is played without ranks has no efficiencies (PARFOCAL_REPLAY_RANKS=yes)" err
    page
    [ "$(grep -c "pfrun -explain says" page.txt)" -eq 0 ]
}

@test "the page in a browser: verdict, phases as they are called, ranks" {
    report -model analytic -explain "$PROGRAM" >/dev/null 2>&1
    page
    cat page.txt
    grep -F "page on 4 ranks" page.txt
    grep -F "Most is lost to uneven computation: some ranks wait for others. Phase &lt;/script&gt;&lt;b&gt;uneven &amp; \" (analytic) loses most." page.txt
    grep -F "|62.5 %|" page.txt
    grep -E "rank 3: computation 5 ms, communication and waiting" page.txt
    report -model packet "$PROGRAM"
    page
    grep -F "pfrun -explain says what share of it was computation" page.txt
    grep -F "Busiest links (" page.txt
}

@test "the page of a run that was cut short says so" {
    run report -model smpi -explain "$PROGRAM" stop
    [ "$status" -eq 3 ]
    page
    grep -F "Partial, not the whole run: " page.txt
    grep -F "|even|" page.txt
}
