/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

#include "adapters/analytic/cost/routes/route.h"

/* Seconds of a run by phase; phases without room of their own share the last entry. */
enum { PF_PHASES = 16 };

struct pf_phases {
    pf_cost_phase_fn *of; /* a rank; NULL: unknown */
    struct pf_phase {
        const char *name;
        double seconds;
    } entry[PF_PHASES];
};

static inline void pf_phases_add(struct pf_phases *phases, int rank, double seconds)
{
    const char *name = phases->of ? phases->of(rank) : NULL;
    int i = 0;
    while (i + 1 < PF_PHASES && phases->entry[i].seconds > 0 && phases->entry[i].name != name)
        i++;
    phases->entry[i].name = name;
    phases->entry[i].seconds += seconds;
}

/* The name of the one with the most seconds. */
static inline const char *pf_phases_worst(const struct pf_phases *phases)
{
    const struct pf_phase *worst = &phases->entry[0];
    for (int i = 1; i < PF_PHASES; i++)
        worst = phases->entry[i].seconds > worst->seconds ? &phases->entry[i] : worst;
    return worst->name;
}
