/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/export.h"
#include "middleware/account/clock.h"
#include "middleware/account/timeline.h"
#include "adapters/model.h"

/*
 * Wall-clock and simulated time per phase and model. The process has one clock mark: all ranks share one
 * thread, so the slice since the last mark belongs to the rank that ends it. Marks cost one rdtsc.
 */

/* What one rank did in one (phase, model) pair. */
struct pf_account_slot {
    uint64_t app_ticks;      /* the application's own code */
    uint64_t overhead_ticks; /* simulation: middleware, MPI implementations, network */
    double simulated;        /* seconds of simulated time between begin and end, summed over visits */
    double computed; /* of these, what the application has computed or slept; where pf_compute_on says so */
    uint64_t visits;
    uint64_t calls;             /* MPI calls */
    uint64_t messages;          /* sends of this rank */
    uint64_t bytes;             /* payload of these */
    uint64_t switches;          /* changes of model into this slot */
    uint64_t promoted;          /* calls run in another model because the active one cannot */
    uint64_t followed;          /* collectives run in the model that another rank had chosen for them */
    uint64_t followed_messages; /* sides of messages run in the model of the other side */
    uint64_t shadows;           /* native objects made for those that the program made in another model */
    uint64_t shadow_ticks;      /* wall-clock of that, also part of the overhead */
    double shadow_simulated;    /* simulated seconds that passed meanwhile; 0 where the promise holds */
    int row;                    /* index in the process's list of pairs */
    const char *phase;          /* of that pair */
    enum pf_model model;
    struct pf_account_slot *next; /* the rank's other slots */
};

/* One per rank, held by the middleware's rank state through a pointer. */
struct pf_account {
    struct pf_account_slot *slot; /* the current one; never NULL after pf_account_open */
    double began;                 /* simulated time of the current visit's begin */
    uint64_t computed;  /* ns of processor time that the application has used, outside of all calls */
    uint64_t charged;   /* of these, what has been turned into simulated time, or discarded */
    uint64_t questions; /* ns given to SMPI beyond `computed`, see rank_clock() */
    bool inside;        /* a call has entered and not left */
    bool plays;         /* a trace, so what is outside of all calls is no computation, and counts as inside */
    int rank;
    /* private */
    bool closed;
    uint64_t app_elsewhere, overhead_elsewhere; /* ticks in all slots but the current one */
    int shadow_depth; /* of the shadows that are being made: a type may need those that it consists of */
    uint64_t shadow_began;
    double shadow_date;
    struct pf_account_slot *slots;
    int highest;                  /* row of a slot */
    struct pf_timeline *timeline; /* NULL when none is wanted */
    struct pf_account *next;
};

/* The process's last mark, in ticks. */
PF_EXPORT extern uint64_t pf_account_mark;

/* What is to be done before a rank's program goes on; NULL: nothing. */
PF_EXPORT extern void (*pf_account_returns)(void);

/* The rank that has computed last, and does so now unless it is `inside`; for signal handlers. */
PF_EXPORT extern struct pf_account *pf_account_computing;

/* Ticks of the clock of the accounts; pf_account_seconds converts at the end of the run. */
static inline uint64_t pf_account_ticks(void)
{
    return pf_clock_ticks();
}

/* Seconds of wall-clock in so many ticks, by calibration against CLOCK_MONOTONIC over the whole run so
 * far. */
PF_EXPORT double pf_account_seconds(uint64_t ticks);

/* Starts the wall-clock of the run (once; the launcher or the first rank). What follows until a rank's first
 * begin is start-up. */
PF_EXPORT void pf_account_start(void);

/* The account of a rank, at its first MPI call: the slice since the last mark was start-up, and the first
 * visit begins. `phase` may be any string; it is copied. */
PF_EXPORT struct pf_account *pf_account_open(int rank, const char *phase, enum pf_model model, double now);

/* Ends the current visit at simulated time `now` and begins one of (phase, model). Equal pair: nothing
 * happens. NULL keeps the current phase, PF_MODEL_NONE the current model. A change of model counts as a
 * switch. */
PF_EXPORT void pf_account_move(struct pf_account *account, const char *phase, enum pf_model model,
                               double now);

/* Ends the last visit (MPI_Finalize, or the end of the rank). */
PF_EXPORT void pf_account_close(struct pf_account *account, double now);

/* The same for all ranks that have not ended: the run stops here. */
PF_EXPORT void pf_account_close_all(double now);

/* What the process has used so far: processor time, and the wall-clock of all ranks, outside of calls and
 * inside. All in s. */
struct pf_account_spent {
    double processor, application, overhead;
};
PF_EXPORT struct pf_account_spent pf_account_spent(void);

/* Of the processor time since then, that of the application: its share of the wall-clock, whatever else the
 * machine was doing. */
PF_EXPORT double pf_account_application_since(const struct pf_account_spent *then);

/* The current phase's name and model. */
PF_EXPORT const char *pf_account_phase(const struct pf_account *account);

/* The application enters the middleware: the slice since the last mark was its own. Here its computation
 * stops being measured, before anything else is done, and in no other place. A call from within a call (the
 * middleware's own, or of a function that the application has handed to it) measures nothing. */
static inline void pf_account_stop(struct pf_account *account)
{
    uint64_t now = pf_account_ticks();
    account->slot->app_ticks += now - pf_account_mark;
    if (!account->inside)
        account->computed += pf_clock_slice(pf_account_mark, now);
    account->inside = true;
    pf_account_mark = now;
}

/* The same for an MPI call. */
static inline void pf_account_enter(struct pf_account *account)
{
    pf_account_stop(account);
    account->slot->calls++;
}

/* The slice since the last mark was simulation (an event of this rank was handled, or control goes to another
 * rank). */
static inline void pf_account_book(struct pf_account *account)
{
    uint64_t now = pf_account_ticks();
    account->slot->overhead_ticks += now - pf_account_mark;
    pf_account_mark = now;
}

/* The same, and the call returns to the application: what comes next is computation, until
 * pf_account_stop(). */
static inline void pf_account_leave(struct pf_account *account)
{
    if (__builtin_expect(pf_account_returns != NULL, 0))
        pf_account_returns();
    uint64_t now = pf_account_ticks();
    if (!pf_clock_undisturbed(now))
        now = pf_clock_ask();
    account->slot->overhead_ticks += now - pf_account_mark;
    account->inside = account->plays;
    pf_account_computing = account;
    pf_account_mark = now;
}

/* Around the making of a shadow at simulated time `now`; one that another one needs is inside that one's
 * time. */
static inline void pf_account_shadow_begin(struct pf_account *account, double now)
{
    if (account->shadow_depth++ > 0)
        return;
    account->shadow_began = pf_account_ticks();
    account->shadow_date = now;
}

static inline void pf_account_shadow_end(struct pf_account *account, double now, bool made)
{
    account->slot->shadows += made;
    if (--account->shadow_depth > 0)
        return;
    account->slot->shadow_ticks += pf_account_ticks() - account->shadow_began;
    account->slot->shadow_simulated += now - account->shadow_date;
}

static inline void pf_account_message(struct pf_account *account, uint64_t bytes)
{
    account->slot->messages++;
    account->slot->bytes += bytes;
}

/* A call runs in another model than the one in force, which cannot run it. */
static inline void pf_account_promoted(struct pf_account *account)
{
    account->slot->promoted++;
}

/* One (phase, model) pair merged over ranks: of simulated time the longest, of all else sums. */
struct pf_account_row {
    const char *phase;
    enum pf_model model;
    int ranks; /* how many ranks visited */
    struct pf_account_slot total;
    double most_computed; /* s, of the rank that has computed longest */
};

/* The pairs of `count` ranks from `first` on, in order of first appearance in the run. Returns their number;
 * the caller frees *rows. Looks at the accounts of all ranks: for each of J jobs, J times. */
PF_EXPORT size_t pf_account_rows(struct pf_account_row **rows, int first, int count);

/* Seconds that all ranks have computed, and, in *most, the rank that has computed longest. */
PF_EXPORT double pf_account_computed(double *most);

/* How far the run is. */
struct pf_account_glance {
    const char *phase; /* in which most ranks are; NULL before the first rank's first call */
    enum pf_model model;
    int ranks_there, ranks; /* those that have not ended */
    uint64_t messages;      /* sends of all ranks so far */
};

/* May be called at any moment, from a signal handler and from another thread: it only reads lists that grow
 * by one store. */
PF_EXPORT void pf_account_glance(struct pf_account_glance *glance);

/* The slice since the last mark belongs to no rank: a model was loaded. */
PF_EXPORT void pf_account_loaded(void);

/* Wall-clock seconds that belong to no rank: start-up (launcher, loading) and the end of the run. */
PF_EXPORT double pf_account_startup(void);

/* Wall-clock seconds since pf_account_start. */
PF_EXPORT double pf_account_wall(void);

/* Simulated time of the run: the latest end of any rank, in seconds. */
PF_EXPORT double pf_account_simulated(void);
