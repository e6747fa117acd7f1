/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/analytic/cost/routes/outcome.h"
#include "adapters/analytic/cost/routes/links.h"

/*
 * What long messages wait for links that serve several nodes, besides NICs that serve one message after the
 * other, and how much later the run is for it. A message waits for the links on its path behind those of all
 * nodes, at the same time as for the NICs. A node that sends after all its earlier messages have arrived is
 * as late as the last of these, since it may have waited for it; one that waited for something else meanwhile
 * is less late. A message costs a few instructions, and a long one a step for each link between several
 * nodes.
 */
struct pf_crowd {
    struct pf_links *links;
    struct pf_crowd_dates {
        double priced, alone; /* the last arrival, and if nothing had waited for links */
        double late;          /* of a message that leaves now */
    } all, *node;
    double most;             /* of all.priced - all.alone */
    struct pf_phases phases; /* in which it grew */
    struct pf_outcome outcome;
};

/* `links`, whole routes of so many nodes, stays the caller's. */
struct pf_crowd *pf_crowd_new(int nodes, struct pf_links *links);
void pf_crowd_free(struct pf_crowd *crowd);

/* The run is later than ever before, because of a message of rank `rank`. */
void pf_crowd_blame(struct pf_crowd *crowd, int rank);

static inline void pf_crowd_arrive(struct pf_crowd_dates *dates, double priced, double alone)
{
    dates->priced = priced > dates->priced ? priced : dates->priced;
    dates->alone = alone > dates->alone ? alone : dates->alone;
}

/* The arrival of a message of rank `rank` on node `from` with so many bytes on the wire (0: it waits for no
 * links), which take `duration` on the slowest link. Without links it would arrive at `arrival`, and has
 * waited `waits` of the time until then for NICs. */
static inline double pf_crowd_wait(struct pf_crowd *crowd, int rank, int from, int to, double bytes,
                                   double duration, double start, double arrival, double waits)
{
    struct pf_crowd_dates *source = &crowd->node[from];
    if (start >= source->priced)
        source->late = source->priced - source->alone;
    double late = source->late;
    if (bytes > 0) {
        double more = pf_links_wait(crowd->links, from, to, bytes, start, duration) - waits;
        if (more > duration * 1e-9) { /* rounding is no delay */
            late += more;
            arrival += more;
        }
    }
    pf_crowd_arrive(source, arrival, arrival - late);
    pf_crowd_arrive(&crowd->node[to], arrival, arrival - late);
    pf_crowd_arrive(&crowd->all, arrival, arrival - late);
    if (__builtin_expect(crowd->all.priced - crowd->all.alone > crowd->most, 0))
        pf_crowd_blame(crowd, rank);
    return arrival;
}
