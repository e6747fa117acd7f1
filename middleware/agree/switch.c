/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes a rank's model, by call, phase, schedule or promotion. */
#include "middleware/agree/switch.h"

#include <string.h>

#include <simgrid/engine.h>

#include "base/log.h"
#include "lowlevel/platform/platform.h"
#include "middleware/compute/compute.h"
#include "middleware/compute/critical_path.h"
#include "middleware/summary/summary.h"
#include "middleware/agree/ledger_queues.h"
#include "middleware/agree/route.h"
#include "middleware/agree/schedule.h"
#include "middleware/core/upcalls.h"
#include "middleware/include/parfocal.h"
#include "middleware/core/job_state.h"

static enum pf_model stand_in = PF_MODEL_NONE;

enum pf_model pf_switch_stand_in(void)
{
    return stand_in == PF_MODEL_NONE ? PF_MODEL_PORTALS : stand_in;
}

static const char *phase_of(int rank)
{
    const char *phase = pf_account_phase(pf_job_state.ranks[rank].account);
    return strcmp(phase, "start") == 0 ? NULL : phase;
}

/* The implementation, for all ranks. */
static void open_implementation(enum pf_model model, const struct pf_adapter *adapter)
{
    struct pf_job job = {.size = pf_job_state.size,
                         .ranks = pf_job_state.selves,
                         .on_abort = pf_job_abort,
                         .alone = pf_job_state.alone,
                         .on_progress = pf_progress_notify,
                         .phase = phase_of};
    char why[512] = "";
    int error = adapter->ops->open(&job, why, sizeof why);
    pf_account_loaded();
    if (error)
        pf_die("model %s cannot be loaded: %s", pf_model_name(model), why);
    if (adapter->version)
        pf_summary_add_version(adapter->name, adapter->version);
}

void pf_model_withhold_world(struct pf_instance *in)
{
    if (pf_job_state.world_count > 1)
        in->predefined[(uintptr_t)MPI_COMM_WORLD] = NULL;
}

void pf_model_load(enum pf_model model)
{
    if (pf_model_missing(model))
        pf_die("model %s: %s", pf_model_name(model), pf_model_missing(model));
    if (model == PF_MODEL_SMPI && !pf_platform_has_routes())
        pf_die("model smpi has no routes on this platform, which is no cluster that SimGrid knows: at most "
               "1,024 hosts, or the first 256 of more; choose another model, such as analytic");
    if (pf_job_state.ranks[0].models[model])
        return;
    int impl = pf_model_impl(model);
    const struct pf_adapter *adapter = pf_adapter_get(impl);
    if (!pf_job_state.ranks[0].instances[impl])
        open_implementation(model, adapter);
    if (pf_job_state.ranks[0].models[model])
        return; /* another rank has loaded it meanwhile */
    if (impl == pf_model_impl(PF_MODEL_PORTALS) && stand_in == PF_MODEL_NONE)
        stand_in = model;
    for (int i = 0; i < pf_job_state.size; i++) {
        struct pf_rank *r = &pf_job_state.ranks[i];
        r->models[model] = adapter->ops->instance(i, pf_model_network(model));
        if (r->models[model]->values->needs_progress)
            pf_progress_serve(r, impl);
        r->models[model]->model = model;
        pf_model_withhold_world(r->models[model]);
        if (!r->instances[impl])
            r->instances[impl] = r->models[model];
    }
}

void pf_model_enforce(struct pf_rank *r, enum pf_model model)
{
    r->model = model;
    r->active = r->instances[pf_model_impl(model)] = r->models[model];
}

/* A rank that has not called MPI uses no implementation: the interface next to MPI sees at its next call
 * which model is in force. */
static void move_without_mpi(struct pf_rank *r, const char *phase, enum pf_model model)
{
    pf_compute_charge(r);
    pf_account_move(r->account, phase, model, simgrid_get_clock());
    pf_critical_path_moved(r);
    if (model != PF_MODEL_NONE)
        r->model = model;
}

/* Into a phase, NULL for the present one, and a model, PF_MODEL_NONE for the present one. */
static void move(struct pf_rank *r, const char *phase, enum pf_model model)
{
    enum pf_model from = r->model;
    if (r->state == PF_RANK_NEW) {
        move_without_mpi(r, phase, model);
        return;
    }
    if (model != PF_MODEL_NONE)
        pf_model_load(model);
    pf_compute_charge(r);
    pf_call_settle(r);
    if (phase || model != from)
        pf_account_move(r->account, phase, model, simgrid_get_clock());
    pf_critical_path_moved(r);
    if (model == PF_MODEL_NONE)
        return;
    pf_model_enforce(r, model);
    pf_job_switched(r, model);
    if (model != from)
        pf_upcalls.switched(r, from);
}

void pf_switch_to(struct pf_rank *r, enum pf_model model)
{
    move(r, NULL, model);
}

struct pf_instance *pf_switch_promote(struct pf_rank *r)
{
    enum pf_model model = pf_switch_stand_in();
    if (pf_model_impl(r->model) == pf_model_impl(model))
        return r->active;
    pf_model_load(model);
    pf_account_promoted(r->account);
    return r->models[model];
}

void pf_switch_by_schedule(struct pf_rank *r, const struct pf_call_shape *shape)
{
    if (r->state != PF_RANK_NEW)
        pf_upcalls.communicates(r, shape);
    enum pf_model model = pf_schedule_step(&r->cursor, shape->world, simgrid_get_clock());
    if (model != PF_MODEL_NONE)
        pf_switch_to(r, model);
}

/* Names it in the accounts and follows the schedule. */
static void begin_phase(struct pf_rank *r, const char *phase)
{
    move(r, phase, pf_schedule_enter(r->job->schedule, phase));
    if (r->state != PF_RANK_NEW)
        pf_upcalls.entered_phase(r, phase);
}

/* The rank that calls one of the functions of parfocal.h, NULL outside MPI_Init .. MPI_Finalize, and without
 * MPI before shmem_init. */
static struct pf_rank *calling_rank(void)
{
    pf_self_t *self = pf_job_self();
    if (!self || !self->mpi || !pf_compute_counts(self->mpi))
        return NULL;
    pf_account_enter(self->mpi->account);
    return self->mpi;
}

PF_EXPORT int pf_model_switch(const char *name)
{
    enum pf_model model;
    struct pf_rank *r = calling_rank();
    if (!r)
        return -1;
    if (!name || !pf_model_parse(name, strlen(name), &model)) {
        const char *near = name ? pf_model_suggest(name) : NULL;
        pf_die("rank %d: pf_model_switch: unknown model '%s'%s%s%s; models: %s", r->self.rank,
               name ? name : "(null)", near ? ", maybe '" : "", near ? near : "", near ? "'" : "",
               pf_model_list());
    }
    pf_switch_to(r, model);
    pf_account_leave(r->account);
    return 0;
}

PF_EXPORT const char *pf_model_current(void)
{
    pf_self_t *self = pf_job_self();
    return self && self->mpi ? pf_model_name(self->mpi->model) : "none";
}

PF_EXPORT int pf_phase(const char *name)
{
    struct pf_rank *r = calling_rank();
    if (!r)
        return -1;
    if (r->state != PF_RANK_NEW)
        pf_upcalls.phase(r, name ? name : "other");
    begin_phase(r, name ? name : "other");
    pf_account_leave(r->account);
    return 0;
}

/* "pcontrol:7", by hand: snprintf() takes longer than all the rest of such a call. */
static const char *level_name(int level, char *text, size_t size)
{
    static const char prefix[] = "pcontrol:";
    unsigned rest = level < 0 ? 0u - (unsigned)level : (unsigned)level;
    char *at = text + size;
    *--at = 0;
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (level < 0)
        *--at = '-';
    at -= sizeof prefix - 1;
    return memcpy(at, prefix, sizeof prefix - 1);
}

int pf_PMPI_Pcontrol(const int level, ...)
{
    struct pf_rank *r = PF_ENTER(Pcontrol);
    char text[32];
    begin_phase(r, level_name(level, text, sizeof text));
    return pf_call_return(r, MPI_SUCCESS);
}
