/* SPDX-License-Identifier: BSD-3-Clause */
/* The date of a rank and how it blocks. */
#include "adapters/analytic/engine/engine.h"

/*
 * A rank that knows when its call ends does not block for it: it may run ahead of the clock by this much, and
 * by this many calls. Other ranks cannot observe that, because its messages carry its own date; only the
 * order in which ranks of one node occupy their NIC can differ from the order of the dates.
 */
#define MOST_DEBT  5e-6
#define MOST_CALLS 32

/* A rank whose last tests and probes, so many of them, found nothing is polling: it sleeps through so many at
 * a time. */
enum { TESTS_TO_DOZE = 16, TESTS_SKIPPED = 32 };

struct an_rank *an_rank_self(void)
{
    return an_job.ranks[pf_self()->rank];
}

void an_rank_resumed(struct an_rank *rank)
{
    /* A request that was settled between the event and this point has posted the event again: a later wait
     * must not see it. */
    pf_engine_cancel(&rank->wake);
    rank->debt = 0;
    rank->calls_in_debt = 0;
}

void an_rank_park(struct an_rank *rank)
{
    pf_waiter_park(&rank->waiter);
    an_rank_resumed(rank);
    an_path_meet(rank, &rank->cause);
}

static bool stop_until(struct an_rank *rank, double date)
{
    pf_engine_post(&rank->wake, date);
    return true;
}

bool an_rank_must_settle(struct an_rank *rank)
{
    return rank->debt > 0 && stop_until(rank, an_now(rank));
}

void an_rank_settle(struct an_rank *rank)
{
    if (an_rank_must_settle(rank))
        an_rank_park(rank);
}

bool an_rank_must_reach(struct an_rank *rank, double date)
{
    double now = pf_engine_now(), ahead = date - now;
    if (ahead < rank->debt)
        ahead = rank->debt;
    if (ahead <= MOST_DEBT && ++rank->calls_in_debt < MOST_CALLS)
        rank->debt = ahead;
    else if (ahead > 0)
        return stop_until(rank, now + ahead);
    else
        rank->calls_in_debt = 0;
    return false;
}

void an_rank_reach(struct an_rank *rank, double date)
{
    if (an_rank_must_reach(rank, date))
        an_rank_park(rank);
}

bool an_rank_must_outlast(struct an_rank *rank, double date, const struct pf_cost_inflow *inflow)
{
    if (!inflow->node || rank->debt != 0)
        return false;
    double end = date + pf_cost_late(an_job.cost, inflow);
    return end > pf_engine_now() && stop_until(rank, end);
}

void an_rank_outlast(struct an_rank *rank, double date, const struct pf_cost_inflow *inflow)
{
    while (an_rank_must_outlast(rank, date, inflow))
        an_rank_park(rank);
}

bool an_rank_must_pace(struct an_rank *rank)
{
    return rank->debt > MOST_DEBT && an_rank_must_settle(rank);
}

void an_rank_pace(struct an_rank *rank)
{
    if (an_rank_must_pace(rank))
        an_rank_park(rank);
}

/*
 * A rank that polls sleeps through tests and probes that would find nothing. A message or request that
 * completes meanwhile wakes it at the date of the first test that would find it. Completions in another model
 * and stores to memory do not, so the number of skipped tests is small.
 */

/* Wakes the rank at the first test that finds what completes, or completed, at `date`. */
static void wake_at_test(struct an_rank *rank, double date)
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
    if (rank->known_last <= pf_engine_now()) {
        rank->known_first = rank->known_last = date;
    } else {
        rank->known_first = fmin(rank->known_first, date);
        rank->known_last = fmax(rank->known_last, date);
    }
    if (rank->dozes)
        wake_at_test(rank, date);
}

static bool knows_next(const struct an_rank *rank, double now)
{
    return rank->known_first > now || rank->known_last <= now;
}

static void doze(struct an_rank *rank, double now, double step)
{
    rank->idle_until = now;
    rank->idle_step = step;
    rank->wake_at = now + TESTS_SKIPPED * step;
    if (rank->known_first > now)
        wake_at_test(rank, rank->known_first);
    rank->dozes = rank->polls = true;
    stop_until(rank, rank->wake_at);
    an_rank_park(rank);
    rank->dozes = rank->polls = false;
}

/* Polling must let other ranks run: the rank pays at once, or before a probe whose result another rank may
 * change. */
void an_rank_idle(struct an_rank *rank, double step)
{
    double now = an_now(rank);
    rank->idle = now - rank->idle_until > step ? 0 : rank->idle + 1;
    if (rank->idle > TESTS_TO_DOZE && knows_next(rank, now)) {
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

void an_rank_poll(struct an_rank *rank, bool waits)
{
    rank->polls = waits;
    if (rank->asking)
        an_job.answer(rank, waits);
}

void an_rank_begin_await(struct an_rank *rank, int unknown, double date)
{
    an_rank_poll(rank, true);
    rank->any = false;
    rank->unknown = unknown;
    rank->wake_at = date;
}

void an_rank_await(struct an_rank *rank, int unknown, double date)
{
    an_rank_begin_await(rank, unknown, date);
    an_rank_park(rank);
}

/* The date at which the rank continues is known. No other event was posted since that of `last`. */
static void post_wake(struct an_rank *rank, struct an_rank **last)
{
    if (*last && (*last)->wake_at == rank->wake_at)
        (*last)->wake_next = rank;
    else
        pf_engine_post(&rank->wake, rank->wake_at);
    *last = rank;
}

void an_rank_notify_next(struct an_rank *rank, double date, struct an_rank **last)
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

void an_rank_notify(struct an_rank *rank, double date)
{
    struct an_rank *last = NULL;
    if (pf_chain_on) {
        pf_chain_drop(&rank->cause);
        rank->cause = pf_chain_copy();
        pf_chain_extend(rank->cause, date, PF_CHAIN_NIC);
    }
    an_rank_notify_next(rank, date, &last);
}

void an_rank_begin_work(struct an_rank *rank)
{
    an_rank_poll(rank, true);
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
