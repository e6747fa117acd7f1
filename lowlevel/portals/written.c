/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the NIC has written to a process's memory and what is still crossing PCIe: data are stored when the
 * message comes, and no process may act on them before their date. Only for processes that wait for memory
 * itself, without an event or a counter.
 */
#include "base/memory.h"
#include "lowlevel/portals/internal.h"

/* One write in 8 ns is all that a NIC takes, and each is under way for less than the latency of PCIe and its
 * queue. The oldest is forgotten when there are more. */
enum { PLACES = 128 };

struct ptl_written {
    struct {
        const char *begin, *end;
        double date;
    } places[PLACES];
    unsigned int next;
};

void pf_portals_watch_memory(pf_self_t *self)
{
    if (!self->portals->written)
        self->portals->written = pf_calloc(1, sizeof *self->portals->written);
}

void ptl_memory_written(struct ptl_process *process, const void *address, size_t length, double date)
{
    struct ptl_written *written = process->written;
    if (!written)
        return;
    written->places[written->next].begin = address;
    written->places[written->next].end = (const char *)address + length;
    written->places[written->next].date = date;
    written->next = (written->next + 1) % PLACES;
}

void pf_portals_memory_stored(pf_self_t *self)
{
    ptl_state_changed(self->portals, true);
}

/* When all of it is there. */
static double date_of(const struct ptl_process *process, const char *begin, const char *end)
{
    double date = 0.0;
    for (int i = 0; process->written && i < PLACES; i++)
        if (process->written->places[i].begin < end && begin < process->written->places[i].end &&
            process->written->places[i].date > date)
            date = process->written->places[i].date;
    return date;
}

void pf_portals_memory_await(const pf_self_t *self, const void *address, size_t length)
{
    ptl_wait_until(self->portals, date_of(self->portals, address, (const char *)address + length), "memory");
}
