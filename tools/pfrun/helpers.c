/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the helper programs of pfrun and pfinfo. */
#include "tools/pfrun/helpers.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"

static char *if_runs(char *path)
{
    char *result = access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;
    free(path);
    return result;
}

char *helper_find(const char *name)
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

void helper_sample(char *given, char **argv, int options)
{
    char *path = helper_find("pfsample"), **words;
    int count = 0;
    if (!path)
        pf_die("-sample: the sampling tool is missing: " PF_LIBEXEC "/pfsample");
    while (argv[count])
        count++;
    words = pf_calloc((size_t)count + 3, sizeof *words);
    words[0] = argv[0];
    words[1] = given;
    words[2] = pf_asprintf("%d", options - 1);
    memcpy(words + 3, argv + 1, (size_t)(count - 1) * sizeof *words);
    execv(path, words);
    pf_die("-sample: cannot run '%s': %s", path, strerror(errno));
}
