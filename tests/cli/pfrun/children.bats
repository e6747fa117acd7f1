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

@test "exec by all its names" {
    cat >execs.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    static char *arguments[] = {"sh", "-c", "echo $NAME; exit 3", NULL}, *environment[] = {"NAME=new", NULL};
    const char *how = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    if (strcmp(how, "execl") == 0)
        execl("/bin/sh", "sh", "-c", "echo $NAME; exit 3", NULL);
    if (strcmp(how, "execlp") == 0)
        execlp("sh", "sh", "-c", "echo $NAME; exit 3", NULL);
    if (strcmp(how, "execle") == 0)
        execle("/bin/sh", "sh", "-c", "echo $NAME; exit 3", NULL, environment);
    if (strcmp(how, "execv") == 0)
        execv("/bin/sh", arguments);
    if (strcmp(how, "execvp") == 0)
        execvp("sh", arguments);
    if (strcmp(how, "execve") == 0)
        execve("/bin/sh", arguments, environment);
    if (strcmp(how, "execvpe") == 0)
        execvpe("sh", arguments, environment);
    if (strcmp(how, "fexecve") == 0)
        fexecve(open("/bin/sh", O_RDONLY), arguments, environment);
    if (strcmp(how, "execveat") == 0)
        execveat(open("/bin", O_PATH), "sh", arguments, environment, 0);
    return execv("/nosuch", arguments) == -1 ? 4 : 5;
}
END
    "$PF_BIN/pfcc" -w -o execs execs.c
    for how in execl execlp execle execv execvp execve execvpe fexecve execveat; do
        run env NAME=old "$PF_BIN/pfrun" -quiet --log=root.thres:critical -np 2 ./execs $how
        echo "$how $status $output"
        [ "$status" -eq 3 ]
        case $how in *e | *at | *vpe) [ "$(xargs <<<"$output")" = "new new" ] ;; *) [ "$(xargs <<<"$output")" = "old old" ] ;; esac
    done
    run "$PF_BIN/pfrun" -quiet --log=root.thres:critical -np 2 ./execs nosuch
    [ "$status" -eq 4 ]
}
