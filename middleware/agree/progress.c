/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers that advance an implementation while its ranks are busy in another. */
#include "middleware/agree/progress.h"

#include <stdio.h>
#include <stdlib.h>

#include <simgrid/actor.h>

#include "middleware/core/job_state.h"
#include "base/memory.h"
#include "lowlevel/engine/chain.h"

/* Open MPI's progress functions run in a fixed order, and one may make work for an earlier one. */
#define PASSES 4

/* Implementations that helpers advance: have their operations begun in this run, and do the helpers exist? */
static struct {
    bool used, helped;
} served[PF_IMPL_COUNT];

/*
 * Every event of the NIC that finds the rank elsewhere may allow another step of an operation in the
 * implementation. The rank may be back there when its helper's turn comes: then it looks itself, and leaves
 * the helper what its last look has not finished.
 */
static void helper_main(int argc, char **argv)
{
    struct pf_rank *r = pf_self()->mpi;
    int impl = argc > 1 ? atoi(argv[1]) : -1;
    struct pf_helper *helper = r->progress->of[impl];
    struct pf_instance *in = r->instances[impl];
    for (;;) {
        while (!helper->work || r->job->has_failed || pf_model_impl(r->call.model) == impl)
            pf_waiter_park(&helper->wake);
        helper->work = false;
        helper->busy = true;
        for (int pass = 0; pass < PASSES; pass++)
            in->ops->progress(in);
        helper->busy = false;
        if (helper->rank_waits)
            pf_waiter_wake(&helper->idle);
    }
}

struct pf_progress *pf_progress_of(struct pf_rank *r)
{
    if (!r->progress)
        r->progress = pf_calloc(1, sizeof *r->progress);
    return r->progress;
}

static void start_helper(struct pf_rank *r, int impl)
{
    char name[32], number[16];
    const char *argv[] = {name, number, NULL};
    snprintf(name, sizeof name, "progress-%d", r->self.rank);
    snprintf(number, sizeof number, "%d", impl);
    sg_actor_t helper = sg_actor_init(name, r->self.host);
    sg_actor_set_data(helper, &r->self);
    if (pf_chain_on)
        pf_chain_help(&r->self, true);
    /* In this order: SimGrid ends all daemons when there are as many as actors that have started, and
     * stumbles over one that has not. */
    sg_actor_start_(helper, helper_main, 2, argv);
    sg_actor_daemonize(helper);
}

void pf_progress_serve(struct pf_rank *r, int impl)
{
    struct pf_progress *progress = pf_progress_of(r);
    if (progress->of[impl])
        return;
    progress->of[impl] = pf_calloc(1, sizeof *progress->of[impl]);
    pf_waiter_init(&progress->of[impl]->wake);
    pf_waiter_init(&progress->of[impl]->idle);
}

/* All at once: a rank that is blocked elsewhere already cannot start its own. */
static void start_helpers(int impl)
{
    served[impl].helped = true;
    for (int i = 0; i < pf_job_state.size; i++)
        start_helper(&pf_job_state.ranks[i], impl);
}

static bool somebody_is_elsewhere(int impl)
{
    for (int i = 0; i < pf_job_state.size; i++)
        if (pf_job_state.ranks[i].call.model >= 0 && pf_model_impl(pf_job_state.ranks[i].call.model) != impl)
            return true;
    return false;
}

void pf_progress_notify(void *rank, int impl)
{
    struct pf_rank *r = rank;
    struct pf_progress *progress = pf_progress_of(r);
    struct pf_helper *helper = progress->of[impl];
    progress->changed = true;
    if (helper)
        helper->work = true;
    if (progress->mixed)
        pf_waiter_wake(progress->mixed);
    else if (served[impl].helped && (r->call.model >= 0 || r->state >= PF_RANK_FINALIZED))
        pf_waiter_wake(&helper->wake);
}

/* The rank goes into the implementation itself. */
static void go_in(struct pf_helper *helper, int impl)
{
    if (!served[impl].used) {
        served[impl].used = true;
        if (somebody_is_elsewhere(impl))
            start_helpers(impl);
    }
    while (helper->busy) {
        helper->rank_waits = true;
        pf_waiter_park(&helper->idle);
        helper->rank_waits = false;
    }
    /* The call may end with something left to do: a look before the next call elsewhere. */
    helper->work = true;
}

void pf_progress_enter(struct pf_rank *r, int impl)
{
    for (int other = 0; other < PF_IMPL_COUNT; other++) {
        struct pf_helper *helper = r->progress->of[other];
        if (!helper)
            continue;
        if (other == impl) {
            go_in(helper, impl);
            continue;
        }
        if (served[other].used && !served[other].helped)
            start_helpers(other);
        if (helper->work)
            pf_waiter_wake(&helper->wake);
    }
}
