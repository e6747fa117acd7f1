/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ANALYTIC_COST_PATHS_H
#define PF_ADAPTERS_ANALYTIC_COST_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "adapters/analytic/cost/routes/route.h"

/*
 * The platform's routes, each asked for once while it is remembered. Up to PF_PATHS_TABLE nodes every pair
 * has its place; with more, pairs share a fixed number of places, so that memory does not grow with their
 * square.
 */
#define PF_PATHS_TABLE  1024
#define PF_PATHS_PLACES (1 << 20)

struct pf_cost_path {
    double latency;
    double byte_time; /* s/B of the slowest link */
};

struct pf_cost_paths_entry {
    int64_t pair; /* plus 1; 0: empty */
    struct pf_cost_path path;
};

struct pf_cost_paths {
    int nodes;
    pf_cost_route_fn *route;
    void *context;
    struct pf_cost_paths_entry entry[];
};

/* How many places there are for pairs of so many nodes, and the place of a pair. */
static inline size_t pf_cost_paths_places(int nodes)
{
    return nodes <= PF_PATHS_TABLE ? (size_t)nodes * (size_t)nodes : PF_PATHS_PLACES;
}

/* A large job talks to few distances from each node: the odd factor spreads rows over the places. */
static inline size_t pf_cost_paths_place(int nodes, int src, int dst)
{
    return nodes <= PF_PATHS_TABLE ? (size_t)src * (size_t)nodes + (size_t)dst
                                   : ((size_t)src * 40503 + (size_t)dst) & (PF_PATHS_PLACES - 1);
}

/* The caller frees it. */
struct pf_cost_paths *pf_cost_paths_new(int nodes, pf_cost_route_fn *route, void *context);
void pf_cost_paths_free(struct pf_cost_paths *paths);

/* Asks for the path of a pair that is not remembered. */
void pf_cost_paths_ask(const struct pf_cost_paths *paths, int src, int dst,
                       struct pf_cost_paths_entry *entry);

/* The path between two nodes, valid until the next call. Each message looks here. */
static inline const struct pf_cost_path *pf_cost_paths_get(struct pf_cost_paths *paths, int src, int dst)
{
    struct pf_cost_paths_entry *entry = &paths->entry[pf_cost_paths_place(paths->nodes, src, dst)];
    if (__builtin_expect(entry->pair != (int64_t)src * paths->nodes + dst + 1, 0))
        pf_cost_paths_ask(paths, src, dst, entry);
    return &entry->path;
}

#endif
