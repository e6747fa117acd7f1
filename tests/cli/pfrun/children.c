/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that a rank makes: they end as processes do, and the simulation goes on once. Each rank writes a
 * line before, by stdio, and one behind; the argument says how the child ends.
 */
#include <mpi.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int rank, size;

static int status_of(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Returns in the child only if that is to return from main. */
static int by_fork(const char *how)
{
    pid_t child = fork();
    if (child != 0)
        return status_of(child);
    if (strcmp(how, "exit") == 0) {
        printf("child of %d\n", rank);
        exit(7);
    }
    if (strcmp(how, "ask") == 0) {
        int own = -1, size = -1;
        MPI_Comm_rank(MPI_COMM_WORLD, &own);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        _exit(own == rank && size == 3 ? 7 : 1);
    }
    if (strcmp(how, "_exit") == 0)
        _exit(7);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "terminated") == 0)
        kill(getpid(), SIGTERM);
    if (strcmp(how, "mpi") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "MPI_Abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(how, "sleep") == 0) {
        usleep(1000);
        exit(getpid() > 1000 || getppid() > 1 ? 7 : 8);
    }
    return -2;
}

static int by_others(const char *how)
{
    char *const command[] = {"sh", "-c", "exit 7", NULL};
    pid_t child;
    if (strcmp(how, "system") == 0)
        return WEXITSTATUS(system("exit 7"));
    if (strcmp(how, "popen") == 0) {
        char line[20] = "";
        FILE *pipe = popen("echo seven", "r");
        if (!pipe || !fgets(line, sizeof line, pipe) || strcmp(line, "seven\n") != 0)
            return -1;
        return pclose(pipe) == 0 ? 7 : -1;
    }
    if (strcmp(how, "spawn") == 0)
        return posix_spawn(&child, "/bin/sh", NULL, NULL, command, environ) == 0 ? status_of(child) : -1;
    if ((child = vfork()) == 0) {
        execv("/bin/sh", command);
        _exit(1);
    }
    return status_of(child);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "exit";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("before %d\n", rank);
    int forks = strcmp(how, "system") && strcmp(how, "popen") && strcmp(how, "spawn") && strcmp(how, "vfork");
    int status = forks ? by_fork(how) : by_others(how);
    if (status == -2)
        return 7;
    MPI_Barrier(MPI_COMM_WORLD);
    printf("after %d: %d\n", rank, status);
    MPI_Finalize();
    return 0;
}
