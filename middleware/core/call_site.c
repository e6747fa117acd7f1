/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses in the application as lines that name a place in its source. */
#include "middleware/core/call_site.h"

#include <dlfcn.h>
#include <stdio.h>

#include "base/source_line.h"
#include "middleware/core/job_state.h"

const char *pf_call_site(const void *address, char *buffer, size_t size)
{
    Dl_info info;
    char function[128], line[128];
    if (!address || !dladdr(address, &info)) {
        snprintf(buffer, size, "an unknown place");
        return buffer;
    }
    unsigned long offset = (unsigned long)((const char *)address - (const char *)info.dli_fbase);
    if (*pf_job_state.program &&
        pf_source_line(pf_job_state.program, offset - 1, function, sizeof function, line, sizeof line) &&
        *line)
        snprintf(buffer, size, "%s (%s)", line, function);
    else
        snprintf(buffer, size, "%s+0x%lx", *pf_job_state.program ? pf_job_state.program : info.dli_fname,
                 offset);
    return buffer;
}
