/* SPDX-License-Identifier: BSD-3-Clause */
/* A cache of the platform's routes as latency and time per byte. */
#include "adapters/analytic/cost/routes/paths.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

struct pf_cost_paths *pf_cost_paths_new(int nodes, pf_cost_route_fn *route, void *context)
{
    struct pf_cost_paths *paths =
        pf_calloc(1, sizeof *paths + pf_cost_paths_places(nodes) * sizeof paths->entry[0]);
    paths->nodes = nodes;
    paths->route = route;
    paths->context = context;
    return paths;
}

void pf_cost_paths_free(struct pf_cost_paths *paths)
{
    free(paths);
}

void pf_cost_paths_ask(const struct pf_cost_paths *paths, int src, int dst, struct pf_cost_paths_entry *entry)
{
    double latency = 0, bandwidth = INFINITY;
    if (paths->route)
        paths->route(paths->context, src, dst, &latency, &bandwidth);
    entry->path.latency = latency > 0 ? latency : 0;
    entry->path.byte_time = bandwidth > 0 ? 1 / bandwidth : 0;
    entry->pair = (int64_t)src * paths->nodes + dst + 1;
}
