# SPDX-License-Identifier: BSD-3-Clause
# How far a run is, while it runs: -progress and SIGUSR1.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/question
    "$PF_BIN/pfcc" -g -O1 -o "$APP" "$BATS_TEST_DIRNAME/question.c"
}

LINE='^parfocal: after [0-9.]+ (us|ms|s): simulated [0-9.]+ (us|ms|s), asking in smpi'

@test "SIGUSR1: one line, and the run goes on" {
    run pfrun -np 2 --cfg=smpi/simulate-computation:no "$APP"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^parfocal: ' <<<"$output")" -eq 1 ]
    grep -E "$LINE, 3 messages \([0-9.]+ (k|M)?/s\), [0-9.]+ MiB$" <<<"$output"
    grep -F ': simulated 1.000 ms, ' <<<"$output"
}

@test "SIGUSR1: ranks in different phases" {
    run pfrun -np 5 -schedule asking=analytic --cfg=smpi/simulate-computation:no "$APP" 0 elsewhere
    echo "$output"
    grep -E ', asking in analytic \(3 of 5 ranks\), 3 messages' <<<"$output"
}

@test "-progress in a pipe: line after line, and the simulated time of the run without" {
    PARFOCAL_SUMMARY=plain.json pfrun -np 2 --cfg=smpi/simulate-computation:no "$APP"
    PARFOCAL_PROGRESS=0.02 PARFOCAL_SUMMARY=watched.json run pfrun -np 2 --cfg=smpi/simulate-computation:no "$APP" 300000000
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -cE "$LINE, 3 messages" <<<"$output")" -ge 3 ]
    [ "$(grep '^  "simulated_s"' plain.json)" = "$(grep '^  "simulated_s"' watched.json)" ]
}

@test "-progress on a terminal: one line, taken away at the end" {
    run timeout 60 python3 "$BATS_TEST_DIRNAME/terminal.py" "$PF_BIN/pfrun" -progress -np 2 --cfg=parfocal/progress:0.02 "$APP" 300000000
    echo "$output"
    [ "$status" -eq 0 ]
    grep -F 'asking in smpi, 3 messages' <<<"$output"
    grep -E '\\x1b\[K\\rparfocal' <<<"$output"
    [[ "$output" == *'\x1b[K' ]]
}

@test "-progress on a narrow terminal: the line is cut, because a second one would stay" {
    run timeout 60 python3 "$BATS_TEST_DIRNAME/terminal.py" 50 "$PF_BIN/pfrun" -progress -np 2 --cfg=parfocal/progress:0.02 "$APP" 300000000
    echo "$output"
    [ "$status" -eq 0 ]
    grep -E '\\rparfocal: after [^\]{33}\\x1b\[K\\r' <<<"$output"
    [ "$(grep -cE 'messages[^\\]*\\x1b' <<<"$output")" -eq 0 ] # the program asks once itself: that line is whole
}
