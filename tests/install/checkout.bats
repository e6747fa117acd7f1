# SPDX-License-Identifier: BSD-3-Clause
# Checkouts that are copied and renamed, what run-tests shows and .ci/run counts, with a small project in place of this one: setup.sh, run-tests,
# meson and ninja are the real ones.

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset BUILD_DIR
    mkdir -p first/scripts
    local top=$BATS_TEST_DIRNAME/../..
    cp "$top/scripts/setup.sh" "$top/scripts/skipped.py" first/scripts/
    cp "$top/run-tests" "$top/meson_options.txt" first/
    echo "meson build this test" >first/scripts/packages.txt
    cat >first/meson.build <<'MESON'
project('small', 'c')
executable('where', 'where.c', c_args: '-DPLACE="' + meson.project_source_root() + '"')
if get_option('tests')
  test('first', find_program('true'), suite: 'small', is_parallel: false, priority: 1)
  test('second', find_program('sh'), args: ['-c', 'for i in $(seq 100); do [ ! -e ' + meson.project_build_root() / 'seen' +
    ' ] || exit 0; sleep 0.2; done; exit 1'], suite: 'small', is_parallel: false)
endif
MESON
    printf '#include <stdio.h>\nint main(void) { puts(PLACE); }\n' >first/where.c
}

# where FOLDER: sets the checkout up; its program must hold its own folder
where() {
    run timeout 120 "$1/scripts/setup.sh" build
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$("$1/build/where")" = "$(realpath "$1")" ]
}

@test "a checkout that was renamed, to a name with a space" {
    where first
    [ "$(grep -c afresh <<<"$output")" -eq 0 ]
    mv first 'the second'
    where 'the second'
    grep "configured in another folder: starting afresh" <<<"$output"
    where 'the second'
    [ -z "$output" ]
}

@test "a copy of a built checkout uses nothing of the other one" {
    where first
    cp -a first second
    where second
    rm -rf first
    where second
    [ -z "$output" ]
}

@test "tests are configured when they are asked for, and stay" {
    where first
    [ "$(meson introspect first/build --tests)" = '[]' ]
    timeout 120 first/scripts/setup.sh build test
    meson introspect first/build --tests | grep '"second"'
    where first
    meson introspect first/build --tests | grep '"second"'
}

@test "run-tests shows each result at once, also in a pipe" {
    # The second test waits until the loop has read the result of the first.
    timeout 120 first/run-tests | while IFS= read -r line; do
        echo "$line"
        case $line in *first*OK*) touch first/build/seen ;; esac
    done >output
    cat output
    [ "$(tail -n 1 output)" = "2 passed, 0 failed, 0 skipped" ]
}

# script FILE LINE...: what stands in for a step of .ci/run
script() {
    local file=$1
    shift
    mkdir -p "$(dirname "$file")"
    printf '%s\n' '#!/bin/sh' "$@" >"$file"
    chmod +x "$file"
}

# ci CI STATUS LAST-LINE
ci() {
    CI=$1 run timeout 60 .ci/run
    echo "$output"
    [ "$((status != 0))" -eq "$2" ]
    [ "${lines[-1]}" = "$3" ]
}

@test ".ci/run adds up; where no machine can be made it says so, and fails in CI" {
    mkdir .ci
    cp "$BATS_TEST_DIRNAME/../../.ci/run" .ci/
    script scripts/setup.sh :
    script run-tests 'echo "3 passed, 0 failed, 0 skipped"'
    script tests/install/fresh_machine.sh 'echo "7 passed, 0 failed"'
    script tests/install/container.sh 'echo "1 passed, 0 failed"'
    ci true 0 "11 passed, 0 failed, 0 skipped"
    script tests/install/fresh_machine.sh 'echo "5 passed, 2 failed"' 'exit 1'
    ci '' 1 "9 passed, 2 failed, 0 skipped"
    script tests/install/fresh_machine.sh 'echo "skipped: not root"' 'exit 77'
    ci '' 0 "4 passed, 0 failed, 1 skipped"
    grep "skipped: not root" <<<"$output"
    ci true 1 "4 passed, 1 failed, 1 skipped"
    script tests/install/container.sh 'echo "skipped: not root"' 'exit 77'
    ci true 1 "3 passed, 2 failed, 2 skipped"
    script run-tests 'echo "it does not build"' 'exit 1'
    ci '' 1 "0 passed, 1 failed, 2 skipped"
    script tests/install/fresh_machine.sh 'echo "7 passed, 0 failed"'
    script tests/install/container.sh 'echo "1 passed, 0 failed"'
    script run-tests 'echo "2 passed, 0 failed, 3 skipped"' '[ "$CI" != true ]'
    ci '' 0 "10 passed, 0 failed, 3 skipped"
    ci true 1 "10 passed, 1 failed, 3 skipped"
}

# tests_of_first NAME COMMAND...: these are the tests of the small project, each one a shell script
tests_of_first() {
    echo "project('small')" >first/meson.build
    echo "option('tests', type: 'boolean')" >first/meson_options.txt
    while [ $# -gt 0 ]; do
        script "first/$1" "$2"
        echo "test('$1', files('$1'), suite: 'small')" >>first/meson.build
        shift 2
    done
}

# skips CI STATUS LAST-LINE
skips() {
    CI=$1 run timeout 300 first/run-tests
    echo "$output"
    [ "$((status != 0))" -eq "$2" ]
    [ "${lines[-1]}" = "$3" ]
}

@test "run-tests names what was skipped or failed; a skip fails in CI" {
    printf '%s\n' '@test "a part" { skip "no reason # at all"; }' '@test "not skipped" { echo "# skip"; }' '@test "no why" { skip; }' >first/some.bats
    printf '%s\n' 'import unittest' 'class Some(unittest.TestCase):' '    @unittest.skip("too old")' '    def test_it(self): pass' \
        '    def test_more(self): self.skipTest("too new")' '    def test_good(self): pass' 'unittest.main()' >first/some.py
    tests_of_first good 'echo "skipped nothing"' whole 'echo "no compiler"; exit 77' inbats "env -i PATH=/usr/local/bin:/usr/bin:/bin bats \"$PWD/first/some.bats\"" \
        unnamed "python3 \"$PWD/first/some.py\"" named "python3 \"$PWD/first/some.py\" -v" incmocka 'echo "[  SKIPPED ] test_c"'
    skips '' 0 "5 passed, 0 failed, 8 skipped"
    [ "$(grep -c '^skipped: ' <<<"$output")" -eq 8 ]
    grep 'skipped: whole: all of it (no compiler)$' <<<"$output"
    grep 'skipped: inbats: a part (no reason # at all)$' <<<"$output"
    grep 'skipped: inbats: no why$' <<<"$output"
    grep "skipped: named: test_it .*('too old')$" <<<"$output"
    grep "skipped: named: test_more .*('too new')$" <<<"$output"
    [ "$(grep -c 'skipped: unnamed: a part that it does not name$' <<<"$output")" -eq 2 ]
    grep 'skipped: incmocka: test_c$' <<<"$output"
    skips true 1 "5 passed, 0 failed, 8 skipped"
    tests_of_first good 'echo "skipped nothing"'
    skips true 0 "1 passed, 0 failed, 0 skipped"
    tests_of_first good 'exit 0' bad 'exit 1' inbats 'echo "ok 1 right"; echo "not ok 2 wrong"; exit 1' incmocka 'echo "[  FAILED  ] tests: 1 test(s), listed below:"; echo "[  FAILED  ] test_c"; exit 1'
    skips '' 1 "1 passed, 3 failed, 0 skipped"
    [ "$(grep '^failed: ' <<<"$output" | sort)" = $'failed: bad: fail\nfailed: inbats: wrong\nfailed: incmocka: test_c' ]
}
