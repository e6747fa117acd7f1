/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers that advance an implementation while its ranks are busy in another. */
#include "middleware/agree/progress.h"

#include <stdio.h>
#include <stdlib.h>

#include <simgrid/actor.h>

#include "middleware/core/job_state.h"
#include "base/memory.h"

/* Open MPI's progress functions run in a fixed order, and one may make work for an earlier one. */
#define PASSES 4

/* The implementation that the helpers advance. */
static int served = PF_IMPL_COUNT;

/*
 * Every event of the NIC that finds the rank elsewhere may allow another step of an operation in Open MPI.
 * The rank may be back there when its helper's turn comes: then it looks itself, and leaves the helper what
 * its last look has not finished.
 */
static void helper_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct pf_rank *r = pf_self()->mpi;
    struct pf_progress *progress = r->progress;
    struct pf_instance *in = r->instances[served];
    for (;;) {
        while (!progress->work || pf_model_impl(r->call.model) == served)
            pf_waiter_park(&progress->wake);
        progress->work = false;
        progress->busy = true;
        for (int pass = 0; pass < PASSES; pass++)
            in->ops->progress(in);
        progress->busy = false;
        if (progress->rank_waits)
            pf_waiter_wake(&progress->idle);
    }
}

struct pf_progress *pf_progress_of(struct pf_rank *r)
{
    if (!r->progress) {
        r->progress = pf_calloc(1, sizeof *r->progress);
        pf_waiter_init(&r->progress->wake);
        pf_waiter_init(&r->progress->idle);
    }
    return r->progress;
}

static void start_helper(struct pf_rank *r)
{
    char name[32];
    snprintf(name, sizeof name, "progress-%d", r->self.rank);
    sg_actor_t helper = sg_actor_init(name, r->self.host);
    sg_actor_set_data(helper, &r->self);
    /* In this order: SimGrid ends all daemons when there are as many as actors that have started, and
     * stumbles over one that has not. */
    sg_actor_start_(helper, helper_main, 0, NULL);
    sg_actor_daemonize(helper);
}

void pf_progress_serve(struct pf_rank *r, int impl)
{
    served = impl;
    pf_progress_of(r);
}

/* Have its operations begun in this run, and do the helpers exist? */
static bool used, helped;

/* All at once: a rank that is blocked elsewhere already cannot start its own. */
static void start_helpers(void)
{
    helped = true;
    for (int i = 0; i < pf_job_state.size; i++) {
        pf_progress_of(&pf_job_state.ranks[i]);
        start_helper(&pf_job_state.ranks[i]);
    }
}

static bool somebody_is_elsewhere(void)
{
    for (int i = 0; i < pf_job_state.size; i++)
        if (pf_job_state.ranks[i].call.model >= 0 &&
            pf_model_impl(pf_job_state.ranks[i].call.model) != served)
            return true;
    return false;
}

void pf_progress_notify(void *rank)
{
    struct pf_rank *r = rank;
    struct pf_progress *progress = pf_progress_of(r);
    progress->work = progress->changed = true;
    if (progress->mixed)
        pf_waiter_wake(progress->mixed);
    else if (helped && (r->call.model >= 0 || r->state >= PF_RANK_FINALIZED))
        pf_waiter_wake(&progress->wake);
}

void pf_progress_enter(struct pf_rank *r, int impl)
{
    struct pf_progress *progress = pf_progress_of(r);
    if (impl == served) {
        if (!used) {
            used = true;
            if (somebody_is_elsewhere())
                start_helpers();
        }
        while (progress->busy) {
            progress->rank_waits = true;
            pf_waiter_park(&progress->idle);
            progress->rank_waits = false;
        }
        progress->work =
            true; /* the call may end with something left to do: a look before the next call elsewhere */
        return;
    }
    if (used && !helped)
        start_helpers();
    if (progress->work)
        pf_waiter_wake(&progress->wake);
}
