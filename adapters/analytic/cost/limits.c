/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run reports of contention: NICs that took more than their rate allows, and waiting for links. */
#include "adapters/analytic/cost/internal.h"

struct pf_cost_overrun pf_cost_overrun(const struct pf_cost *cost)
{
    struct pf_cost_overrun result = cost->overrun;
    int rank = 0;
    while (rank + 1 < cost->ranks && cost->node_of_rank[rank] != result.rank)
        rank++;
    result.rank = rank;
    return result;
}

void pf_cost_carry(struct pf_cost *cost, pf_cost_carry_fn *carry, void *context)
{
    cost->pairs = pf_pairs_new(cost->nodes, carry, context);
}

void pf_cost_carried(struct pf_cost *cost)
{
    for (size_t i = 0; cost->pairs && i < pf_cost_paths_places(cost->nodes); i++)
        if (cost->pairs->entry[i].pair)
            pf_pairs_hand_out(cost->pairs, &cost->pairs->entry[i]);
}

void pf_cost_watch(struct pf_cost *cost, pf_cost_phase_fn *phase)
{
    struct pf_crowd *crowd = cost->network.crowd;
    if (crowd)
        crowd->phases.of = crowd->outcome.phases.of = phase;
}

struct pf_cost_crowded pf_cost_crowded(const struct pf_cost *cost)
{
    const struct pf_crowd *crowd = cost->network.crowd;
    if (!crowd)
        return (struct pf_cost_crowded){0};
    return (struct pf_cost_crowded){crowd->all.priced - crowd->all.alone, crowd->all.priced,
                                    pf_phases_worst(&crowd->phases)};
}

struct pf_cost_crowded pf_cost_undecided(const struct pf_cost *cost)
{
    const struct pf_crowd *crowd = cost->network.crowd;
    if (!crowd)
        return (struct pf_cost_crowded){0};
    return (struct pf_cost_crowded){crowd->outcome.most, crowd->all.priced - crowd->outcome.begun,
                                    pf_phases_worst(&crowd->outcome.phases)};
}
