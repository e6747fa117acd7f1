/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary heap: a report in the order of dates, as most are, costs one comparison. */
#include "lowlevel/network/external/reports.h"

#include <stddef.h>

#include "base/memory.h"

static struct pf_peer_report *all;
static size_t count, room;

static bool is_before(const struct pf_peer_report *a, const struct pf_peer_report *b)
{
    return a->date < b->date || (a->date == b->date && a->number < b->number);
}

void pf_peer_report_add(const struct pf_peer_report *report)
{
    if (count == room) {
        room = room ? 2 * room : 64;
        all = pf_reallocarray(all, room, sizeof *all);
    }
    size_t place = count++;
    for (; place > 0 && is_before(report, &all[(place - 1) / 2]); place = (place - 1) / 2)
        all[place] = all[(place - 1) / 2];
    all[place] = *report;
}

const struct pf_peer_report *pf_peer_report_first(void)
{
    return count ? all : NULL;
}

void pf_peer_report_drop_first(void)
{
    struct pf_peer_report moved = all[--count];
    size_t place = 0;
    for (size_t child; (child = 2 * place + 1) < count; place = child) {
        if (child + 1 < count && is_before(&all[child + 1], &all[child]))
            child++;
        if (!is_before(&all[child], &moved))
            break;
        all[place] = all[child];
    }
    all[place] = moved;
}
