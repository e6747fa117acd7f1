/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests and probes that find nothing: what they cost, and a job in which all ranks spin. */
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/engine.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/streams.h"
#include "middleware/core/call.h"
#include "middleware/core/job_state.h"
#include "middleware/core/upcalls.h"

/* Polls that found nothing, in a row over all ranks, with no other communication in between. */
uint64_t pf_call_polls;

static double row_began; /* the date of the first of them */

/* Longer than any message is on its way; s. */
#define FOR_EVER 1e6

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

static void end(struct pf_rank *r, const struct pf_instance *in, const char *what, const char *why)
{
    double now = simgrid_get_clock();
    pf_flush_all();
    fprintf(stderr, "parfocal: error: %s at simulated time %.9g s: %s\n", what, now, why);
    r->call.model = in->model;
    pf_upcalls.stuck();
    pf_job_blame(&r->self, 1, "%s at simulated time %.9g s", what, now);
    pf_call_polls = 0; /* other jobs may go on */
    pf_job_abort(r->self.rank, 1);
}

static void count(struct pf_rank *r, struct pf_instance *in, int polls)
{
    if (pf_call_polls == 0)
        row_began = simgrid_get_clock();
    pf_call_polls += (uint64_t)polls;
    if (pf_call_polls < (uint64_t)pf_config.livelock_polls)
        return;
    char *why = pf_asprintf("%ld tests and probes in a row found nothing, and no rank did anything else "
                            "(PARFOCAL_LIVELOCK_POLLS)",
                            pf_config.livelock_polls);
    end(r, in, "livelock", why);
    free(why);
}

void pf_call_idle(struct pf_rank *r, struct pf_instance *in)
{
    if (!in->values->charges_tests)
        spend(r, in);
    count(r, in, 1);
}

static bool all_wait(void)
{
    for (int i = 0; i < pf_job_state.size; i++) {
        const struct pf_rank *r = &pf_job_state.ranks[i];
        if (r->state == PF_RANK_RUNNING && r->call.model < 0)
            return false;
    }
    return true;
}

void pf_call_probe_again(struct pf_rank *r, struct pf_instance *in)
{
    count(r, in, PF_PROBE_LOOKS);
    if (simgrid_get_clock() - row_began > FOR_EVER && all_wait())
        end(r, in, "deadlock", "all ranks wait, and a probe has found nothing for 1e6 s");
}
