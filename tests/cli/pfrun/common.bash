# SPDX-License-Identifier: BSD-3-Clause
# Shared by the tests of pfrun. PF_BIN: directory of the tools. Temporary files of pfrun go to a directory of the test, so
# that a leftover shows.

setup_file() {
    export APP=$BATS_FILE_TMPDIR/faults
    "$PF_BIN/pfcc" -g -o "$APP" "$BATS_TEST_DIRNAME/faults.c"
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    mkdir tmp
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
}

teardown() {
    [ -z "$(ls -A tmp)" ] || { echo "left behind: $(ls -R tmp)"; return 1; }
}

# pfrun with its errors alone on stderr; SimGrid's information is not ours to test.
pfrun() {
    timeout -k 5 300 "$PF_BIN/pfrun" --log=root.thres:critical "$@"
}

# refuses TEXT pfrun-arguments...: exit status 1 and one line of error that holds TEXT
refuses() {
    local text=$1
    shift
    run pfrun "$@"
    echo "$output"
    [ "$status" -eq 1 ]
    [ "$(grep -c '^parfocal: error: ' <<<"$output")" -eq 1 ]
    grep -F -- "$text" <<<"$output"
}

# What holds of Open MPI 4.1's messages only: Open MPI 5 chooses other algorithms, and has one-sided communication by the NIC.
only_openmpi_4() {
    case ${PF_OPENMPI:-4} in 4*) ;; *) skip "this is Open MPI $PF_OPENMPI" ;; esac
}
