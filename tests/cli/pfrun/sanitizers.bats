# SPDX-License-Identifier: BSD-3-Clause
# Programs that were compiled with sanitizers.
load common.bash

setup_file() {
    export DIR=$BATS_FILE_TMPDIR/"with space"
    mkdir -p "$DIR"
    "$PF_BIN/pfcc" -g -w -fsanitize=address,undefined -o "$DIR/sanitizers" "$BATS_TEST_DIRNAME/sanitizers.c"
    unset ASAN_OPTIONS UBSAN_OPTIONS # meson sets both, so that what is found aborts
}

asan() { # the model, and the program's argument
    run pfrun -np 4 -quiet -model "$1" --cfg=smpi/simulate-computation:no "$DIR/sanitizers" "$2"
    echo "$output"
}

@test "a program with AddressSanitizer and no fault runs in every model" {
    for model in analytic smpi portals packet; do
        asan $model none
        [ "$status" -eq 0 ]
        grep -q "sum 6 of rank 0" <<<"$output"
        ! grep -q "ERROR: AddressSanitizer" <<<"$output"
    done
}

# found WHAT FAULT: it is reported with its line, and the rank is named
found() {
    local line
    line=$(grep -n "$3" "$BATS_TEST_DIRNAME/sanitizers.c" | head -n 1 | cut -d: -f1)
    asan "$1" "$2"
    [ "$status" -eq 134 ]
    grep -q "ERROR: AddressSanitizer: $4" <<<"$output"
    grep -q "SUMMARY: .*sanitizers.c:$line in main" <<<"$output"
    grep -q "^parfocal: error: rank 3: .*sanitizers.c:$line" <<<"$output"
}

@test "faults of the heap, of variables, and of the stack are found" {
    found smpi heap 'numbers.beyond. = 1' heap-buffer-overflow
    found analytic global 'shared_by_nobody.beyond. = 1' global-buffer-overflow
    found portals stack 'local.beyond.' stack-buffer-overflow
    found smpi freed 'numbers.0. = 1;' heap-use-after-free
}

@test "a message that is longer than its memory is found" {
    for model in smpi portals; do
        asan $model message
        [ "$status" -ne 0 ]
        grep -q "ERROR: AddressSanitizer: heap-buffer-overflow" <<<"$output"
        grep -q "READ of size 20" <<<"$output"
    done
}

@test "undefined behaviour is found" {
    asan smpi overflow
    [ "$status" -eq 0 ]
    grep -q "sanitizers.c:[0-9:]* runtime error: signed integer overflow" <<<"$output"
}

@test "what cannot be is refused in one line" {
    for option in -fsanitize=thread -fsanitize=address,leak "-fsanitize=address -static-libasan"; do
        run "$PF_BIN/pfcc" $option -o "$DIR/none" "$BATS_TEST_DIRNAME/sanitizers.c"
        echo "$output"
        [ "$status" -eq 1 ] && [ ! -e "$DIR/none" ]
        [ "$(wc -l <<<"$output")" -eq 1 ]
        grep -q "^pfcc: error: " <<<"$output"
    done
    PARFOCAL_CC=clang run "$PF_BIN/pfcc" -fsanitize=address -o "$DIR/none" "$BATS_TEST_DIRNAME/sanitizers.c"
    grep -q "^pfcc: error: -fsanitize=address works with gcc" <<<"$output"
}
