/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes calls and what lies between them into the trace. */
#include "middleware/observing/tracing.h"

#include <simgrid/actor.h>

#include "lowlevel/engine/engine.h"
#include "lowlevel/trace/record.h"
#include "lowlevel/trace/trace.h"
#include "middleware/compute/compute.h"
#include "middleware/core/rank.h"
#include "middleware/core/upcalls.h"
#include "middleware/observing/recording.h"
#include "middleware/observing/start.h"
#include "middleware/process/ranks.h"
#include "pf_fn.h"

bool pf_tracing_on;

/* The calls are wanted in a trace; otherwise only their dates are, in a recording. */
static bool traces;

/* The rank's own date, which may be ahead of the clock. */
static double date_of(const struct pf_rank *r)
{
    const struct pf_instance *in = r->ahead;
    return pf_engine_now() + (in ? in->ops->ahead(in) : 0.0);
}

static void describe(const struct pf_rank *r, struct pf_trace_record *record)
{
    enum pf_model model = r->account ? r->model : r->job->start_model;
    record->model = pf_model_name(model);
    record->colour = pf_model_colour(model);
    record->phase = r->account ? pf_account_phase(r->account) : "start";
}

/* What the rank does from here on is no MPI call. */
static void begin_between(struct pf_rank *r, double date)
{
    struct pf_trace_record what = {.type = PF_TRACE_COMPUTE, .start = date};
    if (!traces)
        return;
    describe(r, &what);
    r->between = pf_trace_begin(&r->self, &what);
}

static void end_between(struct pf_rank *r, double date)
{
    pf_trace_end_later(r->between, date);
    r->between = 0;
}

static void begin_span(struct pf_rank *r)
{
    struct pf_observed *call = r->observed;
    double date = date_of(r);
    struct pf_trace_record what = {.type = PF_TRACE_CALL, .start = date, .call = pf_fn_name(call->fn)};
    call->entered = true;
    pf_recording_entered(r, date);
    if (!traces)
        return;
    end_between(r, date);
    describe(r, &what);
    call->span = pf_trace_begin(&r->self, &what);
}

/* The state of the rank that is about to be made by MPI_Init; NULL when that call is wrong. */
static struct pf_rank *rank_to_be(void)
{
    static bool known;
    int rank = (int)sg_actor_self_get_pid() - 1;
    if (rank < 0)
        return NULL;
    if (!pf_job_state.ranks)
        pf_job_create_ranks();
    if (!known && traces)
        pf_trace_job(pf_job_state.selves, pf_job_state.size);
    known = true;
    return rank < pf_job_state.size ? &pf_job_state.ranks[rank] : NULL;
}

/* Calls that do not enter the middleware only ask it something: no span. But for those that come before and
 * those that do not return. */
void pf_tracing_begin(struct pf_observed *call)
{
    bool init = call->fn == PF_FN_Init || call->fn == PF_FN_Init_thread;
    if (!init && !pthread_equal(pthread_self(), pf_job_state.thread))
        return; /* no rank of its own */
    pf_self_t *self = pf_self();
    struct pf_rank *r = self ? self->mpi : NULL;
    if (init && (!r || r->state == PF_RANK_NEW))
        r = rank_to_be();
    else if (!r || r->state != PF_RANK_RUNNING)
        return;
    if (!r || r->observed || !pthread_equal(pthread_self(), pf_job_state.thread))
        return;
    call->rank = r;
    r->observed = call;
    if (init || call->fn == PF_FN_Abort)
        begin_span(r);
}

/* The rank's computation before the call has been charged: the call begins. */
static void entered(struct pf_rank *r)
{
    if (!r->observed->entered)
        begin_span(r);
    if (pf_recording_on && r->observed->fn == PF_FN_Finalize)
        pf_recording_finalize();
}

void pf_tracing_end(struct pf_observed *call)
{
    struct pf_rank *r = call->rank;
    r->observed = NULL;
    if (!call->entered || (traces && !call->span))
        return;
    double date = date_of(r);
    pf_trace_end(call->span, date);
    if (r->state != PF_RANK_RUNNING)
        return;
    begin_between(r, date);
    pf_compute_resume(r);
}

/* A mark. The call that is being made belongs to the new model. */
static void switched(struct pf_rank *r, enum pf_model from)
{
    if (!traces)
        return;
    struct pf_trace_record what = {
        .type = PF_TRACE_SWITCH, .start = date_of(r), .from_model = pf_model_name(from)};
    describe(r, &what);
    if (r->observed)
        pf_trace_alter(r->observed->span, &what);
    pf_trace_end(pf_trace_begin(&r->self, &what), what.start);
}

void pf_tracing_start(void)
{
    traces = pf_trace_calls();
    if (!traces && !pf_recording_on)
        return;
    pf_tracing_on = pf_compute_on = true;
    pf_upcalls.entered = entered;
    pf_upcalls.switched = switched;
}
