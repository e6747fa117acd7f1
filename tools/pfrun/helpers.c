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
            found = if_runs(pf_asprintf("%s/../libexec/parfocal/%s", own, name));
    }
    free(own);
    return found ? found : if_runs(pf_asprintf("%s/%s", PF_LIBEXEC, name));
}

void helper_sample(const char *flag, char **argv)
{
    char *path = helper_find("pfsample");
    if (!path)
        pf_die("%s: the sampling tool is missing: " PF_LIBEXEC "/pfsample", flag);
    execv(path, argv);
    pf_die("%s: cannot run '%s': %s", flag, path, strerror(errno));
}
