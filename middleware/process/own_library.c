/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and opens those of our libraries that have the names of another MPI. */
#include "middleware/process/own_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

void *pf_own_library_open(const char *installed, const char *built)
{
    const char *const places[] = {installed, built};
    Dl_info here;
    char path[PATH_MAX];
    const char *slash = dladdr((void *)pf_own_library_open, &here) ? strrchr(here.dli_fname, '/') : NULL;
    int length = slash ? (int)(slash + 1 - here.dli_fname) : 0;
    void *opened = NULL;
    for (int i = 0; i < 2 && !opened; i++)
        if (snprintf(path, sizeof path, "%.*s%s", length, here.dli_fname, places[i]) < PATH_MAX)
            opened = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!opened)
        pf_die("cannot load %s: %s", built, dlerror());
    return opened;
}

void *pf_own_library_open_openmpi(void)
{
    return pf_own_library_open("parfocal/openmpi/libmpi.so.40", "ompi_abi/libmpi.so.40");
}
