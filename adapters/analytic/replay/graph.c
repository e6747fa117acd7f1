/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules with several processors per rank: events in the order of their dates, all in one call. By
 * LogGOPSim's rules a date is in ns and a message occupies a processor and a NIC at both ends; a requirement
 * holds when the operation has begun, since its processor is busy until it has ended. Otherwise dates are in
 * seconds, messages are priced as those of ranks, and a requirement holds at the end of the operation.
 */
#include "adapters/analytic/replay/graph.h"

#include <math.h>
#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>

#include "adapters/analytic/engine/engine.h"
#include "adapters/analytic/replay/program.h"
#include "adapters/envelope.h"
#include "base/log.h"
#include "base/binary_heap.h"
#include "base/memory.h"

struct message {
    struct pf_envelope envelope; /* first */
    struct pf_cost_sent sent;
    double arrival;
    int source, destination;
    uint32_t op; /* of its sender */
    uint64_t size;
    uint8_t cpu, nic;
};

struct receive {
    struct pf_envelope envelope; /* first */
    double posted;
    uint32_t op;
};

/* An operation that may begin or, with `ends`, has ended; or a message that is there. */
struct event {
    double date;
    uint64_t order;
    struct message *message;
    int rank;
    uint32_t op;
    bool ends;
};

/* Those that wait for the same: for a processor, and sends and messages also for a NIC. Of them only the one
 * that is first by order has an event, so that a busy processor does not cost as many events as wait for it.
 */
struct waiting {
    struct parked {
        uint64_t order;
        union {
            struct message *message;
            uint32_t op;
        };
    } * heap;
    uint32_t count, room;
    uint64_t first; /* the order of the one that has an event, plus 1; 0: none has */
};

struct host {
    struct an_graph *graph;
    double *cpus, *out, *in; /* until when processors are busy, and NICs in both directions */
    struct waiting *waiting; /* of each processor, then of each with each NIC, sends and messages */
    struct pf_envelope_queue underway, unexpected, posted;
    double end;
};

struct fresh {
    int rank;
    uint32_t op, order;
    uint8_t kind;
};

static struct {
    struct an_program *program;
    const struct an_loggops *loggops;
    struct host *hosts;
    struct event *heap;
    size_t count, room;
    uint64_t order, calls;
    double now;
    size_t cpus, nics;   /* the most that a rank has */
    struct fresh *fresh; /* operations that nothing holds up any more */
    size_t fresh_count, fresh_room;
} run;

static struct an_graph_op *op_of(int rank, uint32_t op)
{
    return &run.hosts[rank].graph->ops[op];
}

/* ---- events ---- */

static bool is_before(const struct event *a, const struct event *b)
{
    if (a->date != b->date || a->order != b->order)
        return a->date < b->date || (a->date == b->date && a->order < b->order);
    return a->rank < b->rank;
}

static void put(struct event event)
{
    PF_ARRAY_ROOM(run.heap, run.room, run.count + 1);
    PF_HEAP_PUT(run.heap, run.count, event, is_before);
}

static struct event take(void)
{
    struct event first = run.heap[0];
    PF_HEAP_DROP_FIRST(run.heap, run.count, is_before);
    return first;
}

static bool is_parked_before(const struct parked *a, const struct parked *b)
{
    return a->order < b->order;
}

/* What it waits for, if it may have to: NULL where it never waits. */
static struct waiting *waiting_of(int rank, uint32_t op, const struct message *message)
{
    struct waiting *waiting = run.hosts[rank].waiting;
    if (message)
        return run.loggops ? &waiting[run.cpus * (1 + run.nics + message->nic) + message->cpu] : NULL;
    const struct an_graph_op *o = op_of(rank, op);
    if (run.loggops && o->kind == AN_GRAPH_RECEIVE)
        return NULL;
    return &waiting[o->cpu + (run.loggops && o->kind == AN_GRAPH_SEND ? run.cpus * (1 + o->nic) : 0)];
}

/* It may begin at that date, but for what waits for the same: that goes by order, each at the earliest when
 * the one before it has gone. */
static void put_or_park(struct event event)
{
    struct waiting *w = waiting_of(event.rank, event.op, event.message);
    if (w && w->first && w->first <= event.order) {
        struct parked parked = {.order = event.order, .message = event.message};
        if (!event.message)
            parked.op = event.op;
        PF_ARRAY_ROOM(w->heap, w->room, w->count + 1);
        PF_HEAP_PUT(w->heap, w->count, parked, is_parked_before);
        return;
    }
    if (w)
        w->first = event.order + 1;
    put(event);
}

/* At one date, LogGOPSim takes what came first; otherwise operations of a rank that may begin do it in their
 * own order, after all that ends or arrives then. */
static void post_operation(double date, int rank, uint32_t op)
{
    put_or_park((struct event){
        .date = date, .order = run.loggops ? run.order++ : (uint64_t)1 << 63 | op, .rank = rank, .op = op});
}

static void post_end(double date, int rank, uint32_t op)
{
    put((struct event){.date = date, .order = run.order++, .rank = rank, .op = op, .ends = true});
}

static void post_message(struct message *message)
{
    put((struct event){
        .date = message->arrival, .order = run.order++, .message = message, .rank = message->destination});
}

/* It keeps its turn among those of that date. */
static void retry(struct event event, double date)
{
    event.date = date;
    put_or_park(event);
}

/* ---- what operations require ---- */

static void add_fresh(int rank, uint32_t op)
{
    PF_ARRAY_ROOM(run.fresh, run.fresh_room, run.fresh_count + 1);
    run.fresh[run.fresh_count] = (struct fresh){rank, op, (uint32_t)run.fresh_count, op_of(rank, op)->kind};
    run.fresh_count++;
}

static void meet(int rank, uint32_t op, uint32_t bit)
{
    struct an_graph *graph = run.hosts[rank].graph;
    for (uint32_t i = graph->ops[op].edges; i < graph->ops[op + 1].edges; i++) {
        uint32_t other = graph->edges[i] & ~AN_GRAPH_BEGUN;
        if ((graph->edges[i] & AN_GRAPH_BEGUN) == bit && --graph->ops[other].unmet == 0)
            add_fresh(rank, other);
    }
}

static void begin(int rank, uint32_t op)
{
    op_of(rank, op)->begun = true;
    meet(rank, op, AN_GRAPH_BEGUN);
}

static void finish(int rank, uint32_t op)
{
    op_of(rank, op)->finished = true;
    run.hosts[rank].end = fmax(run.hosts[rank].end, run.now);
    meet(rank, op, 0);
}

/* It ends at a date, which LogGOPSim does not wait for. */
static void finish_at(int rank, uint32_t op, double date)
{
    if (run.loggops)
        finish(rank, op);
    else
        post_end(fmax(date, run.now), rank, op);
}

static int compare_fresh(const void *left, const void *right)
{
    const struct fresh *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Sends also wait for their NIC, where they occupy it. */
static double free_from(int rank, const struct an_graph_op *op)
{
    const struct host *host = &run.hosts[rank];
    double cpu = host->cpus[op->cpu];
    return run.loggops && op->kind == AN_GRAPH_SEND ? fmax(cpu, host->out[op->nic]) : cpu;
}

static double free_for(int rank, const struct message *m)
{
    return fmax(run.hosts[rank].cpus[m->cpu], run.hosts[rank].in[m->nic]);
}

/* After an event: the next one that waits for the same has its turn. */
static void unpark(const struct event *event, struct waiting *w)
{
    struct event next = {.order = w->heap[0].order, .rank = event->rank};
    if (event->message)
        next.message = w->heap[0].message;
    else
        next.op = w->heap[0].op;
    double from =
        next.message ? free_for(next.rank, next.message) : free_from(next.rank, op_of(next.rank, next.op));
    PF_HEAP_DROP_FIRST(w->heap, w->count, is_parked_before);
    retry(next, fmax(from, run.now));
}

static void post_fresh(void)
{
    if (run.fresh_count > 1)
        qsort(run.fresh, run.fresh_count, sizeof *run.fresh, compare_fresh);
    for (size_t i = 0; i < run.fresh_count; i++) {
        int rank = run.fresh[i].rank;
        double date = free_from(rank, op_of(rank, run.fresh[i].op));
        post_operation(run.loggops ? date : fmax(date, run.now), rank, run.fresh[i].op);
    }
    run.fresh_count = 0;
}

/* ---- operations ---- */

static double duration(int rank, const struct an_graph_op *op)
{
    const struct an_program *program = run.program;
    double size = program->computes ? (double)op->size * program->scale : 0;
    return run.loggops ? size : size / sg_host_get_speed(program->selves[rank].host);
}

static void calculate(int rank, uint32_t index, struct an_graph_op *op)
{
    double end = run.now + duration(rank, op);
    run.hosts[rank].cpus[op->cpu] = end;
    begin(rank, index);
    finish_at(rank, index, end);
}

/* Occupies the sender's processor and NIC. */
static void send_loggops(int rank, uint32_t index, const struct an_graph_op *op, struct message *m)
{
    const struct an_loggops *l = run.loggops;
    double rest = (double)op->size - 1;
    run.hosts[rank].cpus[op->cpu] = run.now + l->overhead + rest * l->byte_overhead;
    run.hosts[rank].out[op->nic] = run.now + l->gap + rest * l->byte_gap;
    m->arrival = run.now + l->overhead + l->latency;
    if ((double)op->size <= l->eager)
        finish(rank, index);
}

/* Messages of one source do not overtake each other. */
static void send_priced(int rank, uint32_t index, const struct an_graph_op *op, struct message *m)
{
    pf_cost_send(an_job.cost, rank, op->peer, op->size, run.now, PF_COST_STANDARD, &m->sent);
    const struct message *last =
        (const struct message *)pf_envelope_last_of(&run.hosts[op->peer].underway, rank);
    m->arrival = fmax(m->sent.arrival, last ? last->arrival : 0);
    run.hosts[rank].cpus[op->cpu] = m->sent.returns;
    if (!m->sent.rendezvous)
        finish_at(rank, index, m->sent.safe);
}

static void send(int rank, uint32_t index, struct an_graph_op *op)
{
    struct message *m = pf_malloc(sizeof *m);
    *m = (struct message){.envelope = {.order = run.calls++, .source = rank, .tag = op->tag},
                          .source = rank,
                          .destination = op->peer,
                          .op = index,
                          .size = op->size,
                          .cpu = op->cpu,
                          .nic = op->nic};
    begin(rank, index);
    if (run.loggops)
        send_loggops(rank, index, op, m);
    else
        send_priced(rank, index, op, m);
    pf_envelope_insert(&run.hosts[op->peer].underway, &m->envelope);
    run.program->ranks[rank].messages++;
    run.program->ranks[rank].bytes += op->size;
    post_message(m);
}

/* A rendezvous holds the sender's processor and NIC up until now. */
static void match_loggops(const struct message *m, int rank, uint32_t index)
{
    struct host *sender = &run.hosts[m->source];
    if ((double)m->size > run.loggops->eager) {
        finish(m->source, m->op);
        sender->cpus[m->cpu] = fmax(sender->cpus[m->cpu], run.now);
        sender->out[m->nic] = fmax(sender->out[m->nic], run.now);
    }
    finish(rank, index);
}

static void match(struct message *m, int rank, uint32_t index, double posted)
{
    struct pf_cost_received received;
    double *cpu = &run.hosts[rank].cpus[op_of(rank, index)->cpu];
    if (run.loggops) {
        match_loggops(m, rank, index);
    } else {
        pf_cost_receive(an_job.cost, m->source, rank, m->size, &m->sent, posted, &received);
        if (m->sent.rendezvous)
            finish_at(m->source, m->op, received.safe);
        double end = received.complete;
        if (received.work > 0)
            *cpu = end = fmax(end, *cpu + received.work);
        finish_at(rank, index, end);
    }
    free(m);
}

static void receive(int rank, uint32_t index, struct an_graph_op *op)
{
    struct host *host = &run.hosts[rank];
    struct message *m = (struct message *)pf_envelope_find(&host->unexpected, op->peer, op->tag);
    begin(rank, index);
    if (!run.loggops)
        host->cpus[op->cpu] = run.now + pf_cost_call(an_job.cost) + pf_cost_post(an_job.cost, op->size);
    if (m) {
        pf_envelope_remove(&host->unexpected, &m->envelope);
        match(m, rank, index, run.now);
        return;
    }
    struct receive *r = pf_malloc(sizeof *r);
    *r = (struct receive){.envelope = {.order = run.calls++, .source = op->peer, .tag = op->tag},
                          .posted = run.now,
                          .op = index};
    pf_envelope_insert(&host->posted, &r->envelope);
}

/* By LogGOPSim's rules the processor and the NIC with the sender's numbers take a message up, posted or not.
 */
static void arrive(const struct event *event)
{
    struct message *m = event->message;
    struct host *host = &run.hosts[m->destination];
    const struct an_loggops *l = run.loggops;
    if (l) {
        double from = free_for(m->destination, m), rest = (double)m->size - 1;
        if (from > run.now) {
            retry(*event, from);
            return;
        }
        host->cpus[m->cpu] = run.now + l->overhead + rest * fmax(l->byte_overhead, l->byte_gap);
        host->in[m->nic] = run.now + l->gap + rest * l->byte_gap;
    }
    pf_envelope_remove(&host->underway, &m->envelope);
    struct receive *r =
        (struct receive *)pf_envelope_find(&host->posted, m->envelope.source, m->envelope.tag);
    if (!r) {
        m->envelope.order = run.calls++;
        pf_envelope_insert(&host->unexpected, &m->envelope);
        return;
    }
    pf_envelope_remove(&host->posted, &r->envelope);
    match(m, m->destination, r->op, r->posted);
    free(r);
}

static void operate(const struct event *event)
{
    struct an_graph_op *op = op_of(event->rank, event->op);
    double from = free_from(event->rank, op);
    if (from > run.now && !(run.loggops && op->kind == AN_GRAPH_RECEIVE)) {
        retry(*event, from);
        return;
    }
    run.program->ranks[event->rank].calls += op->kind != AN_GRAPH_CALC;
    if (op->kind == AN_GRAPH_CALC)
        calculate(event->rank, event->op, op);
    else if (op->kind == AN_GRAPH_SEND)
        send(event->rank, event->op, op);
    else
        receive(event->rank, event->op, op);
}

static void handle(const struct event *event)
{
    struct waiting *w = event->ends ? NULL : waiting_of(event->rank, event->op, event->message);
    if (w && w->first == event->order + 1)
        w->first = 0;
    run.now = event->date;
    if (event->message)
        arrive(event);
    else if (event->ends)
        finish(event->rank, event->op);
    else
        operate(event);
    if (w && w->first == 0 && w->count > 0)
        unpark(event, w);
}

/* ---- the whole ---- */

static void make_hosts(void)
{
    size_t size = (size_t)run.program->size, cpus = 1, nics = 1;
    run.hosts = pf_calloc(size, sizeof *run.hosts);
    for (size_t rank = 0; rank < size; rank++) {
        struct an_graph *graph = run.hosts[rank].graph = &run.program->graphs[rank];
        for (uint32_t i = 0; i < graph->count; i++) {
            cpus = graph->ops[i].cpu >= cpus ? graph->ops[i].cpu + 1u : cpus;
            nics = graph->ops[i].nic >= nics ? graph->ops[i].nic + 1u : nics;
        }
    }
    run.cpus = cpus;
    run.nics = nics;
    double *numbers = pf_calloc(size * (cpus + 2 * nics), sizeof *numbers);
    struct waiting *waiting = pf_calloc(size * cpus * (1 + 2 * nics), sizeof *waiting);
    for (size_t rank = 0; rank < size; rank++, numbers += cpus + 2 * nics) {
        run.hosts[rank].cpus = numbers;
        run.hosts[rank].out = numbers + cpus;
        run.hosts[rank].in = numbers + cpus + nics;
        run.hosts[rank].waiting = waiting + rank * cpus * (1 + 2 * nics);
        for (size_t i = 0; i < cpus; i++)
            numbers[i] = run.now;
        for (uint32_t i = 0; i < run.hosts[rank].graph->count; i++)
            if (run.hosts[rank].graph->ops[i].unmet == 0)
                add_fresh((int)rank, i);
        post_fresh();
    }
}

/* The first operation that has begun and does not end, or that never begins. */
static _Noreturn void stuck(bool begun)
{
    for (int rank = 0; rank < run.program->size; rank++)
        for (uint32_t i = 0; i < run.hosts[rank].graph->count; i++) {
            const struct an_graph_op *op = op_of(rank, i);
            if (op->finished || op->begun != begun)
                continue;
            if (!begun)
                pf_die("-replay: rank %d: operations require each other in a circle", rank);
            pf_die("-replay: deadlock: operation %u of rank %d waits, to %s %llu B %s rank %d (-1: any) with "
                   "tag "
                   "%d (-2: any), and the other side never comes",
                   i + 1, rank, op->kind == AN_GRAPH_SEND ? "send" : "receive", (unsigned long long)op->size,
                   op->kind == AN_GRAPH_SEND ? "to" : "from", op->peer, op->tag);
        }
    abort();
}

static void check_end(void)
{
    bool begun = false, all = true;
    for (int rank = 0; rank < run.program->size; rank++)
        for (uint32_t i = 0; i < run.hosts[rank].graph->count; i++) {
            all &= op_of(rank, i)->finished;
            begun |= op_of(rank, i)->begun && !op_of(rank, i)->finished;
        }
    if (!all)
        stuck(begun);
}

void an_graph_play(struct an_program *program)
{
    double start = simgrid_get_clock(), last = 0;
    run.program = program;
    run.loggops = program->loggops;
    run.now = run.loggops ? 0 : start;
    make_hosts();
    while (run.count > 0) {
        struct event event = take();
        handle(&event);
        post_fresh();
    }
    check_end();
    for (int rank = 0; rank < program->size; rank++) {
        const struct host *host = &run.hosts[rank];
        double end = run.loggops ? 0 : host->end; /* LogGOPSim looks at processors */
        for (const double *cpu = host->cpus; cpu < host->out; cpu++)
            end = fmax(end, *cpu);
        program->ranks[rank].end = run.loggops ? start + end * 1e-9 : end;
        last = fmax(last, program->ranks[rank].end);
    }
    sg_actor_sleep_for(last - start);
}
