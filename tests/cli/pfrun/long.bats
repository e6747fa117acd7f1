# SPDX-License-Identifier: BSD-3-Clause
# Messages of 2 GiB and more: carried whole, or refused before anything is sent.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/long
    "$PF_BIN/pfcc" -O1 -o "$APP" "$BATS_TEST_DIRNAME/long.c"
}

@test "carried in analytic" {
    [ "$(awk '/MemAvailable/ { print $2 }' /proc/meminfo)" -gt 5000000 ] || skip "a message needs 2.2 GB of memory on its way"
    # Not pfrun(), whose time is too short to fill so much memory on a busy machine.
    run timeout -k 5 900 "$PF_BIN/pfrun" --log=root.thres:critical -np 2 -model analytic "$APP" carried
    echo "$output"
    [ "$status" -eq 0 ]
    grep -Fx "long messages: carried" <<<"$output" # there may be a warning that dates are estimates
}

@test "their lengths in analytic, without the data" {
    PARFOCAL_ANALYTIC_DATA=no run pfrun -np 2 -model analytic "$APP" lengths
    echo "$output"
    [ "$status" -eq 0 ]
    grep -Fx "long messages: lengths" <<<"$output"
}

@test "refused in smpi, by name" {
    run pfrun -np 2 "$APP" refused
    echo "$output"
    [ "$status" -eq 0 ]
    grep "^long messages: refused" <<<"$output"
    grep "MPI_Send: 2100 items of 1048576 bytes are more than model smpi can carry" <<<"$output"
}
