# SPDX-License-Identifier: BSD-3-Clause
# Checkouts that are copied and renamed, and what run-tests shows, with a small project in place of this one: setup.sh, run-tests,
# meson and ninja are the real ones.

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset BUILD_DIR
    mkdir -p first/scripts
    local top=$BATS_TEST_DIRNAME/../..
    cp "$top/scripts/setup.sh" first/scripts/
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
    # The second test waits until somebody has seen the result of the first.
    timeout 120 first/run-tests | while IFS= read -r line; do
        echo "$line"
        case $line in *first*OK*) touch first/build/seen ;; esac
    done >output
    cat output
    [ "$(tail -n 1 output)" = "2 passed, 0 failed" ]
}
