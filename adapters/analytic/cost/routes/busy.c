/* SPDX-License-Identifier: BSD-3-Clause */
/* Busy intervals: a message among those that are kept. */
#include "adapters/analytic/cost/routes/busy.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { ROOM = 16 }; /* at first */

void pf_busy_free(struct pf_busy *all, size_t count)
{
    for (size_t i = 0; all && i < count; i++)
        free(all[i].stretch);
    free(all);
}

/* The first interval that ends at a date or later; most often it is one of the last. */
static int find(const struct pf_busy *busy, double date)
{
    const struct pf_busy_stretch *stretch = busy->stretch + busy->begin;
    int behind = busy->count, step = 1;
    while (behind > 0 && stretch[behind - 1].until >= date) {
        int low = behind > step ? behind - step : 0;
        if (stretch[low].until >= date) {
            behind = low;
            step *= 2;
        } else {
            step = step > 2 ? step / 2 : 1;
        }
    }
    return behind;
}

/* For one more. */
static void make_room(struct pf_busy *busy)
{
    if (busy->begin + busy->count < busy->room)
        return;
    int too_many = busy->count - busy->room / 2;
    if (busy->room < PF_BUSY_MOST && too_many >= 0) {
        busy->room = busy->room ? 2 * busy->room : ROOM;
        busy->stretch = pf_reallocarray(busy->stretch, (size_t)busy->room, sizeof *busy->stretch);
    } else if (too_many > 0) {
        busy->stretch[busy->begin + too_many].from = busy->stretch[busy->begin].from;
        busy->begin += too_many;
        busy->count -= too_many;
    }
    memmove(busy->stretch, busy->stretch + busy->begin, (size_t)busy->count * sizeof *busy->stretch);
    busy->begin = 0;
}

/* An interval takes the place of those from `first` to before `last`. */
static void replace(struct pf_busy *busy, int first, int last, double from, double until)
{
    struct pf_busy_stretch *stretch = busy->stretch + busy->begin;
    memmove(stretch + first + 1, stretch + last, (size_t)(busy->count - last) * sizeof *stretch);
    stretch[first] = (struct pf_busy_stretch){from, until};
    busy->count += 1 - (last - first);
}

double pf_busy_taken(const struct pf_busy *busy, double date)
{
    const struct pf_busy_stretch *stretch = busy->stretch + busy->begin;
    double taken = 0;
    for (int i = find(busy, date); i < busy->count; i++)
        taken += stretch[i].until - (stretch[i].from > date ? stretch[i].from : date);
    return taken;
}

double pf_busy_waits(const struct pf_busy *busy, double ready, double duration)
{
    const struct pf_busy_stretch *stretch = busy->stretch + busy->begin;
    double begin = ready;
    for (int i = find(busy, ready); i < busy->count && stretch[i].from - begin < duration; i++)
        begin = stretch[i].until > begin ? stretch[i].until : begin;
    return begin - ready > 2 * duration ? begin - ready : 0;
}

/* Into the first gap that it fits into; what is left of that on either side may be too short for any. */
static double take_whole(struct pf_busy *busy, double ready, double duration)
{
    const struct pf_busy_stretch *stretch = busy->stretch + busy->begin;
    int count = busy->count, first = find(busy, ready), last = first;
    double begin = ready, rounding = duration * 1e-9;
    for (; last < count && stretch[last].from - begin < duration - rounding; last++)
        begin = stretch[last].until > begin ? stretch[last].until : begin;
    double from = begin, until = begin + duration, least = busy->shortest - rounding;
    first = last;
    if (first > 0 && begin - stretch[first - 1].until < least)
        from = stretch[--first].from;
    if (last < count && stretch[last].from - until < least)
        until = stretch[last++].until;
    replace(busy, first, last, from, until);
    return begin;
}

/* Into all gaps from its date on. */
static double take_pieces(struct pf_busy *busy, double ready, double duration)
{
    const struct pf_busy_stretch *stretch = busy->stretch + busy->begin;
    int count = busy->count, first = find(busy, ready), last = first;
    double from = ready, at = ready, left = duration;
    for (; last < count && stretch[last].from - at < left; last++) {
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
    replace(busy, first, last, from, until);
    return end > ready + duration ? end - duration : ready;
}

double pf_busy_take_gap(struct pf_busy *busy, double ready, double duration, bool whole)
{
    make_room(busy);
    return whole ? take_whole(busy, ready, duration) : take_pieces(busy, ready, duration);
}

double pf_busy_left(const struct pf_busy *busy, double date)
{
    const struct pf_busy_stretch *stretch = busy->stretch + busy->begin;
    int i = find(busy, date);
    return i < busy->count && stretch[i].from <= date ? stretch[i].until - date : 0;
}
