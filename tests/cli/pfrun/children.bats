# SPDX-License-Identifier: BSD-3-Clause
# Processes that a rank makes: a child is no rank, and whatever it does the run goes on once.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/children
    "$PF_BIN/pfcc" -g -w -o "$APP" "$BATS_TEST_DIRNAME/children.c"
}

# child HOW STATUS FURTHER-LINES pfrun-arguments...
child() {
    local how=$1 status_of_child=$2 further=$3
    shift 3
    run pfrun -np 3 -report report "$@" "$APP" "$how"
    echo "$output"
    [ "$status" -eq 0 ]
    for rank in 0 1 2; do
        [ "$(grep -c "^before $rank\$" <<<"$output")" -eq 1 ]
        [ "$(grep -c "^after $rank: $status_of_child\$" <<<"$output")" -eq 1 ]
    done
    [ "$(grep -c "$further" <<<"$output")" -eq "$([ "$further" = "nothing more" ] && echo 0 || echo 3)" ]
    [ -s report/summary.json ]
}

@test "exit in a child" { child exit 7 "^child of [0-2]"; }
@test "exit in a child, portals" { child exit 7 "^child of [0-2]" -model portals; }
@test "exit in a child, analytic" { child exit 7 "^child of [0-2]" -model analytic; }
@test "_exit in a child" { child _exit 7 "nothing more"; }
@test "a child returns from main" { child return 7 "nothing more"; }
@test "a child aborts" { child abort 1006 "nothing more"; }
@test "a child is terminated" { child terminated 1015 "nothing more"; }
@test "a child sleeps in real time" { child sleep 7 "nothing more"; }
@test "a child calls MPI" { child mpi 1 "MPI_Barrier was called in a child process of a rank, which is no rank"; }
@test "a child asks for its rank" { child ask 7 "nothing more"; }
@test "a child calls MPI_Abort" { child MPI_Abort 9 "nothing more"; }
@test "system" { child system 7 "nothing more"; }
@test "popen" { child popen 7 "nothing more"; }
@test "posix_spawn" { child spawn 7 "nothing more"; }
@test "vfork" { child vfork 7 "nothing more"; }
