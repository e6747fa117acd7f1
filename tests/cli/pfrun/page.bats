# SPDX-License-Identifier: BSD-3-Clause
# report.html, as a browser shows it, and the efficiencies in it.

setup_file() {
    export PROGRAM=$BATS_FILE_TMPDIR/page
    "$PF_BIN/pfcc" -g "$BATS_TEST_DIRNAME/page.c" -o "$PROGRAM"
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
        python3 -c 'import re, sys; print(re.sub("<[^>]*>", "|", re.sub("(?s)<(script|style).*?</\\1>", "", sys.stdin.read())))' >page.txt
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
    grep -F " of the critical path is computation of rank 3, after MPI_Barrier at page.c:16 (main)." page.txt
    grep -E "rank 3, phase &lt;/script&gt;&lt;b&gt;uneven &amp; \", .*: computation 100.0 %; in MPI_Barrier at page.c:16" page.txt
    grep -F "analytic: what the program itself sends: what collectives and windows send inside is not seen in this model." page.txt
    grep -F "|not seen: collectives of model analytic, priced as a whole|" page.txt
    grep -F "|MPI_Barrier (collective)||whole||up to 256 B|" page.txt
    report -model packet "$PROGRAM"
    page
    grep -F "pfrun -explain says what share of it was computation" page.txt
    grep -F "Busiest links (" page.txt
    grep -F "Squares: routers. Circles: nodes." page.txt
    grep -E "n0-r0: .*; busy .* %, [1-9][0-9]* packets" page.txt
}

@test "the page of a run that was cut short says so" {
    run report -model smpi -explain "$PROGRAM" stop
    [ "$status" -eq 3 ]
    page
    grep -F "Partial, not the whole run: " page.txt
    grep -F "|even|" page.txt
    grep -F "Partial: the path of rank " page.txt
    grep -F "|blocked||MPI_Barrier||smpi||page.c:19 (main)|" page.txt
}

@test "the page of a workload has its jobs" {
    printf '%s\n' "-name first -np 2 $PROGRAM" "-name next -np 2 -after first $PROGRAM" >jobs
    "$PF_BIN/pfrun" -workload jobs -platform star:4 -model analytic -quiet -report report --cfg=smpi/simulate-computation:no
    page
    grep -E "\|first\|\|0-1\|.*\|ended\|" page.txt
    grep -F "|next||2-3|" page.txt
    grep -F "even (analytic) 1.0" page.txt
    # The machine: a letter for each job, + where another one uses the host.
    grep -F "|A||first on 2 hosts|" page.txt
    grep -F "host node-1000; job first: rank 0|" page.txt
    printf '%s\n' "-name first -np 2 $PROGRAM" "-name next -np 1 -place as:first $PROGRAM" >jobs
    "$PF_BIN/pfrun" -workload jobs -platform star:4 -model packet -quiet -report report --cfg=smpi/simulate-computation:no
    page
    grep -F "|A+|" page.txt
    grep -F "host node-1000; job first: rank 0; job next: rank 0|" page.txt
    grep -F "the larger the share of the run" page.txt
}

# clusters HOSTS BETWEEN: a platform file of two clusters, which a link of so many bytes per second joins.
clusters() {
    cat >two.xml <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="both" routing="Floyd">
    <cluster id="l&amp;l" prefix="l" radical="0-$(($1 - 1))" suffix="" speed="1Gf" bw="1GBps" lat="1us" bb_bw="10GBps" bb_lat="1us"/>
    <cluster id="right" prefix="r" radical="0-$(($1 - 1))" suffix="" speed="1Gf" bw="1GBps" lat="1us"/>
    <link id="between" bandwidth="$2Bps" latency="10us"/>
    <zoneRoute src="l&amp;l" dst="right" gw_src="ll&amp;l_router" gw_dst="rright_router"><link_ctn id="between"/></zoneRoute>
  </zone>
</platform>
XML
}

@test "a platform file: hosts by zone, and links by load as routes cross them, in analytic and packet" {
    clusters 2 100M
    for model in analytic packet; do
        report -platform two.xml -model $model -explain "$PROGRAM" >/dev/null 2>&1
        page
        grep -F "|zone l&amp;l: 2 hosts|" page.txt
        grep -F "|zone right: 2 hosts|" page.txt
        grep -E "node n3, host r1\|" page.txt
        grep -E "\|between: 0.1 GB/s, 1e\+04 ns; busy [1-9][0-9.]* %, [1-9][0-9]* messages, [1-9][0-9]* B\|" page.txt
        grep -E "\|l&amp;l_link_0_UP: 1 GB/s, 1000 ns; busy [0-9.]* %, [1-9]" page.txt
        grep -F "Circles: hosts, with the links that only they use. Above: links of several hosts" page.txt
        [ "$(grep -c "More than 100 %" page.txt)" -eq 0 ]
    done
    clusters 4 1M
    "$PF_BIN/pfcc" -O1 -w -o halo "$BATS_TEST_DIRNAME/../../bench/halo.c"
    PARFOCAL_ANALYTIC_SET="contention = none" "$PF_BIN/pfrun" -np 8 -platform two.xml -model analytic -explain -quiet -report report --cfg=smpi/simulate-computation:no ./halo 5 4 >/dev/null 2>&1
    page
    grep -F "More than 100 %: model analytic does not make these messages wait for the link" page.txt
}

@test "4,096 hosts of a platform file: zones, the links of several hosts, and less than 3 MB" {
    clusters 2048 100M
    "$PF_BIN/pfrun" -np 4096 -platform two.xml -model analytic -explain -quiet -report report --cfg=smpi/simulate-computation:no "$PROGRAM" >/dev/null 2>&1
    [ "$(stat -c %s report/report.html)" -lt 3000000 ]
    page
    grep -F "|zone right: 2048 hosts|" page.txt
    grep -F "|between: 0.1 GB/s" page.txt
    grep -F "Frames: the hosts of a zone. They and their own links are left out, because there are many." page.txt
}

@test "the page of 4,096 ranks is shown, and has less than 3 MB" {
    report -model packet -explain "$PROGRAM" >/dev/null 2>&1
    python3 - <<'PYTHON'
import json, re
text = open("report/report.html").read()
run = json.loads(re.search('(?s)<script type="application/json" id="run">(.*?)</script>', text).group(1))
path, ranks = run["critical_path"], 4096
run.update(ranks=ranks, rank_times=[{**run["rank_times"][i % 4], "rank": i} for i in range(ranks)])
path.update(ranks=[{"rank": i, "spent_s": path["end_s"] / ranks} for i in range(ranks)],
            pieces=[{**path["pieces"][i % len(path["pieces"])], "rank": i * 16, "end_s": path["end_s"] * (i + 1) / 256} for i in range(256)])
run["communication"].update(ranks_in_row=16, sent=[[i, k, 123456, 123456789012] for i in range(256) for k in range(256)])
with open("report/report.html", "w") as file:
    file.write(re.sub('(?s)(<script type="application/json" id="run">).*?(</script>)', lambda found: found[1] + json.dumps(run, separators=(",", ":")).replace("/", "\\/") + found[2], text))
PYTHON
    [ "$(stat -c %s report/report.html)" -lt 3000000 ]
    page
    grep -F "page on 4096 ranks" page.txt
    grep -F "from 4032-4095 to 4032-4095: 1975296 messages" page.txt
    grep -F "rank 4095: computation" page.txt
}

@test "hatchings are lines, so that a printed page is small" {
    report -model analytic -explain "$PROGRAM" >/dev/null 2>&1
    timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/browser" --virtual-time-budget=5000 --no-pdf-header-footer \
        --print-to-pdf=page.pdf "file://$PWD/report/report.html" 2>/dev/null
    [ "$(grep -ac "/Subtype /Image" page.pdf)" -eq 0 ]
    [ "$(stat -c %s page.pdf)" -lt 1000000 ]
}
