/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges of short messages between all, message by message in the order in which NICs send them: each
 * keeps its place on its links from then on, and so do the short messages of the call before, and
 * acknowledgements.
 */
#include "adapters/analytic/coll/evaluate.h"

#include <math.h>

#include "base/memory.h"

/* Where messages have their places among all: that of a rank's first one is `lead` after it comes, when its
 * commands are through. Those of the call before are sooner on their links. */
struct places {
    double lead, gap; /* from one message of a rank to the next */
    double begin,
        there;    /* from a message's place to its link, and to its target, beside the path's latency */
    double told;  /* from one acknowledgement to the next; 0: they are not followed */
    double round; /* of the call before: a message and its acknowledgement */
    double acknowledged; /* from the place of that to the end of the round */
    bool apart;          /* each rank has a node of its own */
};

/*
 * A rank whose last call was one whose ranks tell each other by short messages, such as a barrier, has been
 * priced there before anybody had left it. What those who leave first send to it takes its place before what
 * the rank still waited for then: in each round of that call a message that comes, or the acknowledgement of
 * its own, at about the same date.
 */
static double place_of(const struct pf_coll *coll, int rank, const struct places *places)
{
    const struct pf_member *m = &coll->member[rank];
    if (m->round >= 0)
        return m->cpu;
    return coll->colls->told[pf_evaluate_world(coll, rank)] + (m->round + 1) * places->round -
           places->acknowledged;
}

static void count_places(struct pf_coll *coll, int rank, double first, const struct places *places)
{
    struct pf_member *m = &coll->member[rank];
    int most = pf_log2_up((unsigned)coll->plan.call.n);
    for (m->round = -1; m->round >= -most && place_of(coll, rank, places) > first; m->round--)
        ;
    m->round++;
}

static void make_room(struct pf_colls *colls, int n)
{
    if (colls->answer_room >= n)
        return;
    colls->answer_room = n;
    colls->answer = pf_reallocarray(colls->answer, (size_t)n * (size_t)n, sizeof *colls->answer);
}

static void put_all(struct pf_coll *coll, const struct places *places)
{
    double first = INFINITY;
    if (places->told > 0)
        make_room(coll->colls, coll->plan.call.n);
    for (int r = 0; r < coll->plan.call.n; r++)
        first = coll->member[r].clock < first ? coll->member[r].clock : first;
    for (int r = 0; r < coll->plan.call.n; r++) {
        struct pf_member *m = &coll->member[r];
        double clock = m->clock;
        m->answers = m->answered = 0;
        m->told = 0;
        m->cpu += places->lead;
        count_places(coll, r, first + places->lead, places);
        m->clock = place_of(coll, r, places); /* in the queue */
        pf_evaluate_put(coll, r);
        m->clock = clock;
    }
}

/* The next one of these messages comes. They come from different ranks; which makes no difference here. */
static void hold_back(struct pf_coll *coll, int rank, const struct places *places)
{
    struct pf_member *m = &coll->member[rank];
    int world = pf_evaluate_world(coll, rank);
    double behind = pf_cost_behind(coll->colls->cost, pf_evaluate_world(coll, rank ? 0 : 1), world, m->turn);
    coll->colls->told[world] += behind;
    m->clock += behind;
    m->safe = m->clock;
    m->cpu = m->clock + places->lead;
    m->round++;
    m->turn = place_of(coll, rank, places);
    pf_evaluate_replace_first(coll, rank);
}

static inline struct pf_answer *answers_of(const struct pf_coll *coll, int rank)
{
    return coll->colls->answer + (size_t)rank * (size_t)(coll->plan.call.n - 1);
}

static inline bool together(const struct pf_coll *coll, int a, int b)
{
    const struct pf_cost *cost = coll->colls->cost;
    return pf_cost_node(cost, pf_evaluate_world(coll, a)) == pf_cost_node(cost, pf_evaluate_world(coll, b));
}

/* Acknowledgements of messages to a rank that have a place by `until`: behind what their senders have sent by
 * then and what has been sent to the rank; so is what is sent to it later behind them. They often come all at
 * once, and the rank is told of one after the other. */
static void acknowledge(struct pf_coll *coll, int rank, double until, const struct places *places)
{
    struct pf_member *m = &coll->member[rank];
    const struct pf_answer *a = answers_of(coll, rank) + m->answered;
    for (; m->answered < m->answers && a->date <= until; a++, m->answered++) {
        double place = pf_cost_acknowledge(coll->colls->cost, pf_evaluate_world(coll, a->from),
                                           pf_evaluate_world(coll, rank), a->date);
        double behind = pf_later(0, place - a->date - (places->there - places->begin));
        m->told = pf_later(m->told + places->told, a->date + a->safe + behind);
    }
}

/* They come in about the order in which their messages were sent. */
static inline void expect(struct pf_coll *coll, int rank, double date, double safe, int from)
{
    struct pf_member *m = &coll->member[rank];
    struct pf_answer *first = answers_of(coll, rank) + m->answered,
                     *place = answers_of(coll, rank) + m->answers++;
    for (; place > first && place[-1].date > date; place--)
        *place = place[-1];
    *place = (struct pf_answer){date, (float)(safe - date), from};
}

static void acknowledge_all(struct pf_coll *coll, const struct places *places)
{
    for (int r = 0; r < coll->plan.call.n; r++) {
        struct pf_member *m = &coll->member[r];
        acknowledge(coll, r, INFINITY, places);
        m->safe = pf_later(m->safe, m->told);
    }
}

static struct places find_places(struct pf_coll *coll, size_t largest)
{
    struct pf_cost *cost = coll->colls->cost;
    int n = coll->plan.call.n, far = pf_evaluate_world(coll, n / 2);
    bool alternates = coll->plan.call.nonblocking; /* a receive, a send, and so on; else all receives first */
    double command = pf_cost_command(cost), acknowledged;
    double round = pf_cost_round(cost, pf_evaluate_world(coll, 0), far, &acknowledged);
    double begin = pf_cost_begin(cost, largest);
    return (struct places){
        .lead = (alternates ? 1 : n - 1) * command,
        .gap = command > 0 ? (alternates ? 2 : 1) * command : pf_cost_gap(cost, largest),
        .begin = begin,
        .there = pf_cost_latency(cost, largest),
        .apart = pf_cost_ranks(cost) == pf_cost_nodes(cost),
        .told = n <= PF_ORDER_RANKS ? pf_cost_told(cost, largest) : 0,
        .round = round,
        .acknowledged = acknowledged + begin,
    };
}

/* A rank's next message. Returns whether there are more. */
static bool send(struct pf_coll *coll, const struct pf_stage *stage, int rank, const struct places *places)
{
    struct pf_member *m = &coll->member[rank];
    int number = ++m->round;
    struct pf_step step;
    if (stage->nth(&coll->plan, rank, number, &step)) {
        bool answers = places->told > 0 && (places->apart || !together(coll, rank, step.peer));
        int before = pf_nth_receive(&coll->plan, rank, number, step.peer);
        if (answers)
            acknowledge(coll, step.peer, m->turn, places);
        struct pf_evaluated got = pf_evaluate_message(coll, rank, &step, PF_COST_STANDARD, before);
        if (answers)
            expect(coll, rank, got.arrival - places->there, got.safe, step.peer);
    }
    m->turn = m->cpu + number * places->gap;
    return number < coll->plan.call.n - 1;
}

void pf_evaluate_in_order(struct pf_coll *coll, const struct pf_stage *stage, size_t largest)
{
    struct places places = find_places(coll, largest);
    put_all(coll, &places);
    pf_cost_in_order(coll->colls->cost, true);
    while (coll->queue_length) {
        int rank = coll->queue[0];
        if (coll->member[rank].round < 0)
            hold_back(coll, rank, &places);
        else if (send(coll, stage, rank, &places))
            pf_evaluate_replace_first(coll, rank);
        else
            pf_evaluate_first(coll);
    }
    pf_cost_in_order(coll->colls->cost, false);
    if (places.told > 0)
        acknowledge_all(coll, &places);
}
