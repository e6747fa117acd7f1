/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libnbc's linear exchanges, call by call: each rank posts a receive, starts a send, and so on. Posting a
 * receive whose long message has been sent already blocks its rank until the message has arrived and been
 * discarded; so the dates of all calls decide which messages are expected.
 */
#include "adapters/analytic/coll/evaluate/evaluate.h"

/* Matches a message that has been sent with its receive, which has been posted. */
static void meet(struct pf_coll *coll, int from, int to, size_t bytes, const struct pf_cost_sent *sent,
                 double posted)
{
    struct pf_cost_received got;
    pf_cost_receive(coll->colls->cost, pf_evaluate_world(coll, from), pf_evaluate_world(coll, to), bytes,
                    sent, posted, &got);
    pf_evaluate_received(&coll->member[to], &got, 0);
    if (sent->rendezvous)
        coll->member[from].safe = pf_later(coll->member[from].safe, got.safe);
}

static struct pf_early *take_early(struct pf_member *m, int from)
{
    struct pf_early **place = &m->early, *early;
    while (*place && (*place)->from != from)
        place = &(*place)->next;
    early = *place;
    if (early)
        *place = early->next;
    return early;
}

static void post(struct pf_coll *coll, int rank, int from, size_t bytes)
{
    struct pf_member *m = &coll->member[rank];
    double posted = m->clock + pf_cost_post(coll->colls->cost, bytes), until = posted;
    struct pf_early *early = take_early(m, from);
    m->missing++;
    if (early) {
        until = pf_cost_post_end(coll->colls->cost, bytes, &early->sent, posted);
        if (until > posted) /* with all others on their way to this rank, which share its NIC */
            until = pf_later(until, m->late);
        meet(coll, from, rank, bytes, &early->sent, posted);
        pf_pool_put(&coll->colls->early, early);
    }
    m->clock = until;
}

static void send(struct pf_coll *coll, int rank, const struct pf_step *step)
{
    struct pf_member *m = &coll->member[rank], *target = &coll->member[step->peer];
    struct pf_cost_sent sent;
    double now = m->clock;
    pf_cost_send(coll->colls->cost, pf_evaluate_world(coll, rank), pf_evaluate_world(coll, step->peer),
                 step->bytes, now, PF_COST_STANDARD, &sent);
    m->clock = sent.returns;
    sent.inflow.node = 0; /* NICs are shared at both ends */
    if (!sent.rendezvous)
        m->safe = pf_later(m->safe, sent.safe);
    coll->tally->bytes += step->bytes;
    coll->tally->messages++;
    target->late = pf_later(target->late, sent.rendezvous ? sent.data : sent.arrival);
    if (pf_nth_receive_from(&coll->plan, rank, step->peer) < target->missing) {
        meet(coll, rank, step->peer, step->bytes, &sent, now);
        return;
    }
    struct pf_early *early = pf_pool_get(&coll->colls->early);
    *early = (struct pf_early){target->early, sent, step->bytes, rank, 0, 0, PF_PAIR};
    target->early = early;
}

/* One call of the rank. Returns whether there are more. */
static bool call(struct pf_coll *coll, const struct pf_stage *stage, int rank)
{
    struct pf_member *m = &coll->member[rank];
    int number = m->round / 2 + 1, from;
    struct pf_step step;
    size_t bytes;
    if ((m->round++ % 2 == 1) != pf_sends_first(&coll->plan)) {
        if (stage->nth(&coll->plan, rank, number, &step))
            send(coll, rank, &step);
    } else if (pf_nth_source(&coll->plan, rank, number, &from, &bytes)) {
        post(coll, rank, from, bytes);
    } else {
        m->missing++;
    }
    return m->round < 2 * (coll->plan.call.n - 1);
}

void pf_evaluate_turns(struct pf_coll *coll, const struct pf_stage *stage)
{
    for (int r = 0; r < coll->plan.call.n; r++) {
        struct pf_member *m = &coll->member[r];
        m->round = m->missing = 0;
        m->late = 0;
        pf_evaluate_put(coll, r);
    }
    while (coll->queue_length) {
        int rank = coll->queue[0];
        if (!call(coll, stage, rank)) {
            coll->member[rank].cpu = coll->member[rank].clock;
            pf_evaluate_first(coll);
            continue;
        }
        /* It stays first while no other rank is earlier, as after most sends. */
        coll->member[rank].turn = coll->member[rank].clock;
        pf_evaluate_replace_first(coll, rank);
    }
}
