/* SPDX-License-Identifier: BSD-3-Clause */
/* A process begins to use Portals, and ends: with PtlFini, without it, or because another one aborts. */
#include <simgrid/actor.h>

#include "lowlevel/portals/internal.h"
#include "lowlevel/trace/trace.h"

static void close_interfaces(struct ptl_process *process)
{
    for (int kind = 0; kind < PTL_NI_KINDS; kind++)
        if (process->nis[kind])
            ptl_ni_close(process->nis[kind]);
}

static void bury(struct pf_event *event)
{
    close_interfaces(pf_container_of(event, struct ptl_process, burial));
}

/*
 * The process has returned or was killed without PtlFini: from now on its memory must not be touched. This
 * runs in the dying actor, which must not call SimGrid; the rest follows in an event at the same date.
 */
static void process_gone(int failed, void *data)
{
    struct ptl_process *process = data;
    if (process->init_count == 0)
        return;
    process->init_count = 0;
    for (int kind = 0; kind < PTL_NI_KINDS; kind++)
        if (process->nis[kind])
            process->nis[kind]->closed = true;
    pf_event_init(&process->burial, bury);
    pf_engine_post(&process->burial, pf_engine_now());
}

int PtlInit(void)
{
    pf_self_t *self = pf_portals_self();
    if (!self || self->rank < 0)
        return PTL_FAIL;
    pf_config_load();
    pf_engine_start();
    pf_trace_process(self);
    if (!self->portals)
        self->portals = ptl_process_create(self);
    /* A helper that initialises a rank at no cost ends, and the rank goes on. */
    if (!self->mpi && !self->portals->free_mode && !self->portals->watched) {
        self->portals->watched = true;
        sg_actor_on_exit(process_gone, self->portals);
    }
    self->portals->init_count++;
    return PTL_OK;
}

void PtlFini(void)
{
    struct ptl_process *process = ptl_current();
    if (process && --process->init_count == 0)
        close_interfaces(process);
}

bool pf_portals_leave(pf_self_t *self)
{
    if (!self->portals || self->portals->init_count == 0)
        return false;
    self->portals->init_count = 1;
    PtlFini();
    return true;
}

void PtlAbort(void)
{
    struct ptl_process *process = ptl_current();
    if (!process)
        return;
    process->aborted = true;
    ptl_state_changed(process, true);
    ptl_queue_moved(process);
}
