/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses in the application as lines that name a place in its source. */
#include "middleware/core/call_site.h"

#include <stdio.h>

#include "base/source_line.h"
#include "loader/image.h"
#include "middleware/core/job_state.h"

const char *pf_call_site(const void *address, char *buffer, size_t size)
{
    struct pf_image_place place;
    char function[128], line[128];
    if (!address || !pf_loaded_where(address, &place)) {
        snprintf(buffer, size, "an unknown place");
        return buffer;
    }
    unsigned long offset = place.offset;
    if (*pf_job_state.program &&
        pf_source_line(pf_job_state.program, offset - 1, function, sizeof function, line, sizeof line) &&
        *line)
        snprintf(buffer, size, "%s (%s)", line, function);
    else
        snprintf(buffer, size, "%s+0x%lx", *pf_job_state.program ? pf_job_state.program : place.file, offset);
    return buffer;
}
