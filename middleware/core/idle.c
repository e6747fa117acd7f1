/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests and probes that find nothing: what they cost, and a job in which all ranks spin. */
#include <stdio.h>

#include <simgrid/engine.h>

#include "base/config.h"
#include "base/streams.h"
#include "middleware/core/call.h"
#include "middleware/core/job_state.h"
#include "middleware/core/upcalls.h"

/* Polls that found nothing, in a row over all ranks, with no other communication in between. */
uint64_t pf_call_polls;

/* Others run meanwhile, and one of them may have to print where this rank is. */
static void spend(struct pf_rank *r, struct pf_instance *in)
{
    int before = r->call.model;
    r->call.model = in->model;
    in->ops->idle(in);
    r->call.model = before;
}

void pf_call_idle_uncharged(struct pf_rank *r, struct pf_instance *in)
{
    if (in->values->charges_tests)
        spend(r, in);
    pf_call_idle(r, in);
}

void pf_call_idle(struct pf_rank *r, struct pf_instance *in)
{
    if (!in->values->charges_tests)
        spend(r, in);
    if (++pf_call_polls < (uint64_t)pf_config.livelock_polls)
        return;
    pf_flush_all();
    fprintf(stderr,
            "parfocal: error: livelock at simulated time %.9g s: %ld tests and probes in a row found "
            "nothing, and no rank "
            "did anything else (PARFOCAL_LIVELOCK_POLLS)\n",
            simgrid_get_clock(), pf_config.livelock_polls);
    r->call.model = in->model;
    pf_upcalls.stuck();
    pf_job_blame(&r->self, 1, "livelock at simulated time %.9g s", simgrid_get_clock());
    pf_call_polls = 0; /* other jobs may go on */
    pf_job_abort(r->self.rank, 1);
}
