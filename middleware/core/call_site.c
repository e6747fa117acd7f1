/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses in the application as lines that name a place in its source. */
#include "middleware/core/call_site.h"

#include <stdio.h>
#include <string.h>

#include <simgrid/actor.h>

#include "base/memory.h"
#include "base/source_line.h"
#include "loader/image.h"
#include "middleware/core/job_programs.h"
#include "middleware/core/job_state.h"
#include "middleware/core/rank.h"

const char *pf_call_site(const void *address, char *buffer, size_t size)
{
    struct pf_image_place place;
    char function[128], line[128];
    if (!address || !pf_loaded_where(address, &place)) {
        snprintf(buffer, size, "an unknown place");
        return buffer;
    }
    unsigned long offset = place.offset;
    int number = pf_job_program_at(place.file);
    const char *program = number >= 0 ? pf_job_program(number)->path : place.file;
    if (pf_source_line(program, offset - 1, function, sizeof function, line, sizeof line) && *line)
        snprintf(buffer, size, "%s (%s)", line, function);
    else
        snprintf(buffer, size, "%s+0x%lx", program, offset);
    return buffer;
}

static pf_call_place **places; /* by rank */

void pf_call_place_set(pf_call_place *place)
{
    long rank = sg_actor_self_get_pid() - 1; /* also known before MPI_Init */
    if (rank < 0 || rank >= pf_job_state.size)
        return;
    if (!places)
        places = pf_calloc((size_t)pf_job_state.size, sizeof *places);
    places[rank] = place;
}

const char *pf_call_site_of(const struct pf_rank *r, const void *address, char *buffer, size_t size)
{
    pf_call_place *place = places && r ? places[r->self.rank] : NULL;
    return place && place(buffer, size) ? buffer : pf_call_site(address, buffer, size);
}

bool pf_call_place_same(const struct pf_rank *a, const struct pf_rank *b)
{
    char here[256], there[256];
    return !places || strcmp(pf_call_site_of(a, a->call.site, here, sizeof here),
                             pf_call_site_of(b, b->call.site, there, sizeof there)) == 0;
}
