/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_WAYS_H
#define PF_MIDDLEWARE_WAYS_H

#include "middleware/account/compute_file.h"

/*
 * A way is where a rank comes from and where it goes: the place of its last call and that of the next one. A
 * program that polls makes another number of calls in each model, so that the n-th interval of one run is
 * not the n-th of another; but what it computes on one way is the same.
 */
struct pf_way_memory { /* of a rank */
    uintptr_t page;    /* of code, asked last */
    uint64_t first;    /* where that begins in its file */
    uint64_t before;   /* the last call's place */
};

/* The rank is at `site`; the number of the way that it has come. */
uint32_t pf_way_to(struct pf_way_memory *memory, const void *site);

/* What was recorded, by ways. */
struct pf_ways {
    struct pf_way *ways;
    size_t count;
    uint64_t *ns;
};

void pf_ways_sort(struct pf_ways *ways, const struct pf_intervals *recorded);

/* The next interval that was recorded on this way; the mean of them when there is none left, 0 when there
 * was none. */
uint64_t pf_ways_next(struct pf_ways *ways, uint32_t way);

#endif
