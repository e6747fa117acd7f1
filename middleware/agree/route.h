/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/agree/progress.h"
#include "middleware/agree/switch.h"
#include "middleware/compute/compute.h"
#include "middleware/core/call.h"

/* The way of a call into an implementation and back. Inline, as core/call.h is. */

/* A communicating call is about to run in some model: the schedule may switch first. */
static inline void pf_call_schedule(struct pf_rank *r, bool world_collective)
{
    if (PF_UNLIKELY(r->cursor.watching))
        pf_switch_by_schedule(r, &(struct pf_call_shape){.world = world_collective, .all = world_collective});
}

/* Before anything of the rank can be seen outside an implementation in which it may be ahead of the clock. */
static inline void pf_call_settle(struct pf_rank *r)
{
    if (PF_UNLIKELY(r->ahead != NULL))
        r->ahead->ops->settle(r->ahead);
    if (PF_UNLIKELY(r->owed > 0))
        pf_compute_pay(r);
}

/* May the call that begins leave the rank ahead of the clock? Notes it. */
static inline bool pf_call_runs_ahead(struct pf_rank *r, struct pf_instance *in)
{
    if (PF_UNLIKELY(in->values->runs_ahead))
        r->ahead = in;
    return in->values->runs_ahead;
}

static inline struct pf_instance *pf_call_native_begin(struct pf_rank *r, struct pf_instance *in)
{
    if (!pf_call_runs_ahead(r, in))
        pf_call_settle(r);
    else if (PF_UNLIKELY(r->owed > 0))
        pf_compute_pay(r);
    r->call.model = in->model;
    pf_progress_guard(r, in->impl);
    pf_compute_native_begin(r, in);
    in->ops->enter(in);
    return in;
}

static inline void pf_call_native_end(struct pf_rank *r, struct pf_instance *in)
{
    in->ops->leave(in);
    pf_compute_native_end(r, in);
    r->call.model = PF_MODEL_NONE;
}

/* Ends a native call and the call. */
static inline int pf_call_leave(struct pf_rank *r, struct pf_instance *in, MPI_Comm comm, int code)
{
    pf_call_native_end(r, in);
    code = pf_native_code(in, code);
    if (PF_UNLIKELY(code != MPI_SUCCESS))
        code = pf_call_failed(r, in, comm, code);
    pf_account_leave(r->account);
    return code;
}

/* So many sends and receives start: the rank pays what the user has configured for the implementation's own
 * software. After pf_call_native_begin(): the computation before the call has been charged then, and SMPI's
 * timer stands while the others run. */
static inline void pf_call_message(struct pf_instance *in, int messages)
{
    if (PF_UNLIKELY(in->message_cost > 0))
        sg_actor_sleep_for(messages * in->message_cost);
}
