/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The busy intervals of a side of a NIC, or of a link, which serves one message after the other. Messages are
 * priced only about in the order of their dates: one that waits for a receive is priced long before it
 * leaves, and a rank prices all that it sends at once. So the intervals are kept, and a message takes the
 * gaps between them; prices that were given out do not change. When there are too many, the older half is
 * merged into one. All zeros at the beginning. Memory is 256 B at first, and grows to 16 KB where intervals
 * do not touch; a message in the order of the dates costs a few instructions, another one a search, a
 * move of the intervals behind it, and if it is whole a step over each gap that is too short.
 */
enum { PF_BUSY_MOST = 1024 };

struct pf_busy {
    struct pf_busy_stretch {
        double from, until;
    } * stretch;            /* by date, in a room for so many: */
    int begin, count, room; /* those that are kept */
    double shortest;        /* that it has served whole, 0: none: no message fits into a shorter gap */
    double owed;            /* s: what acknowledgements take of it, before or after the next message */
};

/* Serves a message that is not in the order of the dates, or for which there is no room. */
double pf_busy_take_gap(struct pf_busy *busy, double ready, double duration, bool whole);

/* How much of the time from a date on it is busy. */
double pf_busy_taken(const struct pf_busy *busy, double date);

/* How long a message that it has served would wait there now. Among its intervals is the message's own, so
 * that what is no longer than two of these is no wait. */
double pf_busy_waits(const struct pf_busy *busy, double ready, double duration);

/* Frees an array of so many, which may be NULL. */
void pf_busy_free(struct pf_busy *all, size_t count);

/* How long it is busy from `date` on, without a gap. */
double pf_busy_left(const struct pf_busy *busy, double date);

/* The end of its last interval; 0: none. */
static inline double pf_busy_end(const struct pf_busy *busy)
{
    return busy->count ? busy->stretch[busy->begin + busy->count - 1].until : 0;
}

/* Serves a message that is ready at `ready` and takes `duration`: `whole`, or if need be in pieces, as what
 * shares does. Returns the end less the duration, which is when a whole one begins. */
static inline double pf_busy_serve(struct pf_busy *busy, double ready, double duration, bool whole)
{
    if (whole && (busy->shortest == 0 || duration < busy->shortest))
        busy->shortest = duration;
    if (busy->count == 0 || busy->begin + busy->count == busy->room)
        return pf_busy_take_gap(busy, ready, duration, whole);
    struct pf_busy_stretch *last = busy->stretch + busy->begin + busy->count - 1;
    if (last->until < ready && !(whole && ready - last->until < busy->shortest)) {
        double left = busy->owed - (ready - last->until);
        busy->owed = left > 0 ? left : 0;
        last[1] = (struct pf_busy_stretch){ready, ready + duration};
        busy->count++;
        return ready;
    }
    duration += busy->owed;
    busy->owed = 0;
    if (last->from <= ready && (busy->count == 1 || last[-1].until < ready)) { /* right behind the last one */
        double begin = last->until > ready ? last->until : ready;
        last->until = begin + duration;
        return begin;
    }
    return pf_busy_take_gap(busy, ready, duration, whole);
}

static inline double pf_busy_take(struct pf_busy *busy, double ready, double duration)
{
    return pf_busy_serve(busy, ready, duration, false);
}
