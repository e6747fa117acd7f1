/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "middleware/compute/compute_file.h"

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

/* The rank is at `site`, where it makes a call, or asks whether something has come or what time it is; the
 * number of the way that it has come. */
uint32_t pf_way_to(struct pf_way_memory *memory, const void *site, bool asks);

/* What was recorded from one call that is no question to the next. */
struct pf_between {
    uint64_t sum, last; /* in all; after the last question */
};

/*
 * What was recorded, by ways. How often a rank asks is another number in each model, but not how much it has
 * to compute in all: a rank that computes a piece before each question has more or less left to do
 * afterwards. So what a rank is ahead of the recorded run is taken from what it computes before its next
 * calls. What it is behind is added there, up to twice as much as was recorded: what was done at once stays
 * at once, for some calls.
 */
struct pf_ways {
    struct pf_way *ways;
    size_t count;
    uint64_t *ns;
    struct pf_between *between;
    size_t calls, next;
    int64_t ahead; /* of what was recorded up to the last call that is no question */
    int behind;    /* for so many calls already */
};

void pf_ways_sort(struct pf_ways *ways, const struct pf_intervals *recorded);

/* What the rank has computed on this way. To a question, and after more calls than were recorded: the next
 * interval that was recorded there, the mean of them when there is none left, 0 when there was none. */
uint64_t pf_ways_next(struct pf_ways *ways, uint32_t way);
