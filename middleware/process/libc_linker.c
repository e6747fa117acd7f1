/* SPDX-License-Identifier: BSD-3-Clause */
/* What the dynamic linker says of a rank's copies, with the names of the libraries. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "loader/image.h"
#include "middleware/process/libc.h"

static char *refusal; /* what dlerror() has to say of a copy, by the library's name */

/* What it says itself begins with a name, which is that of a copy's memory or of the copy. */
void pf_linker_refused(const char *path)
{
    const char *text = dlerror(), *reason = text ? strstr(text, ": ") : NULL;
    char *name = reason ? strndup(text, (size_t)(reason - text)) : NULL;
    bool in_memory = name && strncmp(name, "/proc/self/fd/", 14) == 0;
    free(refusal);
    refusal = name   ? pf_asprintf("%s%s", in_memory && path ? path : pf_loaded_original(name), reason)
              : text ? pf_strdup(text)
                     : NULL;
    free(name);
}

char *pf_libc_dlerror(void)
{
    static char *said;
    if (!refusal)
        pf_linker_refused(NULL);
    free(said);
    said = refusal;
    refusal = NULL;
    return said;
}

int pf_libc_dladdr(const void *address, Dl_info *info)
{
    int found = dladdr(address, info);
    if (found)
        info->dli_fname = pf_loaded_original(info->dli_fname);
    return found;
}
