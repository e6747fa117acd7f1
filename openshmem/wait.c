/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for the own memory to change. The PE is parked until the NIC has written something, looks, and is
 * parked again. What the NIC has written is seen when it has crossed PCIe, and not before.
 */
#include "openshmem/internal.h"

#include "lowlevel/portals/runtime.h"
#include "middleware/process/layer.h"

void pf_shmem_await(struct pf_shmem *me, const void *at, size_t size, pf_shmem_condition holds,
                    int comparison, const void *value)
{
    me->awaited = (struct pf_shmem_awaited){at, holds, comparison, value};
    while (!holds(at, comparison, value))
        pf_portals_park(me->self);
    me->awaited.at = NULL;
    pf_portals_memory_await(me->self, at, size);
}

static void check(const struct pf_shmem *me, const void *at, size_t size, int comparison)
{
    pf_shmem_locate(me, at, size);
    if (comparison < SHMEM_CMP_EQ || comparison > SHMEM_CMP_GE)
        pf_shmem_die(me, "%d is none of SHMEM_CMP_EQ, _NE, _GT, _LE, _LT, _GE", comparison);
}

void pf_shmem_wait_until(struct pf_shmem *me, const void *at, size_t size, pf_shmem_condition holds,
                         int comparison, const void *value)
{
    check(me, at, size, comparison);
    pf_shmem_await(me, at, size, holds, comparison, value);
}

/* A value that is still crossing PCIe counts when it is there: the one before it, which may have held as
 * well, is not known any more. A repeated test costs simulated time: the same as a test of MPI that finds
 * nothing. When all PEs do only this, the run ends. */
int pf_shmem_test(struct pf_shmem *me, const void *at, size_t size, pf_shmem_condition holds, int comparison,
                  const void *value)
{
    check(me, at, size, comparison);
    bool held = holds(at, comparison, value);
    if (held)
        pf_portals_memory_await(me->self, at, size);
    else
        pf_layer_idle(me->self, me->call);
    return held;
}

static bool is_given(const void *at, int comparison, const void *value)
{
    return *(const volatile long *)at > 0;
}

void pf_shmem_take_signal(struct pf_shmem *me, long *at, int from)
{
    me->waits_for = from;
    pf_shmem_await(me, at, sizeof *at, is_given, 0, NULL);
    me->waits_for = -1;
    --*at;
}
