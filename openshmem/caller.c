/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is calling, and in which model. */
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
}

void pf_shmem_use_model(struct pf_shmem *me, enum pf_model model)
{
    pf_layer_need_nic("OpenSHMEM", model);
    me->model = model;
    me->network = pf_portals_network(pf_model_network(model));
}

/* What goes by two networks has no order, so nothing is left on its way in the old one. The PE pays: it waits
 * as in a shmem_quiet of all its contexts. */
static void change_model(struct pf_shmem *me, enum pf_model model)
{
    pf_shmem_quiet_all(me);
    pf_shmem_use_model(me, model);
    pf_portals_enter(me->self, me->network);
}

void pf_shmem_enter(struct pf_shmem *me, const char *call, const void *site, enum pf_layer_call kind)
{
    enum pf_model model = pf_layer_enter(me->self, site, kind);
    pf_portals_enter(me->self, me->network);
    me->call = call;
    me->site = site;
    if (__builtin_expect(model != me->model, 0))
        change_model(me, model);
}

void pf_shmem_leave(struct pf_shmem *me)
{
    me->call = NULL;
    pf_layer_leave(me->self);
}
