/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "adapters/analytic/cost/routes/phases.h"

/*
 * How much of a run hangs on whether long messages come before their receives. Each node adds up the time of
 * the data that met their receive and of those that came too early and are fetched: dates of leaving decide,
 * which are estimates where messages share NICs and links. Where a program always does one or the other,
 * these do not matter; where a node has both, the lesser sum could as well be the other, as far as some dates
 * are close. One whose dates are almost equal could be either. A long message costs a few instructions.
 */
struct pf_outcome {
    struct pf_outcome_node {
        double met, fetched, close, either; /* s */
    } * node;
    double begun; /* date of the first long message; negative: none */
    double most;  /* the greatest lesser sum */
    struct pf_phases phases;
};

/* A receive that is posted within this part of its message's time from where the message's head comes. This
 * and what follows were chosen by the cells of experiments/cells. */
#define PF_OUTCOME_CLOSE 0.02
/* Within this part it may as well be posted on the other side of it. */
#define PF_OUTCOME_EITHER 0.002
/* So much time may depend on each second of such data: what is late makes others late. */
#define PF_OUTCOME_SPREAD 3
/* So much of it counts where no dates are close. */
#define PF_OUTCOME_FAR 0.4

/* A message of rank `from` to a rank of node `to`, sent at `begun`, whose data take so many seconds. Its head
 * and its receive are `apart` by so much of its time. */
static inline void pf_outcome_add(struct pf_outcome *outcome, int from, int to, double begun, double seconds,
                                  bool met, double apart)
{
    struct pf_outcome_node *node = &outcome->node[to];
    *(met ? &node->met : &node->fetched) += seconds;
    if (apart < PF_OUTCOME_CLOSE)
        node->close += seconds * PF_OUTCOME_SPREAD;
    if (apart < PF_OUTCOME_EITHER)
        node->either += seconds;
    if (outcome->begun < 0)
        outcome->begun = begun;
    double lesser = node->met < node->fetched ? node->met : node->fetched;
    double far = lesser * PF_OUTCOME_FAR;
    lesser = node->close < lesser ? node->close : lesser;
    lesser = far > lesser ? far : lesser;
    lesser = node->either > lesser ? node->either : lesser;
    if (lesser <= outcome->most)
        return;
    pf_phases_add(&outcome->phases, from, lesser - outcome->most);
    outcome->most = lesser;
}
