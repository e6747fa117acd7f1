#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Several jobs on one machine: pfrun -workload.
load common

setup_file() {
    export DIR=$BATS_FILE_TMPDIR
    "$PF_BIN/pfcc" -g -o "$DIR/job" "$BATS_TEST_DIRNAME/workload.c"
    "$PF_BIN/pfcc" -O2 -o "$DIR/cg" "$BATS_TEST_DIRNAME/../../../examples/cg/cg.c" -lm
}

# workload LINE...: the file "jobs"
workload() {
    printf '%s\n' "$@" >jobs
}

# jobs pfrun-arguments...: runs it on 16 nodes without measured computation
jobs() {
    pfrun -workload jobs -platform star:16 --cfg=smpi/simulate-computation:no "$@"
}

# job NAME KEY: of summary.json
job() {
    python3 -c 'import json, sys; print([j for j in json.load(open("summary.json"))["jobs"] if j["name"] == sys.argv[1]][0][sys.argv[2]])' "$@"
}

# phases FILE [NAME]: what ranks did in simulated time, of the run or of one job
phases() {
    python3 - "$@" <<'END'
import json, os, sys
digits = int(os.environ.get("DIGITS", 17))
summary = json.load(open(sys.argv[1]))
phases = [j for j in summary["jobs"] if j["name"] == sys.argv[2]][0]["phases"] if len(sys.argv) > 2 else summary["phases"]
for phase in phases:
    print(format(phase["simulated_s"], f".{digits}g"), *(repr(phase[key]) for key in ("phase", "model", "ranks", "calls", "messages", "bytes", "shadows")))
END
}

@test "jobs with disjoint nodes: each as if it were alone, in each model" {
    workload "-name a -np 8 $DIR/cg -n 16" "-name b -np 8 $DIR/cg -n 16"
    for model in analytic smpi portals packet; do
        PARFOCAL_SUMMARY=alone.json pfrun -np 8 -model $model -platform star:16 --cfg=smpi/simulate-computation:no "$DIR/cg" -n 16
        PARFOCAL_SUMMARY=summary.json jobs -model $model
        diff <(phases alone.json) <(phases summary.json a)
        diff <(phases alone.json) <(phases summary.json b)
        diff <(grep -m1 simulated_s alone.json) <(grep -m1 simulated_s summary.json)
    done
}

@test "each job has models of its own" {
    workload "-name a -np 4 -model portals $DIR/cg -n 16" "-name b -np 4 -schedule 'setup=analytic,solve=packet,report=smpi' $DIR/cg -n 16"
    PARFOCAL_SUMMARY=summary.json jobs
    [ "$(phases summary.json a | cut -d' ' -f3 | sort -u)" = "'portals'" ]
    phases summary.json b | grep "'solve' 'packet' 4"
    PARFOCAL_SUMMARY=alone.json pfrun -np 4 -model portals -platform star:16 --cfg=smpi/simulate-computation:no "$DIR/cg" -n 16
    # The clock advances in other steps beside other events: the last digit may differ.
    diff <(DIGITS=12 phases alone.json) <(DIGITS=12 phases summary.json a)
}

@test "a world of its own: ranks, size, attributes, variables" {
    workload "-name a -np 2 $DIR/job a" "-name b -np 1 $DIR/job b1 : -np 2 $DIR/job b2"
    cat >expected <<'END'
a: rank 0 of 2, program 0, universe 2, sum 2, variable 2
a: rank 1 of 2, program 0, universe 2, sum 2, variable 2
b1: rank 0 of 3, program 0, universe 3, sum 3, variable 3
b2: rank 1 of 3, program 1, universe 3, sum 3, variable 3
b2: rank 2 of 3, program 1, universe 3, sum 3, variable 3
END
    for model in smpi analytic portals; do
        run jobs -quiet -model $model
        [ "$status" -eq 0 ]
        diff expected <(sort <<<"$output")
    done
}

@test "start, after, repeat" {
    workload "-name late -np 2 -start 1.5 $DIR/job late" "-name next -np 2 -after late -place as:late $DIR/job next" \
        "-name again -np 2 -repeat 3 $DIR/job again"
    PARFOCAL_SUMMARY=summary.json jobs
    [ "$(job late begin_s)" = 1.5 ]
    [ "$(job next begin_s)" = "$(job late end_s)" ]
    [ "$(job again.1 begin_s)" = 0.0 ]
    [ "$(job again.3 begin_s)" = "$(job again.2 end_s)" ]
}

@test "two jobs on one link: the sum of what each takes" {
    workload "-name a -np 2 $DIR/job send"
    PARFOCAL_SUMMARY=summary.json jobs -model packet
    alone=$(job a simulated_s)
    workload "-name a -np 2 $DIR/job send" "-name b -np 2 -place as:a $DIR/job send"
    PARFOCAL_SUMMARY=summary.json jobs -model packet
    for name in a b; do
        python3 -c "ratio = $(job $name simulated_s) / $alone; print(ratio); assert 1.95 < ratio < 2.01"
    done
}

@test "placements" {
    workload "-name a -np 4 -per-host 2 $DIR/job" "-name b -np 4 -place groups $DIR/job" "-name c -np 2 -place random:5 $DIR/job"
    run timeout 60 "$PF_BIN/pfrun" -workload jobs -platform fattree:4,2 -map --cfg=smpi/simulate-computation:no
    [ "$status" -eq 0 ]
    [ "$(grep -c 'rank [01]\] -> node-1000$' <<<"$output")" -eq 2 ]
    [ "$(grep -c 'rank [23]\] -> node-1001$' <<<"$output")" -eq 2 ]
    grep 'rank 4\] -> node-1004$' <<<"$output" # the first switch without other jobs
    grep 'rank 7\] -> node-1007$' <<<"$output"
    first=$(grep 'rank [89]\]' <<<"$output")
    run timeout 60 "$PF_BIN/pfrun" -workload jobs -platform fattree:4,2 -map --cfg=smpi/simulate-computation:no
    [ "$first" = "$(grep 'rank [89]\]' <<<"$output")" ]
}

@test "traces as jobs: each takes as long as alone, beside programs whose computation is measured" {
    local none=--cfg=smpi/simulate-computation:no
    pfrun -np 4 -quiet -platform star:16 -model portals $none -trace replay:cg.trace "$DIR/cg" -n 16
    printf 'num_ranks 2\nrank 0 {\nl1: calc 1000000\nl2: send 10b to 1\nl2 requires l1\n}\nrank 1 {\nl1: recv 10b from 0\n}\n' >one.goal
    for model in analytic portals packet; do
        for trace in cg.trace one.goal; do
            PARFOCAL_REPLAY_RANKS=yes pfrun -replay $trace -quiet -platform star:16 -model $model -report alone
            workload "-name t -replay $trace" "-name p -np 4 $DIR/cg -n 16" "-replay-scale 1 -repeat 2 -name u -replay $trace"
            PARFOCAL_SUMMARY=summary.json pfrun -workload jobs -quiet -platform star:16 -model $model
            python3 - <<'END'
import json
alone = json.load(open("alone/summary.json"))["simulated_s"]
for job in json.load(open("summary.json"))["jobs"]:
    assert job["name"] == "p" or abs(job["simulated_s"] / alone - 1) < 1e-9, (job["name"], job["simulated_s"], alone)
END
        done
    done
    printf '0 init\n1 init\n0 recv 1 0 4\n1 recv 0 0 4\n' >stuck.trace
    workload "-name p -np 4 $DIR/cg -n 16" "-name t -replay stuck.trace"
    run jobs -model portals
    [ "$status" -eq 1 ]
    grep "rank 4 (rank 0 of job 't') is at stuck.trace: line" <<<"$output"
}

@test "a job that fails" {
    for model in smpi portals; do
        workload "-name bad -np 2 -model $model $DIR/job abort" "-name good -np 2 -start 1 $DIR/job good"
        run jobs -on-failure stop
        [ "$status" -eq 7 ]
        grep "rank 1 (rank 1 of job 'bad') called MPI_Abort" <<<"$output"
        ! grep 'good: ' <<<"$output"
        export PARFOCAL_SUMMARY=summary.json
        run jobs -on-failure continue
        unset PARFOCAL_SUMMARY
        echo "$output"
        [ "$status" -eq 7 ]
        grep "job 'bad' ends with status 7" <<<"$output"
        [ "$(grep -c 'good: ' <<<"$output")" -eq 2 ]
        [ "$(job bad state) $(job bad exit_status) $(job good state)" = "failed 7 ended" ]
        workload "-name bad -np 2 -model $model $DIR/job status" "-name good -np 2 -start 1 $DIR/job good"
        run jobs
        [ "$status" -eq 3 ]
        grep "job 'bad' has ended with status 3" <<<"$output"
        workload "-name bad -np 2 -model $model $DIR/job wait" "-name good -np 2 -start 1 $DIR/job good"
        run jobs
        [ "$status" -eq 1 ]
        grep "job 'bad' cannot go on: ranks 0-1" <<<"$output"
        [ "$(grep -c 'good: ' <<<"$output")" -eq 2 ]
    done
    workload "-name good -np 2 $DIR/job good" "-name bad -np 2 -model $model $DIR/job crash"
    run jobs -on-failure stop
    [ "$status" -eq 139 ]
    grep "rank 3 (rank 1 of job 'bad'): segmentation fault" <<<"$output"
}

# fails WAY STATUS TEXT: one job ends by itself, for this reason, and what begins later goes on
fails() {
    workload "-name good -np 2 -start 1 $DIR/job good" "-name bad -np 2 $DIR/job $1" "-name next -np 2 -after bad $DIR/cg -n 8"
    PARFOCAL_LIVELOCK_POLLS=2000 PARFOCAL_SUMMARY=summary.json run jobs -on-failure continue -model $model
    echo "$model $1: $output"
    [ "$status" -eq "$2" ]
    grep "job 'bad' ends with status $2 at simulated time .*; the other jobs go on" <<<"$output"
    [ "$(grep -c 'good: ' <<<"$output")" -eq 2 ]
    [ "$(job good state) $(job next state) $(job bad state) $(job bad exit_status)" = "ended ended failed $2" ]
    [ "$1" = assert ] || [ "$(job bad failed_rank)" = 1 ] # there both fail at the same date
    job bad reason | grep "^$3"
}

@test "a job that crashes or is refused: the others go on" {
    for model in smpi analytic portals packet; do
        fails crash 139 "segmentation fault (SIGSEGV) in fail at .*workload.c:"
        fails assert 134 "abort (SIGABRT) in fail at .*workload.c:"
        fails error 6 "MPI_Send failed: "
        fails spin 1 "livelock at simulated time"
    done
    fails abort 7 "MPI_Abort with code 7"
    fails divide 136 "arithmetic error (SIGFPE) in fail at"
    fails trap 132 "illegal instruction (SIGILL) in fail at"
    fails jump 139 "segmentation fault (SIGSEGV)"
    fails deep 139 "segmentation fault (SIGSEGV) in deep at"
    fails twice 1 "rank 3: MPI_Init was called twice"
}

@test "a job that damages the heap, which all share, ends all" {
    workload "-name bad -np 2 $DIR/job heap" "-name good -np 2 -start 1 $DIR/job good"
    PARFOCAL_SUMMARY=summary.json run jobs -on-failure continue
    [ "$status" -eq 134 ]
    grep "rank 1 (rank 1 of job 'bad'): abort (SIGABRT)" <<<"$output"
    [ "$(job bad state) $(job good state)" = "failed not begun" ]
}

# bad TEXT LINE...
bad() {
    local text=$1
    shift
    workload "$@"
    refuses "$text" -workload jobs -platform star:16
}

@test "files that are refused" {
    printf '0 init\n1 init\n' >stuck.trace
    bad "jobs: line 2: there is a job named 'a' already, at jobs: line 1" "-name a -np 2 $DIR/job" "-name a -np 2 $DIR/job"
    bad "job 'a': 17 ranks, 1 on a host, need 17 hosts" "-name a -np 17 $DIR/job"
    bad "and of the 16 of the platform 6 are free" "-name a -np 10 $DIR/job" "-name b -np 7 $DIR/job"
    bad "line 1: -place 'near' is not contiguous" "-np 2 -place near $DIR/job"
    bad "line 2: -after nobody: there is no job of that name" '# first' "-np 2 -after nobody $DIR/job"
    bad "-after: job 'a' waits for itself, by way of job 'b'" "-name a -after b -np 2 $DIR/job" "-name b -after a -np 2 $DIR/job"
    bad "line 1: a job has no option '-plaec', maybe -place?" "-plaec random -np 2 $DIR/job"
    bad "line 1: program 1, '$DIR/job': -np is missing" "-name a $DIR/job"
    bad "line 1: program 1 is missing" "-name a -np 2"
    bad "line 1: unknown model 'prtals'" "-np 2 -model prtals $DIR/job"
    bad "-place as:b: that job has to stand further up" "-name a -np 2 -place as:b $DIR/job" "-name b -np 2 $DIR/job"
    bad "names no job" '# nothing'
    bad "line 2: unclosed \"" "-name a -np 1 $DIR/job" "-np 1 $DIR/job \"it"
    bad "the trace 'stuck.trace' has 2 ranks" '-name a -np 3 -replay stuck.trace'
    bad 'there is '"'./cg'" '-name a -replay stuck.trace ./cg'
    echo node-1001 >one
    echo node-1001:2 >two
    bad "job 'b' uses host 'node-1001', which job 'a' has" "-name a -np 1 -hostfile one $DIR/job" "-name b -np 2 -hostfile two $DIR/job"
    workload "-np 2 $DIR/job"
    refuses "the file has all programs" -workload jobs -np 3
    refuses "-on-failure is for -workload only" -on-failure continue -np 2 "$DIR/job"
    refuses "-on-failure needs stop or continue" -on-failure maybe -workload jobs
}

@test "pfcurve -workload: alone and beside the others, by placement and routing" {
    workload "-name a -np 8 $DIR/cg -n 16" "-name b -np 8 $DIR/cg -n 16" "-name late -np 4 -place as:a -after a $DIR/cg -n 16"
    "$PF_BIN/pfcurve" -workload jobs -platform dragonfly:32 -model packet -placements contiguous,random:1 -routings minimal,ugal -quiet \
        -output found --cfg=smpi/simulate-computation:no >out
    # In a group of its own a job takes as long as alone; a job that begins late has a run alone that begins at once.
    python3 - <<'END'
import csv
rows = list(csv.DictReader(open("found/jobs.csv")))
assert {row["phase"] for row in rows} == {"", "setup", "solve", "report"}, rows
times = {(row["placement"], row["routing"], row["job"]): (float(row["alone_s"]), float(row["beside_s"])) for row in rows if not row["phase"]}
assert len(times) == 12
for job in ("a", "b", "late"):
    alone, beside = times["contiguous", "minimal", job]
    assert abs(beside / alone - 1) < 1e-9, (job, alone, beside)
shared = {(row["placement"], row["routing"]) for row in csv.DictReader(open("found/links.csv")) if "b" == row["job"]}
assert ("contiguous", "minimal") not in shared and ("random:1", "minimal") in shared, shared
END
    # What has been run is kept.
    "$PF_BIN/pfcurve" -workload jobs -platform dragonfly:32 -model packet -placements contiguous,random:1 -routings minimal,ugal -quiet \
        -output found --cfg=smpi/simulate-computation:no >again
    diff out again
    [ "$(ls found/runs | wc -l)" -eq 16 ]
    refused() { "$PF_BIN/pfcurve" "$@" 2>err && return 1 || grep -c . err | grep -qx 1; }
    refused -workload nosuch
    grep "cannot read 'nosuch'" err
    refused -workload jobs -model analytic -routings ugal
    grep "networks of packets" err
    refused -workload jobs -platform dragonfly:32 -placements nosuch -output bad
    grep "unknown placement\|nosuch" err
}

@test "pfcurve -workload: two jobs on one link, and the link" {
    printf 'num_ranks 2\nrank 0 {\nl1: send 10b to 1\n}\nrank 1 {\nl1: recv 10b from 0\n}\n' >one.goal
    workload "-name a -np 2 $DIR/job send" "-name b -np 2 -place as:a $DIR/job send" "-replay one.goal"
    "$PF_BIN/pfcurve" -workload jobs -platform star:16 -model packet -quiet -output found --cfg=smpi/simulate-computation:no
    python3 - <<'END'
import csv
for row in csv.DictReader(open("found/jobs.csv")):
    ratio = float(row["beside_s"]) / float(row["alone_s"])
    assert 0.999 < ratio < 1.001 if row["job"] == "one.goal" else 1.95 < ratio < 2.01, (row, ratio)
loads = [(row["job"], int(row["bytes_alone"])) for row in csv.DictReader(open("found/links.csv")) if int(row["bytes_alone"]) > 4000000]
assert sorted(job for job, _ in loads) == ["a", "a", "b", "b"], loads  # to the switch and from it
END
}
