# SPDX-License-Identifier: BSD-3-Clause
# Ranks that wait by looking in model analytic look at the dates at which they would without running ahead.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/probes HOSTS=$BATS_FILE_TMPDIR/hosts
    "$PF_BIN/pfcc" -O1 -o "$APP" "$BATS_TEST_DIRNAME/probes.c" -lm
    printf 'node-1000\nnode-1001 slots=2\n' >"$HOSTS"
    export PARFOCAL_ANALYTIC_SET="defaults = plain; latency = 1050 ns; latency_factor = 0; bandwidth = 1 GB/s
        ; memory.latency = 150 ns; memory.latency_factor = 0; memory.bandwidth = 4 GB/s"
}

probes() {
    run pfrun -np 3 -hostfile "$HOSTS" -model analytic --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 "$@" "$APP"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = "looks: at their dates" ]
}

@test "looks find messages at their dates" {
    probes -load analytic
}

@test "and with another model loaded" {
    probes -load analytic,smpi
}
