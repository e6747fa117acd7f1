/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary heap: a report in the order of dates, as most are, costs one comparison. */
#include "lowlevel/network/external/reports.h"

#include <stddef.h>

#include "base/binary_heap.h"
#include "base/memory.h"

static struct pf_peer_report *all;
static size_t count, room;

static bool is_before(const struct pf_peer_report *a, const struct pf_peer_report *b)
{
    return a->date < b->date || (a->date == b->date && a->number < b->number);
}

void pf_peer_report_add(const struct pf_peer_report *report)
{
    PF_ARRAY_ROOM(all, room, count + 1);
    PF_HEAP_PUT(all, count, *report, is_before);
}

const struct pf_peer_report *pf_peer_report_first(void)
{
    return count ? all : NULL;
}

void pf_peer_report_drop_first(void)
{
    PF_HEAP_DROP_FIRST(all, count, is_before);
}
