/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that are bound to a model: everything on them runs there, whatever model is in force. One
 * part of the machine can so be simulated finely while the rest stays cheap, in the same phase.
 */
#include <string.h>

#include "base/log.h"
#include "middleware/agree/ledger_queues.h"
#include "middleware/comm/routing.h"
#include "middleware/include/parfocal.h"
#include "middleware/object/info.h"

static void bind(struct pf_rank *r, struct pf_comm *comm, const char *name, const char *where)
{
    enum pf_model model;
    if (!*name) {
        pf_comm_bind(comm->shared, PF_MODEL_NONE);
        return;
    }
    if (!pf_model_parse(name, strlen(name), &model)) {
        const char *near = pf_model_suggest(name);
        pf_die("rank %d: %s: unknown model '%s'%s%s%s", r->self.rank, where, name, near ? ", maybe '" : "",
               near ? near : "", near ? "'" : "");
    }
    pf_model_load(model);
    pf_comm_bind(comm->shared, model);
    pf_job_switched(r, model);
}

void pf_comm_bind_by_info(struct pf_rank *r, struct pf_comm *comm)
{
    const char *name = comm->info ? pf_info_value(comm->info, "parfocal_model") : NULL;
    if (name)
        bind(r, comm, name, "info key parfocal_model");
}

PF_EXPORT int pf_comm_model_set(MPI_Comm handle, const char *name)
{
    pf_self_t *self = pf_job_self();
    if (!self || !self->mpi || self->mpi->state != PF_RANK_RUNNING)
        return -1;
    struct pf_rank *r = self->mpi;
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm)
        return -1;
    pf_account_enter(r->account);
    bind(r, comm, name ? name : "", "pf_comm_model_set");
    pf_account_leave(r->account);
    return 0;
}
