/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_SAMPLING_SLICES_H
#define PF_MIDDLEWARE_SAMPLING_SLICES_H

#include <stdint.h>
#include <stdio.h>

/*
 * Slices of a run: equal stretches of simulated time, and how many calls all ranks together make in each.
 * They are for programs in which nothing is passed equally often by all ranks. The n-th call of all is the
 * same point of the program in each model, wherever it is made; so another run knows the ends of slices by
 * counting calls (bounds.h).
 *
 * Nobody knows beforehand how long a run is: where it is longer than all slices are, two neighbours become
 * one. So there are never more than PF_SLICES_MOST, and at least half as many once the run is long enough.
 */
#define PF_SLICES_MOST 4096

struct pf_slice {
    uint64_t calls, bytes;
    double last; /* date of its last call */
};

struct pf_slices {
    double per_second, end; /* slices in a second; where the last one ends */
    struct pf_slice all[PF_SLICES_MOST];
};

struct pf_slices *pf_slices_new(void);

/* Makes slices longer until the date is in one. */
void pf_slices_reach(struct pf_slices *slices, double date);

/* A rank makes a call at a date. Ranks may be ahead of each other: dates come in any order. */
static inline void pf_slices_call(struct pf_slices *slices, double date, uint64_t bytes)
{
    if (__builtin_expect(date >= slices->end, 0))
        pf_slices_reach(slices, date);
    struct pf_slice *slice = &slices->all[(unsigned)(date * slices->per_second)];
    slice->calls++;
    slice->bytes += bytes;
    if (date > slice->last)
        slice->last = date;
}

/* A comment line for each slice in which there are calls: how many calls and bytes there are up to its end,
 * and the date of the last one. */
void pf_slices_print(const struct pf_slices *slices, FILE *out);

#endif
