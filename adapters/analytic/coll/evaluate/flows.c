/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges of long messages between all ranks, call by call, with messages as flows: at each date the
 * messages in progress share the links of the ranks' NICs by max-min fairness, so the end of a message
 * depends on those that begin after it. Posting a receive whose message has been sent already blocks its rank
 * until the message has arrived and been discarded; then the receive fetches it. This is what portals does;
 * it takes longer than pricing each message by itself.
 */
#include "adapters/analytic/coll/evaluate/evaluate.h"

#include <math.h>

#include "base/memory.h"

/* Flows that begin or end within this part of a message's time count as one change. */
#define SAME 0.1
/* Links whose shares differ by less than this count as equal. */
#define NEAR 0.05

/* The state of a message. */
enum { POSTED = 1, LATE = 2, AGAIN = 4 };

struct pf_flow_message {
    struct pf_cost_flow price;
    double head;   /* the target's NIC knows of it; INFINITY: not sent yet */
    double called; /* its receive; once it is posted */
    double begin;  /* its first byte left */
    double end;    /* the last byte has left; INFINITY: not yet */
    size_t bytes;
    int state;
};

/* A flow in progress. `left` of it was left at `since`, in seconds of a link of its own; it has no rate
 * before it has begun. */
struct pf_flow_active {
    int from, to;
    double since, left, rate;
    double date; /* of its end with this rate, or of its beginning */
    bool begun;
};

/* A link of a rank's NIC, out or in. */
struct pf_flow_side {
    double capacity;  /* that is not assigned yet */
    double share;     /* of it for each flow */
    int flows;        /* which have no rate yet */
    double work, end; /* of all messages that crossed it */
};

struct exchange {
    struct pf_coll *coll;
    const struct pf_stage *stage;
    struct pf_flow_message *message; /* n x n */
    struct pf_flow_active *active;
    struct pf_flow_side *side; /* of rank r: r and n + r */
    int n, count;
    int *open; /* scratch */
    double now, same;
    bool changed; /* flows have begun or ended since the rates were computed */
};

static inline struct pf_flow_message *message_of(const struct exchange *x, int from, int to)
{
    return &x->message[(size_t)from * (size_t)x->n + (size_t)to];
}

static size_t least_block(const struct pf_coll_call *call)
{
    size_t least = SIZE_MAX;
    for (int r = 0; r < call->n; r++)
        for (int i = 0; call->rows && i < call->n; i++)
            least = i != r && call->rows[r][i] < least ? call->rows[r][i] : least;
    for (int r = 0; r < call->n && call->counts; r++)
        least = call->counts[r] < least ? call->counts[r] : least;
    return least;
}

bool pf_evaluate_as_flows(const struct pf_coll *coll, const struct pf_stage *stage)
{
    const struct pf_coll_call *call = &coll->plan.call;
    if (!stage->nth || call->n < 3 || call->n > PF_FLOW_RANKS || call->in_place || call->cut)
        return false;
    if (call->kind != PF_COLL_ALLTOALLV && call->kind != PF_COLL_ALLTOALLW &&
        !(call->kind == PF_COLL_ALLGATHERV && call->nonblocking))
        return false;
    if (!pf_cost_flows(coll->colls->cost))
        return false;
    size_t least = least_block(call);
    return least < SIZE_MAX && pf_cost_post_blocks(coll->colls->cost, least);
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
    colls->side = pf_reallocarray(colls->side, 2 * (size_t)n, sizeof *colls->side);
}

static void flow(struct exchange *x, int from, int to, double begin)
{
    double work = message_of(x, from, to)->price.work;
    x->active[x->count++] = (struct pf_flow_active){from, to, begin, work, 0, begin, false};
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

/* An expected message has arrived, or one that was fetched. */
static void arrive(struct exchange *x, int from, int to)
{
    const struct pf_flow_message *message = message_of(x, from, to);
    const struct pf_cost_flow *price = &message->price;
    struct pf_member *source = &x->coll->member[from];
    double arrival = message->end + price->latency;
    if (message->state & AGAIN) {
        source->safe = pf_later(source->safe, arrival - price->left);
    } else {
        arrival = pf_later(arrival, message->called + price->receive_latency);
        source->safe = pf_later(source->safe, arrival + price->acknowledgement);
    }
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
    flow(x, from, to, known + price->again);
    return pf_later(known, message->called + price->post);
}

static void post(struct exchange *x, int rank, int from, size_t bytes)
{
    struct pf_member *m = &x->coll->member[rank];
    struct pf_flow_message *message = message_of(x, from, rank);
    message->called = m->clock;
    message->state |= POSTED;
    m->clock += pf_cost_post(x->coll->colls->cost, bytes);
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
        if (!f->begun || end > until) {
            i++;
            continue;
        }
        *f = x->active[--x->count];
        x->changed = true;
        message->end =
            pf_cost_flow_ended(x->coll->colls->cost, pf_evaluate_world(x->coll, from),
                               pf_evaluate_world(x->coll, to), message->bytes, message->begin, end);
        x->side[from].end = pf_later(x->side[from].end, end);
        x->side[x->n + to].end = pf_later(x->side[x->n + to].end, end);
        if (message->state == POSTED || (message->state & AGAIN)) {
            arrive(x, from, to);
        } else if (message->state & LATE) { /* its rank is blocked */
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
    return date;
}

static void begin_until(struct exchange *x, double until)
{
    for (int i = 0; i < x->count; i++) {
        struct pf_flow_active *f = &x->active[i];
        if (f->begun || f->date > until)
            continue;
        f->begun = x->changed = true;
    }
}

/* Computes the share of each flow on each link. Returns the least. */
static double shares(const struct exchange *x)
{
    double least = INFINITY;
    for (int i = 0; i < 2 * x->n; i++) {
        struct pf_flow_side *side = &x->side[i];
        if (side->flows == 0)
            continue;
        side->share = side->capacity / side->flows;
        least = side->share < least ? side->share : least;
    }
    return least;
}

static void set_rate(struct exchange *x, struct pf_flow_active *f, double rate)
{
    x->side[f->from].flows--;
    x->side[f->from].capacity -= rate;
    x->side[x->n + f->to].flows--;
    x->side[x->n + f->to].capacity -= rate;
    if (rate == f->rate)
        return;
    if (f->rate > 0) {
        f->left -= f->rate * (x->now - f->since);
        f->since = x->now;
    }
    f->rate = rate;
    f->date = f->since + f->left / rate;
}

/* Max-min fairness: flows on the links with the least share get it; then the same with the rest of the flows
 * and of the capacity. */
static void share(struct exchange *x)
{
    int *open = x->open, count = 0;
    for (int i = 0; i < 2 * x->n; i++) {
        x->side[i].capacity = 1;
        x->side[i].flows = 0;
    }
    for (int i = 0; i < x->count; i++) {
        if (!x->active[i].begun)
            continue;
        x->side[x->active[i].from].flows++;
        x->side[x->n + x->active[i].to].flows++;
        open[count++] = i;
    }
    while (count > 0) {
        double most = shares(x) * (1 + NEAR);
        int left = 0;
        for (int i = 0; i < count; i++) {
            struct pf_flow_active *f = &x->active[open[i]];
            double out = x->side[f->from].share, in = x->side[x->n + f->to].share, rate = out < in ? out : in;
            if (rate <= most)
                set_rate(x, f, rate);
            else
                open[left++] = open[i];
        }
        count = left;
    }
    x->changed = false;
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
                           .side = colls->side,
                           .open = colls->open,
                           .n = n};
    for (int i = 0; i < n * n; i++) {
        x->message[i].head = x->message[i].end = INFINITY;
        x->message[i].state = 0;
    }
    for (int r = 0; r < n; r++) {
        x->side[r].work = x->side[n + r].work = x->side[r].end = x->side[n + r].end = 0;
        coll->member[r].round = 0;
        coll->member[r].inside = false;
        pf_evaluate_put(coll, r);
    }
    x->now = coll->member[coll->queue[0]].turn;
    x->same = SAME * pf_cost_flow_time(colls->cost, pf_evaluate_world(coll, 0), pf_evaluate_world(coll, 1),
                                       least_block(&coll->plan.call));
}

void pf_evaluate_flows(struct pf_coll *coll, const struct pf_stage *stage)
{
    struct exchange x;
    begin(&x, coll, stage);
    while (coll->queue_length || x.count) {
        double date = next(&x), until = date + x.same;
        x.now = date;
        end_until(&x, until);
        work_until(&x, until);
        begin_until(&x, until);
        if (x.changed)
            share(&x);
    }
    for (int r = 0; r < x.n; r++)
        pf_cost_flows_ended(coll->colls->cost, pf_evaluate_world(coll, r), x.side[r].end, x.side[r].work,
                            x.side[x.n + r].end, x.side[x.n + r].work);
}
