# SPDX-License-Identifier: BSD-3-Clause
# The parameters of model analytic: what is refused at start, what -explain prints, what pfinfo --fit writes.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/hello
    "$PF_BIN/pfcc" -o "$APP" "$BATS_TEST_DIRNAME/../../../examples/pingpong/pingpong.c"
}

# refused_file REASON CONTENTS
refused_file() {
    printf "$2" >parameters
    PARFOCAL_ANALYTIC_PARAMETERS=parameters refuses "parameters: line $1" -np 2 -model analytic "$APP"
}

@test "file that does not exist" {
    PARFOCAL_ANALYTIC_PARAMETERS=nosuch refuses "nosuch: cannot read it" -np 2 -model analytic "$APP"
}
@test "unknown key" { refused_file "2: unknown key 'latancy', maybe latency?" '# mine\nlatancy = 1 us\n'; }
@test "no number" { refused_file "1: latency: 'nan' is not a finite number" 'latency = nan\n'; }
@test "infinite" { refused_file "1: bandwidth: 'inf' is not a finite number" 'bandwidth = inf\n'; }
@test "negative" { refused_file "1: gap: '-1 ns' is negative" 'gap = -1 ns\n'; }
@test "wrong unit" { refused_file "1: latency: '1 GB/s' has a unit that does not belong here" 'latency = 1 GB/s\n'; }
@test "unknown topology" { refused_file "1: topology: 'taurus:2x2' is no topology, maybe torus?" 'topology = taurus:2x2\n'; }
@test "topology too small" { refused_file "1: topology: torus:1x1 has 1 positions, 2 are needed" 'topology = torus:1x1\n'; }
@test "topology without its links" { refused_file "1: topology: link_latency is missing" 'topology = torus:2x2\nlink_bandwidth = 1 GB/s\n'; }
@test "what does not fit together" {
    refused_file "2: time: cannot be combined with latency" 'latency = 1 us\ntime = 1 us\n'
}
@test "setting next to the file" {
    PARFOCAL_ANALYTIC_SET="gap = 1 ns; gop = 2" refuses "PARFOCAL_ANALYTIC_SET: entry 2: unknown key 'gop'" -np 2 -model analytic "$APP"
}

@test "-explain: formula, parameters, messages" {
    printf 'latency = 7 us\nlatency_factor = 0\nbandwidth = 2 GB/s\n' >parameters
    PARFOCAL_ANALYTIC_PARAMETERS=parameters run pfrun -np 2 -model analytic -explain "$APP"
    echo "$output"
    [ "$status" -eq 0 ]
    grep "arrives after 7 us + m / 2 GB/s" <<<"$output"
    grep "^latency = 7 us" <<<"$output"
    run pfrun -np 2 -model analytic "$APP"
    [ "$(grep -c "arrives after" <<<"$output")" -eq 0 ]
}

@test "posting a large receive costs the same in MPI_Irecv and in MPI_Start" {
    "$PF_BIN/pfcc" -o receives "$BATS_TEST_DIRNAME/receives.c"
    PARFOCAL_ANALYTIC_SET="defaults = plain; call = 10 ns; post = 1 us" run pfrun -np 2 -model analytic --cfg=smpi/simulate-computation:no \
        --cfg=smpi/wtime:0 ./receives
    echo "$output"
    [ "$output" = "MPI_Irecv 1010 ns, MPI_Start 1010 ns" ]
}

@test "pfinfo --fit: a file that the model reads, small errors" {
    run timeout 200 "$PF_BIN/pfinfo" --fit=smpi --output fitted -- -np 8
    echo "$output"
    [ "$status" -eq 0 ]
    awk '/^median error/ { found = 1; if ($3 > 10) bad = 1 } END { exit bad || !found }' <<<"$output"
    grep "^protocol = meet" fitted
    PARFOCAL_ANALYTIC_PARAMETERS=fitted run pfrun -np 2 -model analytic "$APP"
    [ "$status" -eq 0 ]
}

@test "pfinfo --fit to a model of Open MPI: one-sided communication is what the run had" {
    run timeout 200 "$PF_BIN/pfinfo" --fit=portals --output fitted -- -np 4
    [ "$status" -eq 0 ]
    PARFOCAL_OPENMPI_OSC=pt2pt run pfrun -np 2 -model portals "$APP" # Open MPI 5 has none
    usual=pt2pt
    [ "$status" -eq 0 ] || usual=nic
    grep "^windows = $usual" fitted
    run timeout 200 "$PF_BIN/pfinfo" --fit=portals --output fitted -- -np 4 --cfg=parfocal/openmpi_osc:portals4
    [ "$status" -eq 0 ]
    grep "^windows = nic" fitted
}

@test "pfinfo --fit: unknown model, and a run that fails" {
    run timeout 100 "$PF_BIN/pfinfo" --fit=fast
    [ "$status" -eq 1 ]
    grep "'fast' is no model to fit to" <<<"$output"
    run timeout 100 "$PF_BIN/pfinfo" --fit=smpi -- -platform nosuch
    [ "$status" -eq 1 ]
    grep "neither a readable file nor a built-in platform" <<<"$output"
    [ ! -e analytic-smpi.txt ]
}

# A simulated machine stands for a real one: its times are known to be repeatable. Of three runs one is far off.
@test "pfinfo --fit=FILE: the median of measured times, the same parameters as from the model" {
    "$PF_BIN/pfinfo" --fit-program >measure.c
    "$PF_BIN/pfcc" -O1 measure.c -o measure
    for what in fit between; do
        pfrun -np 4 -model smpi --cfg=smpi/simulate-computation:no ./measure $what
    done >times
    { cat times; awk '{ $4 *= 3; print }' times; cat times; } >measured.times
    run timeout 100 "$PF_BIN/pfinfo" --fit=measured.times --output fitted -- -np 4
    echo "$output"
    [ "$status" -eq 0 ]
    timeout 100 "$PF_BIN/pfinfo" --fit=smpi --output direct -- -np 4
    diff <(grep -v '^#' fitted) <(grep -v '^#' direct)
    diff <(grep '^# median error' fitted) <(grep '^# median error' direct)
    grep -E '^(oneway|peer)' measured.times >pingpong.times
    timeout 100 "$PF_BIN/pfinfo" --fit=pingpong.times --output loggp -- -np 4
    grep '^model = loggp$' loggp
    [ "$(grep -c nic_time loggp)" -eq 0 ]
    diff <(grep '^time\[64 KiB' loggp | sed 's/ = .*//') <(grep '^time\[64 KiB' fitted | sed 's/ = .*//')
    echo nothing >empty
    run timeout 100 "$PF_BIN/pfinfo" --fit=empty -- -np 4
    [ "$status" -eq 1 ]
    [ ! -e analytic-empty.txt ]
}

# o_s is 3 us, o_r 4 us, a message is under way for 2 us, and leaves first. 1,000 B are packed in 10 us, and copied in 5. To
# look for what has come takes 20 us.
@test "processors: what is paid in calls and waits where they do the work" {
    "$PF_BIN/pfcc" -O1 -o overheads "$BATS_TEST_DIRNAME/overheads.c"
    parameters="defaults = plain; leave = first; time = 2 us; overhead_send = 3 us; overhead_receive = 4 us; pack_bandwidth = 100 MB/s"
    flags="-np 2 -model analytic --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0"
    PARFOCAL_ANALYTIC_SET="$parameters; own_bandwidth = 200 MB/s" run pfrun $flags ./overheads
    echo "$output"
    [ "$status" -eq 0 ]
    grep -x "exchange 7000" <<<"$output"
    grep -x "wait 4000" <<<"$output"
    grep -x "waitall 8000" <<<"$output"
    grep -x "packed 17000" <<<"$output"
    grep -x "unpacked 17000" <<<"$output"
    grep -x "alltoall 12000" <<<"$output"
    PARFOCAL_ANALYTIC_SET="$parameters; copy_latency = 20 us" run pfrun $flags ./overheads
    echo "$output"
    [ "$status" -eq 0 ]
    grep -x "late 24000" <<<"$output"
    grep -x "second 4000" <<<"$output"
    grep -x "third 4000" <<<"$output"
}

# Where two ways are as short (a ring of an even number), packets and SimGrid choose differently.
@test "a topology by arithmetic has the links of the built-in platform" {
    "$PF_BIN/pfcc" -O1 -o cg "$BATS_TEST_DIRNAME/../../../examples/cg/cg.c" -lm
    for shape in torus:2x2x2 ring:9 star:8 hyperx:2x2,2 twisted:4x2; do
        for topology in platform "$shape;link_latency=200ns;link_bandwidth=11.1GB/s"; do
            PARFOCAL_ANALYTIC_SET="topology=$topology" pfrun -np 8 -platform $shape -model analytic --cfg=smpi/simulate-computation:no ./cg -n 16 |
                grep "slowest rank took" >"${topology%%:*}.txt"
        done
        cmp platform.txt "${shape%%:*}.txt"
    done
}
