/* SPDX-License-Identifier: BSD-3-Clause */
/* How much links delay a run. */
#include "adapters/analytic/cost/routes/crowd.h"

#include <stdlib.h>

#include "base/memory.h"

struct pf_crowd *pf_crowd_new(int nodes, struct pf_links *links)
{
    struct pf_crowd *crowd = pf_calloc(1, sizeof *crowd);
    crowd->links = links;
    crowd->node = pf_calloc((size_t)nodes, sizeof *crowd->node);
    crowd->outcome.node = pf_calloc((size_t)nodes, sizeof *crowd->outcome.node);
    crowd->outcome.begun = -1;
    return crowd;
}

void pf_crowd_free(struct pf_crowd *crowd)
{
    if (!crowd)
        return;
    free(crowd->node);
    free(crowd->outcome.node);
    free(crowd);
}

void pf_crowd_blame(struct pf_crowd *crowd, int rank)
{
    double seconds = crowd->all.priced - crowd->all.alone - crowd->most;
    pf_phases_add(&crowd->phases, rank, seconds);
    crowd->most += seconds;
}
