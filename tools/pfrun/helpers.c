/* SPDX-License-Identifier: BSD-3-Clause */
/* Becomes a helper program. */
#include "tools/pfrun/helpers.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/log.h"
#include "base/memory.h"

void helper_sample(char *given, char **argv, int options)
{
    char *path = pf_helper_find("pfsample"), **words;
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
