/* SPDX-License-Identifier: BSD-3-Clause */
/* The process as an interface beside MPI sees it. */
#include "middleware/process/layer.h"

#include <stdint.h>

#include <simgrid/engine.h>

#include "base/config.h"
#include "base/log.h"
#include "middleware/core/call.h"
#include "middleware/core/call_site.h"
#include "middleware/core/job_state.h"
#include "middleware/core/upcalls.h"
#include "middleware/process/program.h"

const void *pf_layer_program(void)
{
    return pf_program_of_caller();
}

static bool has_nic(enum pf_model model)
{
    return *pf_model_network(model) != '\0';
}

enum pf_model pf_layer_model(const char *who)
{
    struct pf_rank *r = pf_self()->mpi;
    enum pf_model model = pf_job_state.start_model;
    if (!has_nic(model)) {
        if (*pf_config.model || r->state == PF_RANK_RUNNING)
            pf_die(
                "%s needs a model with a network interface, and %s has none: pfrun -model portals or packet",
                who, pf_model_name(model));
        model = PF_MODEL_PORTALS;
    }
    if (r->state != PF_RANK_RUNNING)
        pf_account_move(r->account, NULL, model, simgrid_get_clock());
    return model;
}

void pf_layer_enter(pf_self_t *self)
{
    pf_account_enter(self->mpi->account);
}

void pf_layer_leave(pf_self_t *self)
{
    pf_account_leave(self->mpi->account);
}

void pf_layer_set_blocked(bool (*print)(FILE *out, const pf_self_t *self))
{
    pf_upcalls.print_layer = print;
}

const char *pf_layer_site(const void *address, char *text, size_t size)
{
    return pf_call_site(address, text, size);
}

void pf_layer_abort(pf_self_t *self, int status)
{
    pf_job_abort(self->rank, status);
}
