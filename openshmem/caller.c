/* SPDX-License-Identifier: BSD-3-Clause */
/* The calling PE, and its model. */
#include <simgrid/engine.h>

#include "base/memory.h"
#include "lowlevel/portals/runtime.h"
#include "middleware/process/layer.h"
#include "openshmem/internal.h"

static struct pf_shmem **pes; /* by number */

struct pf_shmem *pf_shmem_of(int pe)
{
    return pes[pe];
}

void pf_shmem_known(struct pf_shmem *me)
{
    if (!pes)
        pes = pf_calloc((size_t)me->size, sizeof *pes);
    pes[me->rank] = me;
    pf_shmem_thread = pthread_self();
}

void pf_shmem_use_model(struct pf_shmem *me, enum pf_model model)
{
    me->network = pf_portals_network(pf_layer_network("OpenSHMEM", model));
    me->model = model;
}

/* What goes by two networks has no order, so nothing is left on its way in the old one. The PE pays: it waits
 * as in a shmem_quiet of all its contexts. */
static void change_model(struct pf_shmem *me, enum pf_model model)
{
    pf_shmem_quiet_all(me);
    pf_shmem_use_model(me, model);
    pf_portals_enter(me->self, me->network);
}

/*
 * All PEs share one thread. A PE that asks for something in a loop with calls that let no time pass
 * (shmem_quiet, shmem_fence, shmem_ptr) would keep the others from ever doing it. So after very many of them
 * each costs what a shmem_test costs that finds nothing, until time passes for another reason.
 */
static void count_idle(struct pf_shmem *me)
{
    enum { PATIENCE = 1000000 };
    double now = simgrid_get_clock();
    if (now != me->date)
        me->idle = 0;
    me->date = now;
    if (++me->idle < PATIENCE)
        return;
    me->idle = PATIENCE;
    pf_layer_idle(me->self, me->call);
    me->date = simgrid_get_clock();
}

bool pf_shmem_stores;

/* Stores of PEs in the memory of others, which no NIC reports. */
static void report_stores(const struct pf_shmem *me)
{
    for (int i = 0; i < me->size; i++) {
        const struct pf_shmem_awaited *wanted = &pes[i]->awaited;
        if (wanted->at && wanted->holds(wanted->at, wanted->comparison, wanted->value))
            pf_portals_memory_stored(pes[i]->self);
    }
}

void pf_shmem_enter(struct pf_shmem *me, const char *call, const void *site, enum pf_layer_call kind)
{
    enum pf_model model = pf_layer_enter(me->self, site, kind);
    pf_portals_enter(me->self, me->network);
    me->call = call;
    me->site = site;
    me->inside = true;
    count_idle(me);
    if (__builtin_expect(pf_shmem_stores, 0))
        report_stores(me);
    if (__builtin_expect(model != me->model, 0))
        change_model(me, model);
}

void pf_shmem_leave(struct pf_shmem *me)
{
    me->inside = false;
    pf_layer_leave(me->self);
}
