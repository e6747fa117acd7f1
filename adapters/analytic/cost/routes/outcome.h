/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "adapters/analytic/cost/routes/phases.h"

/*
 * How much of a run hangs on whether long messages come before their receives. Each node adds up the time of
 * the data that met their receive and of those that came too early and are fetched: dates of leaving decide,
 * which are estimates where messages share NICs and links. Where a program always does one or the other,
 * these do not matter; where a node has both, the lesser sum could as well be the other. A long message costs
 * a few instructions.
 */
struct pf_outcome {
    struct pf_outcome_node {
        double met, fetched; /* s */
    } * node;
    double most; /* the greatest lesser sum */
    struct pf_phases phases;
};

/* A message of rank `from` to a rank of node `to`, whose data take so many seconds. */
static inline void pf_outcome_add(struct pf_outcome *outcome, int from, int to, double seconds, bool met)
{
    struct pf_outcome_node *node = &outcome->node[to];
    *(met ? &node->met : &node->fetched) += seconds;
    double lesser = node->met < node->fetched ? node->met : node->fetched;
    if (lesser <= outcome->most)
        return;
    pf_phases_add(&outcome->phases, from, lesser - outcome->most);
    outcome->most = lesser;
}
