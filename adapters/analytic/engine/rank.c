/* SPDX-License-Identifier: BSD-3-Clause */
/* How the date of a rank moves, and how it waits. */
#include "adapters/analytic/engine/engine.h"

/*
 * A rank that knows when its call ends does not need to stop the simulation for it: it may run ahead by this
 * much, and by this many calls. Other ranks cannot see that, because what it sends carries its own date; only
 * the order in which ranks of one node ask for their NIC could differ from the order of the dates.
 */
#define MOST_DEBT  5e-6
#define MOST_CALLS 32

/* Who has looked in vain so often does nothing else, and takes so many looks for one. */
enum { LOOKS_TO_DOZE = 16, LOOKS_AT_ONCE = 32 };

struct an_rank *an_rank_self(void)
{
    return an_job.ranks[pf_self()->rank];
}

void an_rank_park(struct an_rank *rank)
{
    pf_waiter_park(&rank->waiter);
    /* A request that was settled between the event and the rank's turn has rung once more: a later wait would
     * take that for its own. */
    pf_engine_cancel(&rank->wake);
    rank->debt = 0;
    rank->calls_in_debt = 0;
}

static void park_until(struct an_rank *rank, double date)
{
    pf_engine_post(&rank->wake, date);
    an_rank_park(rank);
}

void an_rank_settle(struct an_rank *rank)
{
    if (rank->debt > 0)
        park_until(rank, an_now(rank));
}

void an_rank_reach(struct an_rank *rank, double date)
{
    double now = pf_engine_now(), ahead = date - now;
    if (ahead < rank->debt)
        ahead = rank->debt;
    if (ahead <= MOST_DEBT && ++rank->calls_in_debt < MOST_CALLS)
        rank->debt = ahead;
    else if (ahead > 0)
        park_until(rank, now + ahead);
    else
        rank->calls_in_debt = 0;
}

void an_rank_pace(struct an_rank *rank)
{
    if (rank->debt > MOST_DEBT)
        an_rank_settle(rank);
}

/*
 * Who does nothing but look sleeps through looks that would be in vain: what comes meanwhile wakes it at the
 * date of the first one that sees it. What another model brings does not, nor what is stored in memory: so
 * these are few.
 */

/* Wakes it at the first look that sees what comes at `date`, or came then. */
static void stir(struct an_rank *rank, double date)
{
    date = fmax(date, pf_engine_now());
    double from = rank->idle_until, step = rank->idle_step, at = from + ceil((date - from) / step) * step;
    if (at < date)
        at += step;
    if (at < rank->wake_at)
        pf_engine_post(&rank->wake, rank->wake_at = at);
}

void an_rank_expect(struct an_rank *rank, double date)
{
    if (rank->comes_last <= pf_engine_now()) {
        rank->comes_first = rank->comes_last = date;
    } else {
        rank->comes_first = fmin(rank->comes_first, date);
        rank->comes_last = fmax(rank->comes_last, date);
    }
    if (rank->dozes)
        stir(rank, date);
}

static bool knows_when(const struct an_rank *rank, double now)
{
    return rank->comes_first > now || rank->comes_last <= now;
}

static void doze(struct an_rank *rank, double now, double step)
{
    rank->idle_until = now;
    rank->idle_step = step;
    rank->wake_at = now + LOOKS_AT_ONCE * step;
    if (rank->comes_first > now)
        stir(rank, rank->comes_first);
    rank->dozes = true;
    park_until(rank, rank->wake_at);
    rank->dozes = false;
}

/* Who spins must let others come: it pays at once, or before a probe whose answer others may change. */
void an_rank_idle(struct an_rank *rank, double step)
{
    double now = an_now(rank);
    rank->idle = now - rank->idle_until > step ? 0 : rank->idle + 1;
    if (rank->idle > LOOKS_TO_DOZE && knows_when(rank, now)) {
        doze(rank, now, step);
    } else {
        rank->debt += step;
        if (rank->debt >= rank->foresight)
            an_rank_settle(rank);
        else
            an_rank_pace(rank);
    }
    rank->foresight = 0;
    rank->idle_until = an_now(rank);
}

void an_rank_await(struct an_rank *rank, int unknown, double date)
{
    rank->any = false;
    rank->unknown = unknown;
    rank->wake_at = date;
    an_rank_park(rank);
}

/* The rank knows when it goes on. Nothing else has been posted since the one before. */
static void post_wake(struct an_rank *rank, struct an_rank **last)
{
    if (*last && (*last)->wake_at == rank->wake_at)
        (*last)->wake_next = rank;
    else
        pf_engine_post(&rank->wake, rank->wake_at);
    *last = rank;
}

void an_rank_tell_next(struct an_rank *rank, double date, struct an_rank **last)
{
    if (rank->any) {
        *last = NULL; /* its event may yet move */
        if (date < rank->wake_at || !pf_event_pending(&rank->wake))
            pf_engine_post(&rank->wake, rank->wake_at = fmax(date, rank->busy_until));
        return;
    }
    if (date > rank->wake_at)
        rank->wake_at = date;
    if (--rank->unknown == 0)
        post_wake(rank, last);
}

void an_rank_tell(struct an_rank *rank, double date)
{
    struct an_rank *last = NULL;
    an_rank_tell_next(rank, date, &last);
}

void an_rank_begin_work(struct an_rank *rank)
{
    rank->busy_until = an_now(rank);
    rank->work_from = INFINITY;
    rank->work = 0;
}

double an_rank_work(struct an_rank *rank, const struct an_request *request)
{
    if (request->work == 0)
        return request->done_at;
    rank->work_from = fmin(rank->work_from, fmax(rank->busy_until, request->done_at - request->work));
    rank->work += request->work;
    return fmax(request->done_at, rank->work_from + rank->work);
}
