/* SPDX-License-Identifier: BSD-3-Clause */
/* The job as a Portals program sees it: identities of its processes, and a barrier that is not the network's.
 */
#include <stdlib.h>

#include "base/config.h"
#include "base/export.h"
#include "base/memory.h"
#include "lowlevel/engine/engine.h"
#include "lowlevel/job/include/parfocal_portals.h"
#include "lowlevel/portals/runtime.h"

/* One rank in the barrier. */
struct member {
    struct pf_waiter waiter;
    bool waiting;
};

static struct {
    struct member *members; /* by rank */
    int arrived;
} barrier;

/* The calling rank's identity; NULL also in a program that was started without the simulator. */
static const pf_self_t *caller(void)
{
    return sg_actor_self() ? pf_self() : NULL;
}

PF_EXPORT int pf_portals_init(void)
{
    return pf_portals_self() ? 0 : -1;
}

PF_EXPORT void pf_portals_fini(void)
{
    /* The identity belongs to the process, not to this interface. */
}

PF_EXPORT int pf_portals_rank(void)
{
    const pf_self_t *self = caller();
    return self ? self->rank : -1;
}

PF_EXPORT int pf_portals_size(void)
{
    const pf_self_t *self = caller();
    return self ? self->size : -1;
}

/* Perhaps no rank has called PtlInit yet. Starting the engine lets other ranks run, which may come here too:
 * only then is it known which is the first. */
static void make_members(int size)
{
    pf_config_load();
    pf_engine_start();
    if (barrier.members)
        return;
    barrier.members = pf_calloc((size_t)size, sizeof *barrier.members);
    for (int rank = 0; rank < size; rank++)
        pf_waiter_init(&barrier.members[rank].waiter);
}

/* In the order of ranks, whatever the order in which they came. */
static void wake_all(int size)
{
    barrier.arrived = 0;
    for (int rank = 0; rank < size; rank++) {
        struct member *member = &barrier.members[rank];
        if (member->waiting) {
            member->waiting = false;
            pf_waiter_wake(&member->waiter);
        }
    }
}

PF_EXPORT int pf_portals_barrier(void)
{
    const pf_self_t *self = caller();
    if (!self)
        return -1;
    if (!barrier.members)
        make_members(self->size);
    if (++barrier.arrived == self->size) {
        wake_all(self->size);
        return 0;
    }
    struct member *member = &barrier.members[self->rank];
    member->waiting = true;
    do
        pf_waiter_park(&member->waiter);
    while (member->waiting);
    return 0;
}

bool pf_portals_in_barrier(const pf_self_t *self)
{
    return barrier.members && barrier.members[self->rank].waiting;
}

PF_EXPORT int pf_portals_map(ptl_handle_ni_t ni, ptl_process_t *map)
{
    ptl_process_t own;
    int status = PtlGetPhysId(ni, &own);
    if (status != PTL_OK)
        return status;
    if (!map)
        return PTL_ARG_INVALID;
    pf_portals_barrier();
    for (int rank = 0; rank < pf_self()->size; rank++)
        if (!pf_portals_physical_id(rank, &map[rank].phys.nid, &map[rank].phys.pid))
            return PTL_NO_INIT;
    return PTL_OK;
}
