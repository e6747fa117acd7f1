#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The critical path and -what-if: sums, planted causes, bad input.
load common.bash

setup() {
    cd "$BATS_TEST_TMPDIR"
    mkdir tmp
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
    "$PF_BIN/pfcc" -O0 -g -o planted "$BATS_TEST_DIRNAME/planted.c"
}

# Models that show causes: later SimGrids have no signal CommImpl::on_completion, and smpi says so.
showing() {
    [[ "$("$PF_BIN/pfinfo" --version)" == *"SimGrid 3.32"* ]] && echo analytic smpi portals || echo analytic portals
}

@test "smpi says where SimGrid does not show its communications" {
    pfrun -np 4 -model smpi -explain -quiet -report report --cfg=smpi/simulate-computation:no ./planted 2>err
    [ "$(grep -c "critical path: this SimGrid does not show its communications" err)" -eq $([[ "$(showing)" == *smpi* ]] && echo 0 || echo 1) ]
}

# path MODEL ARGUMENTS...: runs the program with -explain.
path() {
    local model=$1
    shift
    pfrun -np 4 -model "$model" -explain -what-if "${WHAT:-compute=1}" -report report -quiet --cfg=smpi/simulate-computation:no ./planted "$@"
}

# The values of a Python expression with s, the summary, and c, its critical path, must be true.
holds() {
    python3 - "$1" <<'END'
import json, sys
s = json.load(open("report/summary.json"))
c = s["critical_path"]
t = s["simulated_s"]
if not eval(sys.argv[1]):
    sys.exit(f"not so: {sys.argv[1]}: {t} {c['end_s']} {c['spent_s']} {c['ranks']} {c['what_if']}")
END
}

@test "the path adds up to the simulated time, and so does the prediction with factor 1, in every model" {
    for model in analytic smpi portals portals-ideal packet ucx; do
        path $model
        holds 'abs(sum(c["spent_s"].values()) - t) < 1e-12 and abs(c["end_s"] - t) < 1e-12'
        holds 'abs(c["what_if"]["predicted_s"] - t) < 1e-12'
        holds 'abs(sum(r["spent_s"] for r in c["ranks"]) - t) < 1e-12'
    done
}

@test "the path changes no simulated time" {
    for model in analytic smpi portals; do
        path $model
        cp report/summary.json with.json
        pfrun -np 4 -model $model -report report -quiet --cfg=smpi/simulate-computation:no ./planted
        python3 -c 'import json; a, b = (json.load(open(f))["simulated_s"] for f in ("with.json", "report/summary.json")); assert a == b, (a, b)'
    done
}

@test "a slow rank and its computation are found, and no wait for it" {
    for model in $(showing) packet ucx; do
        path $model
        holds 'max(c["ranks"], key=lambda r: r["spent_s"])["rank"] == 2 and c["spent_s"]["computation"] > 0.9 * t'
        holds 'c["longest"][0]["class"] == "computation" and c["longest"][0]["rank"] == 2'
    done
}

@test "places in the program: each call, and computation after it" {
    for model in $(showing) packet; do
        path $model
        holds '[c["sites"][0][key] for key in ("call", "site")] == ["MPI_Allreduce", "planted.c:25 (main)"] and abs(c["sites"][0]["spent_s"]["computation"] - 0.04) < 1e-4'
        holds 'abs(sum(sum(site["spent_s"].values()) for site in c["sites"]) - t) < 1e-12'
        holds '{one["call"] for one in c["longest"] if one["class"] == "computation"} >= {"MPI_Allreduce", "MPI_Comm_size"}'
        holds 'all(c["sites"][piece["place"]]["call"] == piece["call"] for piece in c["pieces"] if "call" in piece)'
    done
}

@test "who sends to whom: what the program sends, or whatever NICs send" {
    for model in analytic smpi; do
        path $model
        holds 's["communication"]["ranks_in_row"] == 1 and s["communication"]["sent"] == [[i, (i + 1) % 4, 5, 200300] for i in range(4)]'
    done
    for model in portals packet ucx; do
        path $model
        holds 'len(s["communication"]["sent"]) >= 8 and [1 for a, b, m, n in s["communication"]["sent"] if b == (a + 1) % 4 and n >= 200300] == [1] * 4'
        [ $model = ucx ] || holds 'sum(row[3] for row in s["communication"]["sent"]) == s["portals"]["bytes_put"] + s["portals"]["bytes_got"]'
    done
}

@test "what links carry in analytic: what ranks send, in both directions, and nothing without -explain" {
    pfrun -np 4 -platform star:4 -model analytic -explain -report report -quiet --cfg=smpi/simulate-computation:no ./planted 2>/dev/null
    python3 - <<'END'
import json
s = json.load(open("report/summary.json"))
links = {l["link"]: l for l in s["network"]["busiest_links"]}
assert sorted(links) == sorted([f"n{i}-r0" for i in range(4)] + [f"r0-n{i}" for i in range(4)]), links
out, back = ([links[name] for name in links if name.startswith(letter)] for letter in "nr")
# What comes before its receive is posted, at the slow rank 2, is discarded and leaves again.
twice = {name: 2 if name in ("n1-r0", "r0-n2") else 1 for name in links}
assert all(l["messages"] >= 5 and 200000 * twice[name] <= l["bytes"] < 207500 * twice[name] for name, l in links.items()), links
assert sum(l["bytes"] for l in out) == sum(l["bytes"] for l in back) and sum(l["messages"] for l in out) == sum(l["messages"] for l in back)
rate = float(s["configuration"]["platform_link_bw"])
assert all(abs(l["bytes"] / rate / s["simulated_s"] / l["utilisation"] - 1) < 1e-9 for l in links.values()), (rate, links)
END
    pfrun -np 4 -platform star:4 -model analytic -report report -quiet --cfg=smpi/simulate-computation:no ./planted
    run grep -c busiest_links report/summary.json
    [ "$output" = 0 ]
}

# Hosts a, b on one side of a slow link, c, d on the other.
two_sides() {
    cat >sides.xml <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <host id="a" speed="1Gf"/> <host id="b" speed="1Gf"/> <host id="c" speed="1Gf"/> <host id="d" speed="1Gf"/>
    <link id="of-a" bandwidth="10GBps" latency="1us"/> <link id="of-b" bandwidth="10GBps" latency="1us"/>
    <link id="of-c" bandwidth="10GBps" latency="1us"/> <link id="of-d" bandwidth="10GBps" latency="1us"/>
    <link id="crowded" bandwidth="1GBps" latency="2us"/>
    <route src="a" dst="b"><link_ctn id="of-a"/><link_ctn id="of-b"/></route>
    <route src="c" dst="d"><link_ctn id="of-c"/><link_ctn id="of-d"/></route>
    <route src="a" dst="c"><link_ctn id="of-a"/><link_ctn id="crowded"/><link_ctn id="of-c"/></route>
    <route src="a" dst="d"><link_ctn id="of-a"/><link_ctn id="crowded"/><link_ctn id="of-d"/></route>
    <route src="b" dst="c"><link_ctn id="of-b"/><link_ctn id="crowded"/><link_ctn id="of-c"/></route>
    <route src="b" dst="d"><link_ctn id="of-b"/><link_ctn id="crowded"/><link_ctn id="of-d"/></route>
  </zone>
</platform>
END
    printf '%s\n' a b c d >hosts
    "$PF_BIN/pfcc" -O1 -g -o crowded "$BATS_TEST_DIRNAME/crowded.c"
}

# crowded MODEL ARGUMENTS...
crowded() {
    local model=$1
    shift
    PARFOCAL_TABLE=yes pfrun -np 4 -platform sides.xml -hostfile hosts -model "$model" -explain -what-if compute=1 -report report --cfg=smpi/simulate-computation:no ./crowded "$@" 2>err
}

# Links of the path, and classes of its messages, by name.
SHARES='{l["link"]: l for l in c["links"]}'
NETWORK='c["spent_s"].get("latency", 0) + c["spent_s"].get("transfer", 0)'

@test "shares of links and of messages sum up to the path in every model, and what cannot be seen is named" {
    for model in analytic smpi portals portals-ideal packet ucx; do
        path $model
        holds "abs(sum(l['latency_s'] + l['transfer_s'] for l in c['links'] + c['unseen']) - ($NETWORK)) < 1e-13"
        holds 'abs(sum(sum(m["spent_s"].values()) for m in c["messages"]) - c["end_s"]) < 1e-13'
        holds 'all(abs(sum(m["spent_s"].get(name, 0) for m in c["messages"]) - s) < 1e-13 for name, s in c["spent_s"].items())'
    done
    for model in smpi portals-ideal; do
        [[ $model != smpi || "$(showing)" == *smpi* ]] || continue
        path $model
        holds 'not c["links"]' && grep -q "$([ $model = smpi ] && echo model smpi || echo network ideal)" report/summary.json
    done
}

@test "a crowded link is named with its share: 2 x 10 MB at 1 GB/s, and half of the latency, there and back" {
    two_sides
    for model in analytic portals packet; do
        crowded $model
        holds "abs(($SHARES)['crowded']['transfer_s'] / 0.02 - 1) < 0.04 and ($SHARES)['crowded']['transfer_s'] == c['spent_s']['transfer']"
        holds '[(l["link"], round(l["latency_s"] * 1e9)) for l in sorted(c["links"], key=lambda l: l["link"]) if l["link"] != "of-b" and l["link"] != "of-d"] in ([("crowded", 4000), ("of-a", 2000), ("of-c", 2000)], [("crowded", 4000)])'
        grep -F "its time in the network by link: crowded 100.0 %" err
        grep -E "by message: MPI_(Send|Recv) $([ $model = analytic ] && echo rendezvous || echo put) more than 1 MiB (100.0|99.9) %" err
    done
}

@test "two classes of messages have their shares: 8 bytes there and back, 10 MB at 1 GB/s" {
    two_sides
    crowded analytic alone
    holds '[m["spent_s"]["transfer"] for m in c["messages"] if m["protocol"] == "rendezvous" and "at_most_bytes" not in m and m["kind"] == "point-to-point"][0] / 0.01 - 1 < 0.04'
    holds 'abs([m["spent_s"]["latency"] for m in c["messages"] if m["protocol"] == "eager" and m["at_most_bytes"] == 256][0] / 8e-6 - 1) < 1e-6'
    holds '[m["call"] for m in c["messages"] if m["protocol"] in ("eager", "rendezvous")] == ["MPI_Send", "MPI_Send"]'
    grep -F "by message: MPI_Send rendezvous more than 1 MiB 9" err
    crowded portals alone
    holds 'abs(sum(m["spent_s"]["transfer"] for m in c["messages"] if "at_most_bytes" not in m and "transfer" in m["spent_s"]) / 0.01 - 1) < 0.04'
}

@test "places of the program and of a library are looked up together, each in its object" {
    printf '#include <mpi.h>\nvoid inside(void) { MPI_Barrier(MPI_COMM_WORLD); }\n' >inside.c
    printf '#include <mpi.h>\nvoid inside(void);\nint main(int c, char **v) {\nMPI_Init(&c, &v);\nfor (int i = 0, sum; i < 9; i++) {\nMPI_Allreduce(&c, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\ninside();\n}\nMPI_Finalize();\n}\n' >outside.c
    "$PF_BIN/pfcc" -g -O0 -shared -fPIC -o libinside.so inside.c
    "$PF_BIN/pfcc" -g -O0 -o outside outside.c -L. -linside -Wl,-rpath,"$PWD"
    pfrun -np 4 -model analytic -explain -report report -quiet --cfg=smpi/simulate-computation:no ./outside 2>/dev/null
    python3 -c '
import json
sites = {one["call"]: one["site"] for one in json.load(open("report/summary.json"))["critical_path"]["sites"] if "call" in one}
assert sites["MPI_Allreduce"] == "outside.c:6 (main)" and "side" in sites["MPI_Barrier"], sites'
}

@test "what-if says how long it takes when the slow rank is faster" {
    for model in $(showing); do
        path $model fast
        local fast=$(python3 -c 'import json; print(json.load(open("report/summary.json"))["simulated_s"])')
        WHAT=rank:2=2 path $model
        holds "abs(c['what_if']['predicted_s'] / $fast - 1) < 0.05"
        WHAT=phase:work=2 path $model
        holds "c['what_if']['predicted_s'] < 0.6 * t"
    done
}

@test "what-if counts what is taken from any source in another order" {
    "$PF_BIN/pfcc" -O1 -g -o anyone "$BATS_TEST_DIRNAME/anyone.c"
    for model in $(showing) packet; do
        for factor in 1.5 3; do
            PARFOCAL_TABLE=yes pfrun -np 3 -model $model -what-if rank:2=$factor -report report --cfg=smpi/simulate-computation:no ./anyone >out 2>&1
            holds "c['what_if']['reordered'] == (0 if $factor < 2 else c['what_if']['any_source'] // 2) and c['what_if']['any_source'] == $([ $model = smpi ] && echo 4 || echo 6)"
        done
        grep "which may be otherwise: of [46] messages that are taken from any source [23] come in another order" out
    done
}

@test "bad keys are refused, with a suggestion" {
    for bad in "latencey=2" "rank:9=2" "rank:x=2" "compute" "compute=0" "compute=x" "," "nic=2,nic=3" "rank:1=2,rank:1=2" "phase:a=2,phase:a=2"; do
        run pfrun -np 4 -what-if "$bad" ./planted
        [ "$status" -ne 0 ]
        [[ "$output" == *"-what-if"* ]]
    done
    run pfrun -np 4 -what-if "latencey=2" ./planted
    [[ "$output" == *"maybe latency?"* ]]
}

@test "a run or a prediction that is too long has no path, and a line says so" {
    pfrun -np 4 -model smpi -explain -what-if compute=1e-6,phase:work=0.1 -report report -quiet --cfg=smpi/simulate-computation:no ./planted 2>err
    grep -q "no critical path: .*longer than 18 simulated hours" err
    run grep -q critical_path report/summary.json
    [ "$status" -ne 0 ]
}

@test "what has not come yet when a rank tests for it does not delay the prediction" {
    "$PF_BIN/pfcc" -O1 -w -o nbcblock "$BATS_TEST_DIRNAME/../../e2e/programs/nbcblock.c"
    E2E_A=analytic E2E_B=packet pfrun -np 4 -model analytic -explain -what-if compute=1 -report report -quiet \
        --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 ./nbcblock
    holds 'abs(c["what_if"]["predicted_s"] - t) < 1e-12'
}

# true_and_predicted MODEL KEY ROW=VALUE...: cg with these rows halved or doubled, and what -what-if says, within 5 %.
true_and_predicted() {
    local model=$1 key=$2 software=4e-7
    shift 2
    [[ "$key" != software ]] || software=2e-7
    run_cg() {
        local smpi=()
        [[ "$model" != smpi ]] || smpi=(--cfg=smpi/os:0:$1:0 --cfg=smpi/or:0:$1:0)
        shift
        PARFOCAL_OPENMPI_SEND_TIME=4e-7 PARFOCAL_OPENMPI_RECEIVE_TIME=4e-7 env "${@:2}" "$PF_BIN/pfrun" -np 8 -model "$model" -quiet -report report \
            -what-if "$1=2" "${smpi[@]}" --cfg=smpi/simulate-computation:no "$PF_BIN/../examples/cg" -n 8
    }
    run_cg 4e-7 "$key"
    cp report/summary.json predicted.json
    run_cg $software compute "$@"
    python3 - "$model" "$key" <<'END2'
import json, sys
before, after = (json.load(open(f)) for f in ("predicted.json", "report/summary.json"))
whole, true, predicted = before["simulated_s"], after["simulated_s"], before["critical_path"]["what_if"]["predicted_s"]
print(*sys.argv[1:], f"{true / whole - 1:+.1%} {predicted / whole - 1:+.1%}")
sys.exit("predicted otherwise" if abs(predicted / true - 1) > 0.05 else 0)
END2
}

@test "halving each class of cost changes the time as what-if predicts" {
    for model in $(showing); do
        true_and_predicted $model latency PARFOCAL_PLATFORM_LINK_LATENCY=100e-9
        true_and_predicted $model link_bw PARFOCAL_PLATFORM_LINK_BW=22.2e9 PARFOCAL_NIC_PCIE_BW=31.5e9
        true_and_predicted $model software PARFOCAL_OPENMPI_SEND_TIME=2e-7 PARFOCAL_OPENMPI_RECEIVE_TIME=2e-7
        [[ "$model" == smpi ]] || true_and_predicted $model nic PARFOCAL_NIC_PCIE_LATENCY=125e-9 PARFOCAL_NIC_TX_TIME=1e-9 \
            PARFOCAL_NIC_TX_GAP=4e-9 PARFOCAL_NIC_RX_GAP=4e-9 PARFOCAL_NIC_MATCH_GAP=16e-9 PARFOCAL_NIC_COMMAND_BYTES=32 PARFOCAL_NIC_EVENT_BYTES=48
    done
}
