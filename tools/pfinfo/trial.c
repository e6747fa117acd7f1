/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles and runs a small program in a directory of its own. */
#include "tools/pfinfo/trial.h"

#include <errno.h>
#include <signal.h>
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

/* What a signal that ends this process must not leave behind. */
static struct trial *volatile open_trial;
static volatile pid_t child;

/* What runs ends first, because it still writes. */
static void stop(int number)
{
    if (open_trial && child > 0) {
        kill(child, SIGTERM);
        waitpid(child, NULL, 0);
    }
    if (open_trial)
        trial_end(open_trial);
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_ends(struct trial *trial)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    open_trial = trial;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (signal(ends[i], stop) == SIG_IGN)
            signal(ends[i], SIG_IGN);
}

/* Returns 0 in the child. No signal comes while it is not known what each process has to remove. */
static pid_t start(void)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        open_trial = NULL;
    child = pid;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

int trial_run(struct trial *trial, char *const argv[])
{
    if (start() == 0) {
        if (!freopen(trial->output, "w", stdout) || dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
            _exit(127);
        alarm(trial->seconds ? trial->seconds : RUN_SECONDS); /* survives exec */
        execv(argv[0], argv);
        _exit(127);
    }
    int status;
    bool ended = child > 0 && waitpid(child, &status, 0) == child;
    child = 0;
    if (!ended)
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

/* The tools in the folder of this one. */
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
        return "pfcc and pfrun are not in the folder of pfinfo";
    snprintf(trial->dir, sizeof trial->dir, "%.3000s/pfinfo-XXXXXX", trial_temporary());
    catch_ends(trial);
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
    open_trial = NULL;
    unlink(trial->source);
    unlink(trial->app);
    unlink(trial->output);
    rmdir(trial->dir);
}
