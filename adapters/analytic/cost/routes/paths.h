/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "adapters/analytic/cost/routes/route.h"

/*
 * A cache of the platform's routes. Up to PF_PATHS_TABLE nodes every pair has its own entry; with more, pairs
 * share a fixed number of entries, so that memory does not grow with the square of the nodes.
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

/* The number of entries for so many nodes, and the entry of a pair. */
static inline size_t pf_cost_paths_places(int nodes)
{
    return nodes <= PF_PATHS_TABLE ? (size_t)nodes * (size_t)nodes : PF_PATHS_PLACES;
}

/* In a large job each node communicates over few distances: the odd factor spreads the rows over the entries.
 */
static inline size_t pf_cost_paths_place(int nodes, int src, int dst)
{
    return nodes <= PF_PATHS_TABLE ? (size_t)src * (size_t)nodes + (size_t)dst
                                   : ((size_t)src * 40503 + (size_t)dst) & (PF_PATHS_PLACES - 1);
}

/* The caller frees it. */
struct pf_cost_paths *pf_cost_paths_new(int nodes, pf_cost_route_fn *route, void *context);
void pf_cost_paths_free(struct pf_cost_paths *paths);

/* Looks up the path of a pair that is not cached. */
void pf_cost_paths_ask(const struct pf_cost_paths *paths, int src, int dst,
                       struct pf_cost_paths_entry *entry);

/* The path between two nodes, valid until the next call. Called for each message. */
static inline const struct pf_cost_path *pf_cost_paths_get(struct pf_cost_paths *paths, int src, int dst)
{
    struct pf_cost_paths_entry *entry = &paths->entry[pf_cost_paths_place(paths->nodes, src, dst)];
    if (__builtin_expect(entry->pair != (int64_t)src * paths->nodes + dst + 1, 0))
        pf_cost_paths_ask(paths, src, dst, entry);
    return &entry->path;
}
