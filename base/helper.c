/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and runs the helper programs of the tools. */
#include "base/helper.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"

static char *if_runs(char *path)
{
    char *result = access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;
    free(path);
    return result;
}

char *pf_helper_find(const char *name)
{
    char *own = realpath("/proc/self/exe", NULL), *slash = own ? strrchr(own, '/') : NULL, *found = NULL;
    if (slash) {
        *slash = 0;
        found = if_runs(pf_asprintf("%s/../%s/%s", own, name, name));
        if (!found)
            found = if_runs(pf_asprintf("%s/%s", own, name));
        if (!found)
            found = if_runs(pf_asprintf("%s/../libexec/parfocal/%s", own, name));
    }
    free(own);
    return found ? found : if_runs(pf_asprintf("%s/%s", PF_LIBEXEC, name));
}

pid_t pf_helper_start(const char *name, char **words, char **variables, const int files[3])
{
    char *path = pf_helper_find(name);
    posix_spawn_file_actions_t actions;
    pid_t child;
    if (!path)
        pf_die("the helper program is missing: " PF_LIBEXEC "/%s", name);
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; i++)
        posix_spawn_file_actions_adddup2(&actions, files[i], i);
    int error = posix_spawn(&child, path, &actions, NULL, words, variables);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        pf_die("cannot run '%s': %s", path, strerror(error));
    free(path);
    return child;
}

int pf_helper_wait(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

void pf_helper_run(const char *name, char **words, int in, int out)
{
    if (pf_helper_wait(pf_helper_start(name, words, environ, (int[]){in, out, STDERR_FILENO})) == 0)
        return;
    pf_end_because("%s has failed", name);
    pf_end_process(1);
}
