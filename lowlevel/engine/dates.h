/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

/*
 * Future dates in order, without an event for each: a caller asks which have passed. A ring; all zeros at the
 * beginning.
 */
struct pf_dates {
    double *ring;
    unsigned int first, last, capacity; /* the capacity is a power of two */
};

static inline double *pf_dates_at(const struct pf_dates *dates, unsigned int index)
{
    return &dates->ring[index & (dates->capacity - 1)];
}

static inline unsigned int pf_dates_count(const struct pf_dates *dates)
{
    return dates->last - dates->first;
}

/* The earliest. There is one. */
static inline double pf_dates_first(const struct pf_dates *dates)
{
    return *pf_dates_at(dates, dates->first);
}

static inline void pf_dates_grow(struct pf_dates *dates)
{
    unsigned int capacity = dates->capacity ? 2 * dates->capacity : 8;
    double *ring = pf_malloc(capacity * sizeof *ring);
    for (unsigned int i = dates->first; i != dates->last; i++)
        ring[i & (capacity - 1)] = *pf_dates_at(dates, i);
    free(dates->ring);
    dates->ring = ring;
    dates->capacity = capacity;
}

/* Mostly behind the others; a little before when another node is nearer. */
static inline void pf_dates_add(struct pf_dates *dates, double date)
{
    if (pf_dates_count(dates) == dates->capacity)
        pf_dates_grow(dates);
    unsigned int place = dates->last++;
    for (; place != dates->first && *pf_dates_at(dates, place - 1) > date; place--)
        *pf_dates_at(dates, place) = *pf_dates_at(dates, place - 1);
    *pf_dates_at(dates, place) = date;
}

/* Forgets those up to `now`. Whether there were any. */
static inline bool pf_dates_pass(struct pf_dates *dates, double now)
{
    unsigned int before = dates->first;
    while (dates->first != dates->last && pf_dates_first(dates) <= now)
        dates->first++;
    return dates->first != before;
}
