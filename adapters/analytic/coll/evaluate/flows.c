/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges of long messages between all ranks, call by call, with messages as flows: at each date the
 * messages in progress share NICs and links by max-min fairness, so the end of a message
 * depends on those that begin after it. Posting a receive whose message has been sent already blocks its rank
 * until the message has arrived and been discarded; then the receive fetches it. This is what portals does;
 * it takes longer than pricing each message by itself.
 */
#include "adapters/analytic/coll/evaluate/evaluate.h"
#include "adapters/analytic/cost/routes/busy.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/memory.h"

/* Flows that begin or end within this part of a message's time count as one change: twice that where calls
 * take turns, so that there are many dates, but never more than half of what a head takes, on which it
 * depends what is expected. */
#define SAME 0.01
/* Links whose shares differ by less than this count as equal. */
#define NEAR 1e-4
/* An exchange is alone on links that are busy for this part longer than it takes. */
#define MORE 0.05

/* The share of the flows' remaining time for which changes wait. */
#define WAIT_PER_FLOW 2e-6

/* The state of a message. */
enum { POSTED = 1, LATE = 2, AGAIN = 4, FOLLOWED = 8 };

struct pf_flow_message {
    struct pf_cost_flow price;
    double head;   /* the target's NIC knows of it; INFINITY: not sent yet */
    double called; /* its receive; once it is posted */
    double begin;  /* its first byte left */
    double end;    /* the last byte has left; INFINITY: not yet */
    size_t bytes;
    int via, hops; /* what it shares: so many places of `via` */
    int state;
};

/* A flow in progress. `left` bytes of it were left at `since`; it has no rate before it has begun. */
struct pf_flow_active {
    int from, to;
    const int *via;
    int hops;
    double since, left, rate, most;
    double date;    /* of its end with this rate, or of its beginning */
    int limit;      /* the side that it has its rate from, or -1 */
    double charged; /* what envelopes had taken of its rate there when that was last looked at */
    bool begun;
};

/* A side of a rank's NIC, or a link between several nodes. */
struct pf_flow_side {
    double rate;    /* B/s */
    bool link;      /* that is a link's */
    int limits;     /* so many flows have their rate from it */
    double charged; /* so many bytes have envelopes taken of each of them */
    struct pf_busy controls;
    double left;      /* of it that is not assigned yet */
    double share;     /* of that for each flow */
    int flows;        /* which have no rate yet */
    int count;        /* which have begun */
    double work, end; /* of all messages that crossed it, where it is a NIC's */
};

/* A link of the platform, and which ranks use it: one, plus 1, or MANY. */
struct pf_flow_link {
    int from, to, pairs;
    int place;   /* among the sides, plus 1; 0: no bound */
    double work; /* scratch */
};

enum { MANY = INT_MAX };

/* What NICs have to do at a date for the message from one rank to another. */
enum note_kind { ARRIVED, ACKNOWLEDGED, ASKED };

struct pf_flow_note {
    double date;
    int from, to;
    enum note_kind kind;
};

struct exchange {
    struct pf_coll *coll;
    const struct pf_stage *stage;
    struct pf_flow_message *message; /* n x n */
    struct pf_flow_active *active;
    struct pf_flow_side *side; /* of rank r: r and n + r, then links */
    int n, count, sides, notes;
    int *open; /* scratch */
    double now, same;
    double wait;  /* rates stay as they are until then */
    bool changed; /* flows have begun or ended since the rates were computed */
};

static inline struct pf_flow_message *message_of(const struct exchange *x, int from, int to)
{
    return &x->message[(size_t)from * (size_t)x->n + (size_t)to];
}

static size_t block_of(const struct pf_coll_call *call, int from, int to)
{
    return call->rows ? call->rows[from][to] : call->counts ? call->counts[from] : call->bytes;
}

/* The shortest block that is not eager; SIZE_MAX: a block is empty, or less than half of all data share
 * links. */
static size_t least_long(const struct pf_coll *coll)
{
    const struct pf_coll_call *call = &coll->plan.call;
    const struct pf_cost *cost = coll->colls->cost;
    size_t least = SIZE_MAX, all = 0, shared = 0;
    int differ = call->rows || call->counts ? call->n : 1, peers = call->rows ? call->n : 1;
    for (int r = 0; r < differ; r++)
        for (int i = 0; i < peers; i++) {
            size_t block = block_of(call, r, i);
            if (call->rows && i == r)
                continue;
            if (block == 0)
                return SIZE_MAX;
            all += block;
            shared += pf_cost_flows(cost, block) ? block : 0;
            if (block < least && pf_cost_post_blocks(cost, block))
                least = block;
        }
    return 2 * shared < all ? SIZE_MAX : least;
}

/* Adds up how long the messages of all with all take of each link of the platform; returns the number behind
 * the last one. */
static int work_of_links(const struct pf_coll *coll)
{
    struct pf_colls *colls = coll->colls;
    int n = coll->plan.call.n, behind = 0;
    for (int i = 0; i < colls->flow_link_room; i++)
        colls->flow_link[i].work = 0;
    for (int i = 0; i < n * n; i++) {
        const int *numbers;
        int from = i / n, to = i % n,
            hops = from == to ? 0
                              : pf_cost_flow_links(colls->cost, pf_evaluate_world(coll, from),
                                                   pf_evaluate_world(coll, to), &numbers);
        for (int k = 0; k < hops; k++) {
            PF_ARRAY_REACH(colls->flow_link, colls->flow_link_room, numbers[k]);
            behind = numbers[k] < behind ? behind : numbers[k] + 1;
            colls->flow_link[numbers[k]].work +=
                (double)block_of(&coll->plan.call, from, to) / pf_cost_link_rate(colls->cost, numbers[k]);
        }
    }
    return behind;
}

/* How long the NIC that has most to do needs, or a link. */
static double least_time(const struct pf_coll *coll, int links)
{
    const struct pf_coll_call *call = &coll->plan.call;
    double least = 0;
    for (int r = 0; r < call->n; r++) {
        double out = 0, in = 0, rate = pf_cost_nic_rate(coll->colls->cost, pf_evaluate_world(coll, r));
        for (int i = 0; i < call->n; i++) {
            out += i == r ? 0 : (double)block_of(call, r, i) / rate;
            in += i == r ? 0 : (double)block_of(call, i, r) / rate;
        }
        least = pf_later(least, pf_later(out, in));
    }
    for (int i = 0; i < links; i++)
        least = pf_later(least, coll->colls->flow_link[i].work);
    return least;
}

/* Whether messages of other communicators that have been priced leave each link as much time as those of the
 * stage need of it. */
static bool have_links(const struct pf_coll *coll)
{
    struct pf_colls *colls = coll->colls;
    int links = work_of_links(coll);
    double begin = coll->member[0].clock, least = least_time(coll, links) * (1 + MORE);
    for (int i = 0; i < links; i++) {
        double work = colls->flow_link[i].work;
        if (work > 0 && work + pf_cost_link_taken(colls->cost, i, begin) > least)
            return false;
    }
    return true;
}

/* Whether other messages share NICs with those of the stage, or what links carry. */
static bool is_alone(const struct pf_coll *coll)
{
    const struct pf_cost *cost = coll->colls->cost;
    for (int r = 0; r < coll->plan.call.n; r++)
        if (pf_cost_is_busy(cost, pf_evaluate_world(coll, r), coll->member[r].clock))
            return false;
    return pf_cost_are_all(cost, coll->plan.call.n) || have_links(coll);
}

bool pf_evaluate_as_flows(const struct pf_coll *coll, const struct pf_stage *stage)
{
    const struct pf_coll_call *call = &coll->plan.call;
    if (!stage->nth || call->n < 3 || call->n > PF_FLOW_RANKS || call->in_place || call->cut ||
        !pf_cost_flows(coll->colls->cost, SIZE_MAX))
        return false;
    return least_long(coll) < SIZE_MAX && is_alone(coll);
}

static int one_or_many(int known, int rank)
{
    return known == 0 || known == rank + 1 ? rank + 1 : MANY;
}

static void note_link(struct pf_colls *colls, int number, int from, int to)
{
    PF_ARRAY_REACH(colls->flow_link, colls->flow_link_room, number);
    struct pf_flow_link *link = &colls->flow_link[number];
    link->from = one_or_many(link->from, from);
    link->to = one_or_many(link->to, to);
    link->pairs++;
}

/* A link that only one rank uses is its NIC, or slower than its NIC, or has no effect. */
static void place_link(struct exchange *x, int number)
{
    struct pf_colls *colls = x->coll->colls;
    struct pf_flow_link *link = &colls->flow_link[number];
    double rate = pf_cost_link_rate(colls->cost, number);
    int side = link->from < MANY ? link->from - 1 : link->to < MANY ? x->n + link->to - 1 : -1;
    if (side >= 0 && link->pairs == x->n - 1) {
        if (rate < colls->side[side].rate) {
            colls->side[side].rate = rate;
            colls->side[side].link = true;
        }
        return;
    }
    if (side >= 0 && rate >= colls->side[side].rate)
        return;
    PF_ARRAY_ROOM(colls->side, colls->side_room, x->sides + 1);
    colls->side[x->sides] = (struct pf_flow_side){.rate = rate, .link = true};
    link->place = ++x->sides;
}

/* Calls note_link() for the links of each pair, then lists what each pair shares. */
static void list_links(struct exchange *x)
{
    struct pf_colls *colls = x->coll->colls;
    const int *number;
    int n = x->n, all = 0;
    for (int i = 0; i < colls->flow_link_room; i++)
        colls->flow_link[i] = (struct pf_flow_link){0};
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++) {
            int hops = from == to ? 0
                                  : pf_cost_flow_links(colls->cost, pf_evaluate_world(x->coll, from),
                                                       pf_evaluate_world(x->coll, to), &number);
            for (int i = 0; i < hops; i++)
                note_link(colls, number[i], from, to);
            all += hops + 2;
        }
    for (int i = 0; i < colls->flow_link_room; i++)
        if (colls->flow_link[i].pairs)
            place_link(x, i);
    PF_ARRAY_ROOM(colls->via, colls->via_room, all);
    all = 0;
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++) {
            struct pf_flow_message *message = message_of(x, from, to);
            int hops = from == to ? 0
                                  : pf_cost_flow_links(colls->cost, pf_evaluate_world(x->coll, from),
                                                       pf_evaluate_world(x->coll, to), &number);
            message->via = all;
            colls->via[all++] = from;
            colls->via[all++] = n + to;
            for (int i = 0; i < hops; i++)
                if (colls->flow_link[number[i]].place)
                    colls->via[all++] = colls->flow_link[number[i]].place - 1;
            message->hops = all - message->via;
        }
}

static void make_room(struct pf_colls *colls, int n)
{
    size_t pairs = (size_t)n * (size_t)n;
    if (colls->flow_room >= n)
        return;
    colls->flow_room = n;
    colls->message = pf_reallocarray(colls->message, pairs, sizeof *colls->message);
    colls->active = pf_reallocarray(colls->active, pairs, sizeof *colls->active);
    colls->open = pf_reallocarray(colls->open, pairs, sizeof *colls->open);
    PF_ARRAY_ROOM(colls->side, colls->side_room, 4 * n);
}

static void flow(struct exchange *x, int from, int to, double begin)
{
    const struct pf_flow_message *message = message_of(x, from, to);
    double work = message->price.work, bytes = message->price.bytes;
    x->active[x->count++] = (struct pf_flow_active){.from = from,
                                                    .to = to,
                                                    .via = &x->coll->colls->via[message->via],
                                                    .hops = message->hops,
                                                    .since = begin,
                                                    .left = bytes,
                                                    .most = bytes / work,
                                                    .date = begin,
                                                    .limit = -1};
    x->side[from].work += work;
    x->side[x->n + to].work += work;
}

static void complete(struct exchange *x, int rank, double date, double work)
{
    struct pf_member *m = &x->coll->member[rank];
    m->last = pf_later(m->last, date + work);
    m->first = fmin(m->first, date);
    m->busy += work;
}

/* How much later an envelope without data arrives because of the flows on its way: it takes turns with others
 * of its kind on each link, and passes as slowly as one of the flows that have their rates from that link. */
static double control(struct exchange *x, int from, int to, double bytes, double date)
{
    const struct pf_flow_message *message = message_of(x, from, to);
    const int *via = &x->coll->colls->via[message->via];
    double head = date, tail = date;
    for (int i = 0; i < message->hops; i++) {
        struct pf_flow_side *side = &x->side[via[i == 0 ? 0 : i + 1 < message->hops ? i + 1 : 1]];
        if (!side->link || side->limits == 0)
            continue;
        double time = bytes / side->rate;
        side->charged += bytes / side->limits;
        head = pf_busy_take(&side->controls, head, time);
        tail = pf_later(tail, head + time * (side->limits + 1));
    }
    return tail - date;
}

static void note(struct exchange *x, int from, int to, enum note_kind kind, double date)
{
    struct pf_colls *colls = x->coll->colls;
    PF_ARRAY_ROOM(colls->note, colls->note_room, x->notes + 1);
    colls->note[x->notes++] = (struct pf_flow_note){date, from, to, kind};
}

/* Whether a message leaves at a date for the first time. Requests do not overtake it. */
static bool is_leaving(const struct exchange *x, int from, int to, double date)
{
    const struct pf_flow_message *message = message_of(x, from, to);
    return message->head < INFINITY && message->begin <= date && message->end == INFINITY &&
           !(message->state & AGAIN);
}

/* What NICs send to each other when a message has arrived, or its acknowledgement, or a request for it. */
static void answer(struct exchange *x, int from, int to, enum note_kind kind, double date)
{
    const struct pf_flow_message *message = message_of(x, from, to);
    const struct pf_cost_flow *price = &message->price;
    struct pf_member *source = &x->coll->member[from];
    double known;
    switch (kind) {
    case ARRIVED:
        control(x, to, from, price->reliability_bytes, date);
        if (message->state & AGAIN && message->end < INFINITY)
            return;
        known = date + price->acknowledgement + control(x, to, from, price->acknowledgement_bytes, date);
        if (!(message->state & LATE))
            source->safe = pf_later(source->safe, known);
        note(x, from, to, ACKNOWLEDGED, known);
        return;
    case ACKNOWLEDGED:
        control(x, from, to, price->reliability_bytes, date);
        return;
    case ASKED:
        if (is_leaving(x, to, from, date)) {
            message_of(x, to, from)->state |= FOLLOWED;
            return;
        }
        known = date + price->again + control(x, to, from, price->request_bytes, date);
        flow(x, from, to, known);
        note(x, from, to, ACKNOWLEDGED, known);
        return;
    }
}

static void answer_until(struct exchange *x, double until)
{
    for (int i = 0; i < x->notes;) {
        struct pf_flow_note n = x->coll->colls->note[i];
        if (n.date > until) {
            i++;
            continue;
        }
        x->coll->colls->note[i] = x->coll->colls->note[--x->notes];
        answer(x, n.from, n.to, n.kind, n.date);
    }
}

/* An expected message has arrived, or one that was fetched. */
static void arrive(struct exchange *x, int from, int to)
{
    const struct pf_flow_message *message = message_of(x, from, to);
    const struct pf_cost_flow *price = &message->price;
    struct pf_member *source = &x->coll->member[from];
    double arrival = message->end + price->latency;
    if (pf_cost_post_blocks(x->coll->colls->cost, message->bytes))
        pf_cost_flow_met(x->coll->colls->cost, pf_evaluate_world(x->coll, from),
                         pf_evaluate_world(x->coll, to), message->begin, price->work,
                         !(message->state & AGAIN));
    if (message->state & AGAIN) {
        source->safe = pf_later(source->safe, arrival - price->left);
    } else {
        arrival = pf_later(arrival, message->called + price->receive_latency);
    }
    note(x, from, to, ARRIVED, arrival);
    complete(x, to, pf_later(arrival, message->called + price->post), price->receive);
}

/* A message was discarded and its receive is posted. Returns when the call that posts it continues. */
static double fetch(struct exchange *x, int from, int to)
{
    struct pf_flow_message *message = message_of(x, from, to);
    const struct pf_cost_flow *price = &message->price;
    double known = pf_later(message->end + price->latency - price->write_latency,
                            message->called + price->receive_latency);
    message->state |= AGAIN;
    message->end = INFINITY;
    note(x, from, to, ASKED, known);
    return pf_later(known, message->called + price->post);
}

static void post(struct exchange *x, int rank, int from, size_t bytes)
{
    struct pf_member *m = &x->coll->member[rank];
    struct pf_flow_message *message = message_of(x, from, rank);
    message->called = m->clock;
    message->state |= POSTED;
    m->clock += pf_cost_post(x->coll->colls->cost, bytes);
    if (!pf_cost_post_blocks(x->coll->colls->cost, bytes)) { /* eager: it is kept until then */
        if (message->end < INFINITY)
            complete(x, rank,
                     pf_later(message->end + message->price.latency,
                              message->called + message->price.receive_latency),
                     message->price.receive);
        return;
    }
    if (message->head > message->called)
        return;
    message->state |= LATE;
    if (message->end < INFINITY)
        m->clock = fetch(x, from, rank);
    else
        m->inside = true; /* blocked */
}

static void send(struct exchange *x, int rank, int number, const struct pf_step *step)
{
    struct pf_coll *coll = x->coll;
    struct pf_member *m = &coll->member[rank];
    struct pf_flow_message *message = message_of(x, rank, step->peer);
    pf_cost_flow(coll->colls->cost, pf_evaluate_world(coll, rank), pf_evaluate_world(coll, step->peer),
                 step->bytes, &message->price);
    m->clock += message->price.call;
    double begin = m->clock;
    if (!coll->plan.call.nonblocking) /* the NIC takes one command after the other */
        begin += (number - 1) * message->price.gap;
    message->head = begin + message->price.head;
    message->begin = begin;
    message->bytes = step->bytes;
    flow(x, rank, step->peer, begin);
    coll->tally->bytes += step->bytes;
    coll->tally->messages++;
}

/* One call of a rank. Returns whether there are more. */
static bool call(struct exchange *x, int rank)
{
    const struct pf_plan *plan = &x->coll->plan;
    struct pf_member *m = &x->coll->member[rank];
    int others = x->n - 1, number = m->round % others + 1, from;
    bool sends = m->round >= others;
    struct pf_step step;
    size_t bytes;
    if (plan->call.nonblocking) {
        number = m->round / 2 + 1;
        sends = (m->round % 2 == 1) != pf_sends_first(plan);
    }
    m->round++;
    if (!sends && pf_nth_source(plan, rank, number, &from, &bytes))
        post(x, rank, from, bytes);
    else if (sends && x->stage->nth(plan, rank, number, &step))
        send(x, rank, number, &step);
    return m->round < 2 * others;
}

/* All ranks whose turn is not after `until`. */
static void work_until(struct exchange *x, double until)
{
    struct pf_coll *coll = x->coll;
    while (coll->queue_length) {
        int rank = coll->queue[0];
        struct pf_member *m = &coll->member[rank];
        if (m->turn > until)
            return;
        bool more = call(x, rank);
        m->cpu = m->clock;
        if (!more || m->inside) {
            pf_evaluate_first(coll);
            continue;
        }
        m->turn = m->clock;
        pf_evaluate_replace_first(coll, rank);
    }
}

/* Flows that end not after `until`. */
static void end_until(struct exchange *x, double until)
{
    for (int i = 0; i < x->count;) {
        struct pf_flow_active *f = &x->active[i];
        struct pf_flow_message *message = message_of(x, f->from, f->to);
        struct pf_member *target = &x->coll->member[f->to];
        int from = f->from, to = f->to;
        double end = f->date;
        int limit = f->limit;
        if (!f->begun || end > until) {
            i++;
            continue;
        }
        double charge = limit >= 0 ? x->side[limit].charged - f->charged : 0;
        if (charge > 0.5) { /* envelopes have slowed it down */
            f->left = charge;
            f->since = end;
            f->date = end + charge / f->rate;
            f->charged += charge;
            continue;
        }
        *f = x->active[--x->count];
        if (limit >= 0)
            x->side[limit].limits--;
        for (int k = 0; k < message->hops; k++)
            x->side[x->coll->colls->via[message->via + k]].count--;
        x->changed = true;
        message->end =
            pf_cost_flow_ended(x->coll->colls->cost, pf_evaluate_world(x->coll, from),
                               pf_evaluate_world(x->coll, to), message->bytes, message->begin, end);
        if (message->state & FOLLOWED)
            note(x, to, from, ASKED, end);
        message->state &= ~FOLLOWED;
        x->side[from].end = pf_later(x->side[from].end, end);
        x->side[x->n + to].end = pf_later(x->side[x->n + to].end, end);
        if (message->state == POSTED || (message->state & AGAIN)) {
            arrive(x, from, to);
            continue;
        }
        note(x, from, to, ARRIVED, message->end + message->price.latency);
        if (message->state & LATE) { /* its rank is blocked */
            target->clock = target->cpu = fetch(x, from, to);
            target->inside = false;
            if (target->round < 2 * (x->n - 1))
                pf_evaluate_put(x->coll, to);
        }
    }
}

static double next(const struct exchange *x)
{
    const struct pf_coll *coll = x->coll;
    double date = coll->queue_length ? coll->member[coll->queue[0]].turn : INFINITY;
    for (int i = 0; i < x->count; i++)
        date = x->active[i].date < date ? x->active[i].date : date;
    if (x->changed && x->wait < date)
        date = x->wait;
    for (int i = 0; i < x->notes; i++)
        date = coll->colls->note[i].date < date ? coll->colls->note[i].date : date;
    return date;
}

/* What a flow gets at least, until rates are computed. */
static void start_early(const struct exchange *x, struct pf_flow_active *f)
{
    f->rate = f->most;
    for (int i = 0; i < f->hops; i++) {
        const struct pf_flow_side *side = &x->side[f->via[i]];
        f->rate = fmin(f->rate, side->rate / side->count);
    }
    f->date = f->since + f->left / f->rate;
}

static void begin_until(struct exchange *x, double until)
{
    for (int i = 0; i < x->count; i++) {
        struct pf_flow_active *f = &x->active[i];
        if (f->begun || f->date > until)
            continue;
        f->begun = x->changed = true;
        for (int k = 0; k < f->hops; k++)
            x->side[f->via[k]].count++;
        if (x->wait > x->now)
            start_early(x, f);
    }
}

/* Computes the share of each flow on each link. Returns the least. */
static double shares(const struct exchange *x)
{
    double least = INFINITY;
    for (int i = 0; i < x->sides; i++) {
        struct pf_flow_side *side = &x->side[i];
        if (side->flows == 0)
            continue;
        side->share = side->left / side->flows;
        least = side->share < least ? side->share : least;
    }
    return least;
}

static void set_rate(struct exchange *x, struct pf_flow_active *f, double rate, int limit)
{
    for (int i = 0; i < f->hops; i++) {
        x->side[f->via[i]].flows--;
        x->side[f->via[i]].left -= rate;
    }
    double charge = f->limit >= 0 ? x->side[f->limit].charged - f->charged : 0;
    f->limit = limit;
    f->charged = limit >= 0 ? x->side[limit].charged : 0;
    if (rate == f->rate && charge <= 0)
        return;
    if (f->rate > 0) {
        f->left -= f->rate * (x->now - f->since) - charge;
        f->since = x->now;
    }
    f->rate = rate;
    f->date = f->since + f->left / rate;
}

static inline double rate_of(const struct exchange *x, const struct pf_flow_active *f, int *limit)
{
    double rate = f->most;
    *limit = -1;
    for (int i = 0; i < f->hops; i++)
        if (x->side[f->via[i]].share < rate) {
            rate = x->side[f->via[i]].share;
            *limit = f->via[i];
        }
    return rate;
}

/* Where many flows share, portals lets changes wait for others (lowlevel/network/sharing.c). */
static void wait_for_more(struct exchange *x)
{
    double left = 0;
    int flows = 0;
    for (int i = 0; i < x->count; i++) {
        flows += x->active[i].begun;
        left += x->active[i].begun ? x->active[i].date - x->now : 0;
    }
    if (flows > pf_config.net_exact_flows)
        x->wait = x->now + WAIT_PER_FLOW * left;
    x->changed = false;
}

/* Max-min fairness: flows on the links with the least share get it; then the same with the rest of the flows
 * and of the capacity. */
static void share(struct exchange *x)
{
    int *open = x->open, count = 0;
    for (int i = 0; i < x->sides; i++) {
        x->side[i].left = x->side[i].rate;
        x->side[i].flows = x->side[i].limits = 0;
    }
    for (int i = 0; i < x->count; i++) {
        const struct pf_flow_active *f = &x->active[i];
        if (!f->begun)
            continue;
        for (int k = 0; k < f->hops; k++)
            x->side[f->via[k]].flows++;
        open[count++] = i;
    }
    while (count > 0) {
        double most = shares(x) * (1 + NEAR);
        int left = 0;
        for (int i = 0; i < count; i++) {
            struct pf_flow_active *f = &x->active[open[i]];
            int limit;
            double rate = rate_of(x, f, &limit);
            if (rate > most) {
                open[left++] = open[i];
                continue;
            }
            set_rate(x, f, rate, limit);
            if (f->limit >= 0)
                x->side[f->limit].limits++;
        }
        count = left;
    }
    wait_for_more(x);
}

static void begin(struct exchange *x, struct pf_coll *coll, const struct pf_stage *stage)
{
    struct pf_colls *colls = coll->colls;
    int n = coll->plan.call.n;
    make_room(colls, n);
    *x = (struct exchange){.coll = coll,
                           .stage = stage,
                           .message = colls->message,
                           .active = colls->active,
                           .open = colls->open,
                           .n = n,
                           .sides = 2 * n};
    for (int i = 0; i < n * n; i++) {
        x->message[i].head = x->message[i].end = INFINITY;
        x->message[i].state = 0;
    }
    for (int i = 0; i < 2 * n; i++)
        colls->side[i] =
            (struct pf_flow_side){.rate = pf_cost_nic_rate(colls->cost, pf_evaluate_world(coll, i % n))};
    list_links(x);
    x->side = colls->side;
    for (int r = 0; r < n; r++) {
        coll->member[r].round = 0;
        coll->member[r].inside = false;
        pf_evaluate_put(coll, r);
    }
    x->now = coll->member[coll->queue[0]].turn;
    int one = pf_evaluate_world(coll, 0), other = pf_evaluate_world(coll, 1);
    double same = SAME * pf_cost_flow_time(colls->cost, one, other, least_long(coll));
    x->same =
        fmin((coll->plan.call.nonblocking ? 2 : 1) * same, 0.5 * pf_cost_soonest(colls->cost, one, other));
}

/* Other communicators find the links as busy as these messages have left them. */
static void leave_links(const struct pf_coll *coll, double begun)
{
    struct pf_colls *colls = coll->colls;
    int links = work_of_links(coll);
    for (int i = 0; i < links; i++)
        if (colls->flow_link[i].work > 0)
            pf_cost_link_take(colls->cost, i, begun, colls->flow_link[i].work);
}

void pf_evaluate_flows(struct pf_coll *coll, const struct pf_stage *stage)
{
    struct exchange x;
    begin(&x, coll, stage);
    double begun = x.now;
    while (coll->queue_length || x.count || x.notes) {
        double date = next(&x), until = date + x.same;
        x.now = date;
        end_until(&x, until);
        answer_until(&x, until);
        work_until(&x, until);
        begin_until(&x, until);
        if (x.changed && x.now >= x.wait)
            share(&x);
    }
    for (int r = 0; r < x.n; r++)
        pf_cost_flows_ended(coll->colls->cost, pf_evaluate_world(coll, r), x.side[r].end, x.side[r].work,
                            x.side[x.n + r].end, x.side[x.n + r].work);
    if (!pf_cost_are_all(coll->colls->cost, x.n))
        leave_links(coll, begun);
    for (int i = 0; i < x.sides; i++)
        free(x.side[i].controls.stretch);
}
