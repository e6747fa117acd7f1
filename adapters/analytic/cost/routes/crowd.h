/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ANALYTIC_COST_CROWD_H
#define PF_ADAPTERS_ANALYTIC_COST_CROWD_H

#include "adapters/analytic/cost/routes/route.h"
#include "adapters/analytic/cost/routes/links.h"

/*
 * How late a run would be if messages waited for links, where only NICs serve one message after the other.
 * Each message is delayed by the links on its path, behind the messages of all nodes. A node that sends after
 * all its earlier messages have arrived is as late as the last of these, since it may have waited for it; one
 * that waited for something else meanwhile is less late. No price depends on this. A message costs a few
 * instructions, and a long one a step for each link between several nodes.
 */
enum { PF_CROWD_PHASES = 16 };

struct pf_crowd {
    struct pf_links *links;
    pf_cost_phase_fn *phase;
    struct pf_crowd_dates {
        double priced, delayed; /* the last arrival */
        double late;            /* of a message that leaves now */
    } all, *node;
    double most; /* of all.delayed - all.priced */
    struct pf_crowd_phase {
        const char *name;
        double seconds; /* by which `most` grew in it */
    } phases[PF_CROWD_PHASES];
};

/* `links`, whole routes of so many nodes, stays the caller's. */
struct pf_crowd *pf_crowd_new(int nodes, struct pf_links *links);
void pf_crowd_free(struct pf_crowd *crowd);

/* The run is later than ever before, because of a message of rank `rank`. */
void pf_crowd_blame(struct pf_crowd *crowd, int rank);

static inline void pf_crowd_arrive(struct pf_crowd_dates *dates, double priced, double delayed)
{
    dates->priced = priced > dates->priced ? priced : dates->priced;
    dates->delayed = delayed > dates->delayed ? delayed : dates->delayed;
}

/* Notes a message of rank `rank` on node `from` with so many bytes on the wire (0: it waits for no links),
 * which take `duration` on the slowest link; `waits` of the time to its arrival it waits for NICs. */
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
