/* SPDX-License-Identifier: BSD-3-Clause */
/* Which host a node is, and which rank it has. */
#include "lowlevel/trace/places.h"

#include <stddef.h>

#include "base/memory.h"

enum { NONE = -1, SEVERAL = -2 };

static struct place {
    char *host; /* NULL: not known */
    int rank;   /* or NONE, or SEVERAL */
} * places;
static int place_count;

static struct place *place_of(int node)
{
    if (node >= place_count) {
        int wanted = 2 * node + 16;
        places = pf_realloc(places, (size_t)wanted * sizeof *places);
        while (place_count < wanted)
            places[place_count++] = (struct place){NULL, NONE};
    }
    return &places[node];
}

void pf_trace_place_host(int node, const char *name)
{
    struct place *place = place_of(node);
    if (!place->host)
        place->host = pf_strdup(name);
}

const char *pf_trace_host_name(int node)
{
    return node < place_count && places[node].host ? places[node].host : "";
}

void pf_trace_place_process(int node, int rank)
{
    struct place *place = place_of(node);
    place->rank = place->rank == NONE || place->rank == rank ? rank : SEVERAL;
}

int pf_trace_rank_of_node(int node)
{
    return node < place_count && places[node].rank >= 0 ? places[node].rank : -1;
}
