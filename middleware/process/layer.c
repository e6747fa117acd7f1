/* SPDX-License-Identifier: BSD-3-Clause */
/* The process as an interface next to MPI sees it. */
#include "middleware/process/layer.h"

#include <stdint.h>
#include <string.h>

#include <simgrid/engine.h>

#include "base/config.h"
#include "base/log.h"
#include "base/streams.h"
#include "lowlevel/engine/chain.h"
#include "lowlevel/portals/runtime.h"
#include "middleware/agree/schedule.h"
#include "middleware/comm/routing.h"
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

const char *pf_layer_network(const char *caller, enum pf_model model)
{
    if (model == PF_MODEL_ANALYTIC)
        return "ends";
    if (!has_nic(model))
        pf_die(
            "%s needs a model with a network interface, and %s has none: pfrun -model analytic, portals or "
            "packet",
            caller, pf_model_name(model));
    if (strcmp(pf_model_network(model), "external") == 0 && pf_model_missing(model))
        pf_die("model %s: %s", pf_model_name(model), pf_model_missing(model));
    return pf_model_network(model);
}

enum pf_model pf_layer_model(void)
{
    struct pf_rank *r = pf_self()->mpi;
    if (r->state == PF_RANK_RUNNING)
        return r->model;
    if (!has_nic(r->job->start_model) && !*pf_config.model &&
        pf_schedule_start(r->job->schedule) == PF_MODEL_NONE)
        r->job->start_model = PF_MODEL_PORTALS; /* also for an MPI_Init behind this */
    r->model = r->job->start_model;
    pf_account_move(r->account, NULL, r->model, simgrid_get_clock());
    pf_chain_moved(&r->self);
    return r->model;
}

void pf_layer_open(pf_self_t *self)
{
    pf_compute_open(self->mpi);
}

static uint64_t layer_calls; /* of all ranks; their accounts count these with those of MPI */

enum pf_model pf_layer_enter(pf_self_t *self, const void *site, enum pf_layer_call call)
{
    struct pf_rank *r = self->mpi;
    bool counts = pf_compute_counts(r);
    pf_call_settle(r); /* a rank of an MPI engine that lets it run ahead */
    if (pf_compute_on && counts)
        pf_compute_point(r, site, false);
    pf_account_enter(r->account);
    layer_calls++;
    if (!counts)
        return r->model;
    pf_compute_now(r);
    if (PF_UNLIKELY(r->cursor.watching) && call != PF_LAYER_LOCAL) {
        bool all = call == PF_LAYER_ALL;
        pf_switch_by_schedule(r, &(struct pf_call_shape){.world = all, .all = all});
    }
    return r->model;
}

/* The rank that has left a call last, and when. Another thread looks at it. */
static struct {
    const pf_self_t *self;
    uint64_t mark;
} left;

void pf_layer_leave(pf_self_t *self)
{
    pf_account_leave(self->mpi->account);
    __atomic_store_n(&left.self, self, __ATOMIC_RELAXED);
    __atomic_store_n(&left.mark, pf_account_mark, __ATOMIC_RELAXED);
}

const pf_self_t *pf_layer_computing(uint64_t *turn)
{
    *turn = __atomic_load_n(&left.mark, __ATOMIC_RELAXED);
    return *turn == __atomic_load_n(&pf_account_mark, __ATOMIC_RELAXED)
               ? __atomic_load_n(&left.self, __ATOMIC_RELAXED)
               : NULL;
}

void pf_layer_register(bool (*print)(FILE *out, const pf_self_t *self),
                       void (*left)(pf_self_t *self, int status))
{
    pf_upcalls.print_layer = print;
    pf_upcalls.layer_left = left;
}

/* What ranks have done that a polling rank may wait for: messages of NICs, calls of MPI. */
static uint64_t done_by_all(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < pf_job_state.size; i++) {
        const struct pf_rank *r = &pf_job_state.ranks[i];
        struct pf_portals_counters counters;
        pf_portals_counters(&r->self, &counters);
        sum += counters.messages;
        for (const struct pf_account_slot *slot = r->account ? r->account->slots : NULL; slot;
             slot = slot->next)
            sum += slot->calls;
    }
    return sum - layer_calls;
}

double pf_layer_spin_hint(void)
{
    return pf_config.spin_hint;
}

void pf_layer_idle(pf_self_t *self, const char *call)
{
    static uint64_t before, polls;
    sg_actor_sleep_for(pf_config.openmpi_idle_time);
    if (++polls < (uint64_t)pf_config.livelock_polls)
        return;
    polls = 0;
    uint64_t now = done_by_all();
    if (now == before) {
        pf_flush_all();
        fprintf(
            stderr,
            "parfocal: error: livelock at simulated time %.9g s: %ld calls of %s in a row found nothing, and "
            "no rank did anything else (PARFOCAL_LIVELOCK_POLLS)\n",
            simgrid_get_clock(), pf_config.livelock_polls, call);
        pf_end_because("livelock at simulated time %.9g s", simgrid_get_clock());
        pf_end_process(1);
    }
    before = now;
}

const char *pf_layer_site(const void *address, char *text, size_t size)
{
    return pf_call_site(address, text, size);
}

void pf_layer_abort(pf_self_t *self, int status)
{
    if (status != 0) /* otherwise all is well, although others have not come to their end */
        pf_end_because("rank %d ended the job with code %d", self->rank, status);
    pf_job_leave(status);
}
