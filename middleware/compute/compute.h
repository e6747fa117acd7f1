/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "middleware/core/rank.h"

/*
 * Computation apart from communication. A rank computes between its MPI calls: how long can be recorded
 * (PARFOCAL_COMPUTATION_RECORD), replayed (PARFOCAL_COMPUTATION_REPLAY), and reported per rank at the end
 * (PARFOCAL_RANK_TIMES), and shown in a trace of the calls. Without these, ranks are `open` and never come to
 * pf_compute_point(). A trace of the calls sets pf_compute_on before the job starts.
 *
 * While a file is written or read, the middleware measures and injects the intervals instead of SMPI. What it
 * injects is what the file says, also while it writes one: so a replay in the same model has the dates of the
 * recorded run. The rank pays, on its own simulated processor.
 */
extern bool pf_compute_on;

/*
 * Otherwise it is SMPI that turns computation into simulated time, when one of its functions begins. It reads
 * the processor time of the thread, and for that it is given the rank's own clock (struct pf_account,
 * `computed`), which stands still while the rank is in the middleware: nothing that is done there can be
 * charged, and nothing that other ranks do meanwhile. Before a call into another implementation the
 * middleware makes SMPI charge, if it is so much that SMPI would not discard it: what it does then is far
 * dearer than this look.
 */
extern uint64_t pf_compute_threshold; /* ns; UINT64_MAX: nothing is charged */
void pf_compute_inject(struct pf_rank *r);

/* Does SMPI charge what it measures? */
static inline bool pf_compute_measures(void)
{
    return pf_compute_threshold != UINT64_MAX;
}

/* The rank pays what it owes for reading clocks (process/libc_clock.c). */
void pf_compute_pay(struct pf_rank *r);

/* What the rank has computed is charged now, or discarded. */
static inline void pf_compute_now(struct pf_rank *r)
{
    struct pf_account *account = r->account;
    if (__builtin_expect(account->computed - account->charged >= pf_compute_threshold, 0))
        pf_compute_inject(r);
    account->charged = account->computed;
}

/* Before and after a call into an implementation for the application. */
static inline void pf_compute_native_begin(struct pf_rank *r, const struct pf_instance *in)
{
    if (!in->values->charges_computation)
        pf_compute_now(r);
}

static inline void pf_compute_native_end(struct pf_rank *r, const struct pf_instance *in)
{
    if (!in->values->charges_computation)
        r->account->charged = r->account->computed; /* functions of the application that were called back */
}

/* Around a native call that SMPI measures as computation of the application, as it stands in stock SMPI. */
void pf_compute_native_counts(struct pf_rank *r, const struct pf_instance *in);
void pf_compute_native_counted(struct pf_rank *r, const struct pf_instance *in);

/*
 * A rank that has called an interface next to MPI (process/layer.h) and not MPI computes from now on, too.
 * What it has computed before is not charged, as before MPI_Init.
 */
void pf_compute_open(struct pf_rank *r);

/* Is what the rank computes charged? Between MPI_Init and MPI_Finalize, or from pf_compute_open() on. */
static inline bool pf_compute_counts(const struct pf_rank *r)
{
    return r->state == PF_RANK_RUNNING || (r->state == PF_RANK_NEW && r->computes);
}

/* Around what the application calls besides MPI, for which time may pass. NULL when nothing is charged. */
struct pf_rank *pf_compute_call(void);
void pf_compute_return(struct pf_rank *r);

/* Simulated seconds in a nanosecond of the rank's computation. */
double pf_compute_scale(const struct pf_rank *r);

/* Simulated seconds that the rank's computation since its last call will take when it is charged. */
double pf_compute_due(const struct pf_rank *r);

/* The start of the job, before any rank computes. Ends the run when a file cannot be used. */
void pf_compute_begin(int ranks);

/* The rank's computation since its last call ends here. `site` is where the call came from: one from our own
 * library ends nothing. `asks`: how often it comes depends on the time (whether something is there, what time
 * it is). Returns whether nothing was to be charged: then the account has stopped, and the time since then is
 * its next slice of the simulation. */
bool pf_compute_point(struct pf_rank *r, const void *site, bool asks);

/* The call has returned, and its observer has spent wall-clock since: that is not the rank's computation. */
void pf_compute_resume(struct pf_rank *r);

/* The call returns that began with a point, and simulated time has passed in it that is no communication. */
void pf_compute_slept(struct pf_rank *r);

/* The simulated date (s); and the rank (NULL: none) has computed since then, by a call of the simulator's
 * own. */
double pf_compute_date(void);
void pf_compute_executed(struct pf_rank *r, double since);

/* The rank's phase or model ends here, and what it has computed since its last call belongs to it: SMPI
 * charges that now, instead of at the next call. */
void pf_compute_charge(struct pf_rank *r);

/* The rank has finalized, or, without MPI, has left main(). Ends the run when the file has more to say; the
 * last rank writes the file. */
void pf_compute_end(struct pf_rank *r);

/* Times of the ranks that have finalized, one line each, and as JSON. */
void pf_compute_print(FILE *out);
struct json_t *pf_compute_json(void);
