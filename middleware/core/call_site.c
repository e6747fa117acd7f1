/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses in the application as lines that name a place in its source. */
#include "middleware/core/call_site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>

#include "base/memory.h"
#include "base/source_line.h"
#include "loader/image.h"
#include "middleware/core/job_programs.h"
#include "middleware/core/job_state.h"
#include "middleware/core/rank.h"

/* The program, or the library, that an address is in; false: in none. */
static bool find_object(const void *address, const char **object, struct pf_source_place *place)
{
    struct pf_image_place image;
    if (!address || !pf_loaded_where(address, &image))
        return false;
    int number = pf_job_program_at(image.file);
    *object = number >= 0 ? pf_job_program(number)->path : image.file;
    place->offset = image.offset - 1; /* the call is before the return address */
    return true;
}

static void describe(const char *object, const struct pf_source_place *place, char *buffer, size_t size)
{
    if (!object)
        snprintf(buffer, size, "an unknown place");
    else if (*place->function && *place->line)
        snprintf(buffer, size, "%s (%s)", place->line, place->function);
    else
        snprintf(buffer, size, "%s+0x%lx", object, place->offset + 1);
}

const char *pf_call_site(const void *address, char *buffer, size_t size)
{
    const char *object = NULL;
    struct pf_source_place place;
    if (find_object(address, &object, &place))
        pf_source_lines(object, &place, 1);
    describe(object, &place, buffer, size);
    return buffer;
}

static bool is_same(const char *object, const char *other)
{
    return object && other && strcmp(object, other) == 0;
}

void pf_call_sites(const void *const addresses[], int count, char *texts[])
{
    char text[256];
    struct pf_source_place *place = pf_calloc((size_t)count + 1, sizeof *place);
    const char **objects = pf_calloc((size_t)count + 1, sizeof *objects);
    for (int i = 0; i < count; i++)
        find_object(addresses[i], &objects[i], &place[i]);
    for (int first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && is_same(objects[first], objects[end]); end++)
            ;
        if (objects[first])
            pf_source_lines(objects[first], &place[first], end - first);
    }
    for (int i = 0; i < count; i++) {
        describe(objects[i], &place[i], text, sizeof text);
        texts[i] = pf_strdup(text);
    }
    free(objects);
    free(place);
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
