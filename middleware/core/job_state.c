/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of the process, the names of the functions that they call, and the end of the job by one of them.
 */
#include "middleware/core/job_state.h"

#include <stdarg.h>
#include <stdio.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include "base/child.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/streams.h"
#include "pf_fn.h"

struct pf_job_state pf_job_state;

static const char *const fn_names[PF_FN_COUNT] = {
#define X(stem, route, group, smpi) "MPI_" #stem,
    PF_FN_LIST(X)
#undef X
};

const char *pf_fn_name(int fn)
{
    return fn >= 0 && fn < PF_FN_COUNT ? fn_names[fn] : "no MPI call";
}

const char *pf_workload_rank_name(int rank, char *text, size_t size)
{
    snprintf(text, size, "rank %d", rank);
    for (int i = 0; i < pf_job_state.world_count; i++) {
        const struct pf_world *world = &pf_job_state.worlds[i];
        if (world->name && rank >= world->first && rank - world->first < world->size)
            snprintf(text, size, "rank %d (rank %d of job '%s')", rank, rank - world->first, world->name);
    }
    return text;
}

void pf_job_leave(int status)
{
    pf_end_process(status & 0xff);
}

void pf_world_release(struct pf_world *world)
{
    for (; world->waiting > 0; world->waiting--)
        sg_sem_release(world->waited);
}

void pf_world_stay(void)
{
    for (;;)
        sg_actor_suspend(sg_actor_self());
}

/* They stay where they are for ever. Messages may still come to their memory, which stays, too. */
static void stop_ranks(struct pf_world *world)
{
    sg_actor_t self = sg_actor_self();
    for (int rank = world->first; rank < world->first + world->size; rank++) {
        struct pf_rank *r = &pf_job_state.ranks[rank];
        sg_actor_t actor = sg_actor_by_pid(rank + 1);
        if (r->account)
            pf_account_close(r->account, simgrid_get_clock());
        r->state = PF_RANK_LEFT;
        r->open = false;
        if (actor && actor != self)
            sg_actor_suspend(actor);
    }
}

static int failing = -1; /* the rank that has ended its job last: when it fails again, all end */

static void fail(struct pf_world *world, int status) __attribute__((noreturn));
static void fail(struct pf_world *world, int status)
{
    failing = (int)sg_actor_self_get_pid() - 1;
    pf_flush_all();
    if (world->has_failed) /* another rank is about to stop them */
        pf_world_stay();
    fprintf(stderr,
            "parfocal: error: job '%s' ends with status %d at simulated time %.9g s; the other jobs go on\n",
            world->name, status, simgrid_get_clock());
    world->status = world->status ? world->status : status;
    world->end = simgrid_get_clock();
    world->has_failed = true;
    stop_ranks(world);
    pf_world_release(world);
    pf_world_stay();
}

/* What the system keeps of it, and not 0. */
static int failed_status(int status)
{
    return (status & 0xff) == 0 ? 1 : status & 0xff;
}

void pf_job_blame(const pf_self_t *self, int status, const char *format, ...)
{
    char name[200], reason[400];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    struct pf_world *world = self && self->mpi ? self->mpi->job : NULL;
    if (world && !world->reason) {
        world->reason = pf_strdup(reason);
        world->failed_rank = self->rank - world->first;
        world->status = world->status ? world->status : failed_status(status);
    }
    if (!world || !pf_workload_goes_on())
        pf_end_because("%s: %s", pf_workload_rank_name(self ? self->rank : -1, name, sizeof name), reason);
}

bool pf_job_ends_alone(void)
{
    const pf_self_t *self = pf_workload_goes_on() && !pf_in_child() && sg_actor_self() ? pf_job_self() : NULL;
    const struct pf_rank *r = self ? self->mpi : NULL;
    /* One of a job that has just failed may have had its turn already, and fail itself. */
    return r && sg_actor_self_get_pid() == self->rank + 1 && self->rank != failing &&
           (r->state == PF_RANK_RUNNING || r->job->has_failed);
}

void pf_job_abort(int rank, int status)
{
    const pf_self_t *self =
        rank >= 0 && rank < pf_job_state.size && pf_job_state.ranks ? &pf_job_state.ranks[rank].self : NULL;
    status = failed_status(status);
    pf_job_blame(self, status, "ended the job with code %d", status);
    if (self && pf_workload_goes_on())
        fail(self->mpi->job, status);
    pf_job_leave(status);
}
