/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles and runs a small program in a directory of its own. */
#include "tools/pfinfo/trial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUN_SECONDS 120

const char *trial_temporary(void)
{
    const char *dir = getenv("TMPDIR");
    return dir && *dir ? dir : "/tmp";
}

int trial_run(struct trial *trial, char *const argv[])
{
    pid_t child = fork();
    if (child == 0) {
        if (!freopen(trial->output, "w", stdout) || dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
            _exit(127);
        alarm(trial->seconds ? trial->seconds : RUN_SECONDS); /* survives exec */
        execv(argv[0], argv);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

const char *trial_last_line(struct trial *trial, char *line, size_t size)
{
    char next[400];
    FILE *file = fopen(trial->output, "r");
    *line = 0;
    while (file && fgets(next, sizeof next, file))
        if (strspn(next, " \t\n") != strlen(next))
            snprintf(line, size, "%.*s", (int)strcspn(next, "\n"), next);
    if (file)
        fclose(file);
    return line;
}

/* The tools beside this one. */
static bool find_tools(struct trial *trial)
{
    char own[PATH_MAX - 100];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0)
        return false;
    own[length] = 0;
    char *slash = strrchr(own, '/');
    *slash = 0;
    snprintf(trial->pfrun, sizeof trial->pfrun, "%s/pfrun", own);
    snprintf(trial->pfcc, sizeof trial->pfcc, "%s/pfcc", own);
    if (access(trial->pfrun, X_OK) != 0 || access(trial->pfcc, X_OK) != 0) {
        /* In a build directory each tool has its own folder, and bin/ collects them. */
        snprintf(trial->pfrun, sizeof trial->pfrun, "%s/../../bin/pfrun", own);
        snprintf(trial->pfcc, sizeof trial->pfcc, "%s/../../bin/pfcc", own);
    }
    return access(trial->pfrun, X_OK) == 0 && access(trial->pfcc, X_OK) == 0;
}

const char *trial_begin(struct trial *trial)
{
    static char problem[PATH_MAX + 100];
    if (!find_tools(trial))
        return "pfcc and pfrun are not beside pfinfo";
    snprintf(trial->dir, sizeof trial->dir, "%.3000s/pfinfo-XXXXXX", trial_temporary());
    if (!mkdtemp(trial->dir)) {
        snprintf(problem, sizeof problem, "cannot make '%s': %s", trial->dir, strerror(errno));
        return problem;
    }
    snprintf(trial->source, sizeof trial->source, "%s/trial.c", trial->dir);
    snprintf(trial->app, sizeof trial->app, "%s/trial", trial->dir);
    snprintf(trial->output, sizeof trial->output, "%s/output", trial->dir);
    return NULL;
}

void trial_end(struct trial *trial)
{
    unlink(trial->source);
    unlink(trial->app);
    unlink(trial->output);
    rmdir(trial->dir);
}
