/* SPDX-License-Identifier: BSD-3-Clause */
/* Remembers the platform's routes as latency and bandwidth. */
#include "adapters/analytic/cost/paths.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

struct place {
    int64_t pair; /* plus 1; 0: empty */
    struct pf_cost_path path;
};

struct pf_cost_paths {
    int nodes;
    pf_cost_route_fn *route;
    void *context;
    struct place place[];
};

struct pf_cost_paths *pf_cost_paths_new(int nodes, pf_cost_route_fn *route, void *context)
{
    struct pf_cost_paths *paths =
        pf_calloc(1, sizeof *paths + pf_cost_paths_places(nodes) * sizeof paths->place[0]);
    paths->nodes = nodes;
    paths->route = route;
    paths->context = context;
    return paths;
}

void pf_cost_paths_free(struct pf_cost_paths *paths)
{
    free(paths);
}

const struct pf_cost_path *pf_cost_paths_get(struct pf_cost_paths *paths, int src, int dst)
{
    int64_t pair = (int64_t)src * paths->nodes + dst;
    struct place *place = &paths->place[pf_cost_paths_place(paths->nodes, src, dst)];
    if (place->pair != pair + 1) {
        double latency = 0, bandwidth = INFINITY;
        if (paths->route)
            paths->route(paths->context, src, dst, &latency, &bandwidth);
        place->path.latency = latency > 0 ? latency : 0;
        place->path.byte_time = bandwidth > 0 ? 1 / bandwidth : 0;
        place->pair = pair + 1;
    }
    return &place->path;
}
