# SPDX-License-Identifier: BSD-3-Clause
# Switches in the account: simulated times, the models of calls, the ledger's tags.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/switches
    "$PF_BIN/pfcc" -g -o "$APP" "$BATS_TEST_DIRNAME/switches.c"
}

@test "what a rank is ahead of the clock belongs to the phase and the model before the switch" {
    for parts in phase model; do
        PARFOCAL_SUMMARY=summary.json PARFOCAL_ANALYTIC_SET="defaults = plain; overhead_send = 3 us" run pfrun -np 2 -model analytic \
            --cfg=smpi/simulate-computation:no "$APP" ahead $parts
        echo "$output"
        [ "$status" -eq 0 ]
        python3 - <<'END'
import json
row, = [row for row in json.load(open("summary.json"))["phases"] if row["phase"] == "send" and row["model"] == "analytic"]
assert abs(row["simulated_s"] - 3e-6) < 1e-12, row
END
    done
}

@test "calls that the model in force cannot answer are counted" {
    for model in smpi portals; do
        PARFOCAL_SUMMARY=summary.json run pfrun -np 2 -model $model "$APP" file
        echo "$output"
        [ "$status" -eq 0 ]
        python3 - $model <<'END'
import json, sys
promoted = [row["fallback_calls"] for row in json.load(open("summary.json"))["phases"]]
assert sum(promoted) == (2 * 3 if sys.argv[1] == "smpi" else 0), promoted  # of each rank MPI_File_open, _write_at and _close
END
        rm file.data
    done
}

@test "tags that the ledger gives to messages come back" {
    PARFOCAL_OPENMPI_MESSAGES=messages run pfrun -np 2 -schedule 'every:1=portals|portals-ideal' "$APP" tags
    echo "$output"
    [ "$status" -eq 0 ]
    awk -F, 'NR > 1 && $4 == 8 { n++; if ($5 > most) most = $5 } END { print n, most; exit !(n >= 200 && most < 10) }' messages
    rm messages
}

@test "a probe in every model, where no implementation has to be advanced" {
    tests=$BATS_TEST_DIRNAME/../..
    "$PF_BIN/pfcc" -I "$tests/e2e/programs" -I "$tests/random" -o "$BATS_TEST_TMPDIR/program" "$tests/random/randprog.c" -lm
    E2E_A=analytic E2E_B=smpi run pfrun -np 2 -quiet -model analytic -load smpi --cfg=smpi/simulate-computation:no "$BATS_TEST_TMPDIR/program" 48 60 free
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "with -agree strict a cancelled receive is no received message" {
    for stack in portals ucx mpich; do
        "$PF_BIN/pfinfo" | grep -q "^  $stack  *available" || continue
        run pfrun -np 2 -quiet -agree strict "$APP" cancelled $stack $stack:packet
        echo "$stack: $output"
        [ "$status" -eq 0 ]
    done
}
