# SPDX-License-Identifier: BSD-3-Clause
# One-sided communication in model analytic: exact simulated times, and no other model is needed for it.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/windows
    "$PF_BIN/pfcc" -O1 -o "$APP" "$BATS_TEST_DIRNAME/windows.c" -lm
    export PARFOCAL_ANALYTIC_SET="defaults = plain; call = 10 ns; overhead_send = 100 ns; latency = 1 us; latency_factor = 0; bandwidth = 1 GB/s
        ; gap = 20 ns; nic_bandwidth = 2 GB/s; control_latency = 700 ns; reserve = 0 ns
        ; memory.overhead_send = 100 ns; memory.latency = 300 ns; memory.latency_factor = 0; memory.bandwidth = 4 GB/s
        ; memory.control_latency = 200 ns"
}

@test "times of one-sided communication" {
    run pfrun -np 3 -model analytic -load analytic --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 "$APP"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = "windows: as the formulae say" ]
}

@test "-explain counts what crosses the network and the memory" {
    run pfrun -np 3 -model analytic -explain --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 "$APP"
    echo "$output"
    [ "$status" -eq 0 ]
    grep "one-sided: 16 messages" <<<"$output"
    grep "one-sided: 1 messages, 8000 bytes" <<<"$output"
}

@test "MPI_Win_lock does not wait for a lock that its holder gives back later" {
    "$PF_BIN/pfcc" -O1 -o latelock "$BATS_TEST_DIRNAME/latelock.c"
    for np in 3 6; do
        run pfrun -np $np -model analytic ./latelock
        echo "$output"
        [ "$status" -eq 0 ]
        [ "$(grep -v smpi_config <<<"$output")" = "late locks: PASS" ]
    done
}

@test "an unlock waits for its own target, a locked window can be freed, accumulates keep their order, and no memory and no datatype are found" {
    unset PARFOCAL_ANALYTIC_SET
    "$PF_BIN/pfcc" -O1 -o misused "$BATS_TEST_DIRNAME/misused.c"
    for set in "windows = pt2pt" "windows = nic" "windows = words"; do
        for what in locks freed order; do
            PARFOCAL_ANALYTIC_SET=$set run pfrun -np 4 -quiet -model analytic --log=root.thres:critical ./misused $what
            echo "$output"
            [ "$status" -eq 0 ]
            [ -z "$output" ]
        done
    done
    PARFOCAL_CHECK=yes run pfrun -np 2 -model analytic ./misused memory
    [ "$status" -eq 86 ]
    [[ "$output" == *"rank 0: MPI_Win_create at "*": the memory is NULL and the size 8"* ]]
    run pfrun -np 2 -model analytic ./misused type
    [ "$status" -eq 3 ]
    [[ "$output" == *"MPI_Alltoallv, called at "*"MPI_ERR_TYPE"* ]]
}
