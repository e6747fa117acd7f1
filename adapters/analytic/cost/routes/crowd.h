/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ANALYTIC_COST_CROWD_H
#define PF_ADAPTERS_ANALYTIC_COST_CROWD_H

#include "adapters/analytic/cost/routes/route.h"
#include "adapters/analytic/cost/routes/links.h"

/*
 * How late a run would be if messages waited for links, which they do not where only NICs are taken in turns.
 * Each message waits for the links on its way, behind those of all nodes. When a node sends and all that it
 * has sent and received before is there, it is as late as the last of that: it may have waited for it. Who
 * had something else to wait for in the meantime is less late. No price depends on it. A message costs a few
 * instructions, and a long one a step for each link that is not a node's own.
 */
enum { PF_CROWD_PHASES = 16 };

struct pf_crowd {
    struct pf_links *links;
    pf_cost_phase_fn *phase;
    struct pf_crowd_dates {
        double priced, delayed; /* the last arrival */
        double late;            /* of what leaves now */
    } all, *node;
    double most; /* of all.delayed - all.priced */
    struct pf_crowd_phase {
        const char *name;
        double seconds; /* by which that has grown there */
    } phases[PF_CROWD_PHASES];
};

/* `links`, whole routes of so many nodes, stays the caller's. */
struct pf_crowd *pf_crowd_new(int nodes, struct pf_links *links);
void pf_crowd_free(struct pf_crowd *crowd);

/* The run has become later than ever before, by what rank `rank` sent. */
void pf_crowd_blame(struct pf_crowd *crowd, int rank);

static inline void pf_crowd_arrive(struct pf_crowd_dates *dates, double priced, double delayed)
{
    dates->priced = priced > dates->priced ? priced : dates->priced;
    dates->delayed = delayed > dates->delayed ? delayed : dates->delayed;
}

/* A message with so many bytes on the wire (0: it waits for no links), which take `duration` on the slowest
 * link, of rank `rank` on node `from`; `waits` of the time to its arrival it waits for NICs. */
static inline void pf_crowd_note(struct pf_crowd *crowd, int rank, int from, int to, double bytes,
                                 double duration, double start, double arrival, double waits)
{
    struct pf_crowd_dates *source = &crowd->node[from];
    if (start >= source->priced)
        source->late = source->delayed - source->priced;
    double late = source->late;
    if (bytes > 0) {
        double more = pf_links_shadow(crowd->links, from, to, bytes, start + late, duration) - waits;
        late += more > duration * 1e-9 ? more : 0; /* rounding is no delay */
    }
    pf_crowd_arrive(source, arrival, arrival + late);
    pf_crowd_arrive(&crowd->node[to], arrival, arrival + late);
    pf_crowd_arrive(&crowd->all, arrival, arrival + late);
    if (__builtin_expect(crowd->all.delayed - crowd->all.priced > crowd->most, 0))
        pf_crowd_blame(crowd, rank);
}

#endif
