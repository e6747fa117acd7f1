/* SPDX-License-Identifier: BSD-3-Clause */
/* The links of nodes that have several: which link a message uses, and when each is busy. */
#include "adapters/analytic/cost/routes/ports.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A path of more hops counts as one without shared links. */
#define MOST_HOPS 256

struct pf_ports {
    int nodes;
    pf_cost_links_fn *links;
    void *context;
    struct pf_ports_pair **row; /* by source, NULL while it has sent nothing; out is 0 for an unknown pair */
    int *number;                /* by the platform's number of a link: ours, 0: none yet */
    int number_room;
    struct pf_busy *busy; /* by our number */
    int count, room;
};

/* Returns how many links the path has; 0 when they are too many. */
static int ends_of(pf_cost_links_fn *links, void *context, int src, int dst, int *first, int *last)
{
    struct pf_cost_link path[MOST_HOPS];
    int count = links(context, src, dst, path, MOST_HOPS);
    if (count <= 0 || count > MOST_HOPS)
        return 0;
    *first = path[0].number;
    *last = path[count - 1].number;
    return count;
}

static bool has_several(pf_cost_links_fn *links, void *context, int nodes, int node)
{
    int first, last, seen = -1;
    for (int other = 0; other < nodes; other++) {
        if (other == node || !ends_of(links, context, node, other, &first, &last))
            continue;
        if (seen >= 0 && seen != first)
            return true;
        seen = first;
    }
    return false;
}

struct pf_ports *pf_ports_new(int nodes, pf_cost_links_fn *links, void *context)
{
    bool several = false;
    for (int node = 0; node < nodes && node < 2; node++)
        several |= has_several(links, context, nodes, node);
    if (!several)
        return NULL;
    struct pf_ports *ports = pf_calloc(1, sizeof *ports);
    *ports = (struct pf_ports){.nodes = nodes, .links = links, .context = context, .count = 1};
    ports->row = pf_calloc((size_t)nodes, sizeof *ports->row);
    return ports;
}

void pf_ports_free(struct pf_ports *ports)
{
    if (!ports)
        return;
    for (int i = 0; i < ports->nodes; i++)
        free(ports->row[i]);
    free(ports->row);
    free(ports->number);
    for (int i = 1; i < ports->count; i++)
        free(ports->busy[i].stretch);
    free(ports->busy);
    free(ports);
}

static int number_of(struct pf_ports *ports, int link)
{
    PF_ARRAY_REACH(ports->number, ports->number_room, link);
    if (ports->number[link])
        return ports->number[link];
    PF_ARRAY_ROOM(ports->busy, ports->room, ports->count + 1);
    ports->busy[ports->count] = (struct pf_busy){0};
    return ports->number[link] = ports->count++;
}

struct pf_ports_pair pf_ports_of(struct pf_ports *ports, int src, int dst)
{
    struct pf_ports_pair *row = ports->row[src];
    if (!row)
        row = ports->row[src] = pf_calloc((size_t)ports->nodes, sizeof *row);
    if (!row[dst].out) {
        int first, last;
        row[dst] = (struct pf_ports_pair){-1, -1};
        if (ends_of(ports->links, ports->context, src, dst, &first, &last))
            row[dst] = (struct pf_ports_pair){number_of(ports, first), number_of(ports, last)};
    }
    return row[dst];
}

struct pf_busy *pf_ports_busy(struct pf_ports *ports, int link)
{
    return link > 0 ? &ports->busy[link] : NULL;
}
