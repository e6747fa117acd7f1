/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <string.h>

/*
 * The busy intervals of a side of a NIC, or of a link, which serves one message after the other. Messages are
 * priced only about in the order of their dates: one that waits for a receive is priced long before it
 * leaves. So the last intervals are kept, and a message fills the gaps between them; prices that were given
 * out do not change. A rank that sends to 26 neighbours at once leaves as many gaps at each of them. When
 * there are too many intervals, the two oldest are merged.
 */
enum { PF_BUSY_STRETCHES = 32, PF_BUSY_ROOM = 48 };

struct pf_busy {
    int begin, count; /* of the intervals that are kept */
    struct pf_busy_stretch {
        double from, until;
    } stretch[PF_BUSY_ROOM]; /* by date */
};

static inline void pf_busy_join_oldest(struct pf_busy *busy)
{
    struct pf_busy_stretch *oldest = busy->stretch + busy->begin++;
    oldest[1].from = oldest[0].from;
    busy->count--;
}

/* Serves a message that is ready at `ready` and takes `duration`; returns the end less the duration. */
static inline double pf_busy_take(struct pf_busy *busy, double ready, double duration)
{
    struct pf_busy_stretch *stretch = busy->stretch + busy->begin;
    int count = busy->count, first = count, last;
    if (busy->begin + count == PF_BUSY_ROOM) {
        stretch = memmove(busy->stretch, stretch, (size_t)count * sizeof *stretch);
        busy->begin = 0;
    }
    if (count > 0 && stretch[count - 1].from <= ready && ready <= stretch[count - 1].until &&
        (count == 1 ||
         stretch[count - 2].until < ready)) { /* right behind the last one, the second most frequent case */
        double behind = stretch[count - 1].until += duration;
        return behind > ready + duration ? behind - duration : ready;
    }
    while (first > 0 && stretch[first - 1].until >= ready)
        first--;
    if (first == count) { /* idle, the most frequent case */
        stretch[count] = (struct pf_busy_stretch){ready, ready + duration};
        if (++busy->count > PF_BUSY_STRETCHES)
            pf_busy_join_oldest(busy);
        return ready;
    }
    double from = ready, at = ready, left = duration;
    for (last = first; last < count && stretch[last].from - at < left; last++) {
        if (stretch[last].from <= at)
            from = last == first ? stretch[last].from : from;
        else
            left -= stretch[last].from - at;
        at = stretch[last].until;
    }
    double end = at + left, until = end;
    /* Rounding must not leave a gap into which no message fits. */
    if (last < count && stretch[last].from - end < duration * 1e-9)
        until = stretch[last++].until;
    memmove(stretch + first + 1, stretch + last, (size_t)(count - last) * sizeof *stretch);
    stretch[first] = (struct pf_busy_stretch){from, until};
    busy->count += 1 - (last - first);
    if (busy->count > PF_BUSY_STRETCHES)
        pf_busy_join_oldest(busy);
    return end > ready + duration ? end - duration : ready;
}

/* Forgets the oldest interval instead of merging it with the next, for what many serve: a message that is
 * priced long after those of its date then finds gaps there. */
static inline void pf_busy_forget_oldest(struct pf_busy *busy)
{
    if (busy->count == PF_BUSY_STRETCHES) {
        busy->begin++;
        busy->count--;
    }
}

/* How long it is busy from `date` on, without a gap. */
static inline double pf_busy_left(const struct pf_busy *busy, double date)
{
    const struct pf_busy_stretch *stretch = busy->stretch + busy->begin;
    int i = busy->count;
    while (i > 0 && stretch[i - 1].from > date)
        i--;
    return i > 0 && stretch[i - 1].until > date ? stretch[i - 1].until - date : 0;
}
