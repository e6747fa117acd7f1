/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GOAL schedules: operations of each rank with what they require. A rank of ours does one thing after the
 * other, so they are brought into an order: what can begin without waiting begins, otherwise the first one
 * that is left waits for what it requires. Where a rank has several processors, they stay a graph.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/envelope.h"
#include "base/log.h"
#include "base/memory.h"
#include "tools/pfreplay/compile.h"
#include "tools/pfreplay/goal.h"

void goal_wrong(const struct goal *goal, const char *what)
{
    if (!goal->line)
        pf_die("%s: rank %d: %s", goal->path, goal->rank, what);
    pf_die("%s: line %ld: rank %d: %s", goal->path, goal->line, goal->rank, what);
}

void goal_require(struct goal *goal, int of, int on, bool finished)
{
    PF_ARRAY_ROOM(goal->edges, goal->edge_room, goal->edge_count + 1);
    goal->edges[goal->edge_count] = (struct goal_edge){.on = on,
                                                       .of = of,
                                                       .finished = finished,
                                                       .next = goal->operations[of].edges,
                                                       .next_on = goal->operations[on].edges_on};
    goal->operations[of].unmet++;
    goal->operations[of].unbegun++;
    goal->operations[of].edges = goal->operations[on].edges_on = goal->edge_count++;
}

void goal_set_peer(struct goal *goal, struct goal_operation *operation, long peer, long tag)
{
    if (peer >= goal->ranks || (peer < 0 && operation->kind == GOAL_SEND))
        goal_wrong(goal, "the other rank is not there");
    operation->peer = (int)peer;
    operation->tag = tag;
}

struct goal_operation *goal_add(struct goal *goal, enum goal_kind kind, long size, long cpu, long nic)
{
    PF_ARRAY_ROOM(goal->operations, goal->operation_room, goal->count + 1);
    if (cpu > UINT8_MAX || nic > UINT8_MAX)
        goal_wrong(goal, "a cpu or nic has a number above 255");
    struct goal_operation *operation = &goal->operations[goal->count++];
    *operation = (struct goal_operation){
        .kind = kind, .size = size, .cpu = (uint8_t)cpu, .nic = (uint8_t)nic, .edges = -1, .edges_on = -1};
    goal->streams |= cpu != goal->operations[0].cpu;
    goal->nics |= nic > 0;
    return operation;
}

static void put_wait(struct goal *goal, int index)
{
    if (goal->program)
        replay_put_wait(goal->program, index);
    else
        fprintf(goal->lines->out, "%d waitall 1 %d\n", goal->rank, index);
}

static void mark_ready(struct goal *goal, int index)
{
    goal->ready[index / 64] |= (uint64_t)1 << index % 64;
}

/* What an operation has done: edges on it hold. */
static void meet(struct goal *goal, int index, bool begins, bool finishes)
{
    for (int i = goal->operations[index].edges_on; i >= 0; i = goal->edges[i].next_on) {
        struct goal_operation *other = &goal->operations[goal->edges[i].of];
        other->unbegun -= begins;
        other->unmet -= goal->edges[i].finished ? finishes : begins;
        if (other->unmet == 0 && !other->begun)
            mark_ready(goal, goal->edges[i].of);
    }
    goal->operations[index].finished = finishes;
}

/* The operation waits for what it requires, all of which has begun. */
static void wait_for_required(struct goal *goal, int index)
{
    for (int i = goal->operations[index].edges; i >= 0; i = goal->edges[i].next) {
        int on = goal->edges[i].on;
        if (!goal->edges[i].finished || goal->operations[on].finished)
            continue;
        put_wait(goal, on);
        meet(goal, on, false, true);
    }
}

static void put(struct goal *goal, const struct goal_operation *operation, int index)
{
    bool receives = operation->kind == GOAL_RECV;
    if (operation->kind == GOAL_CALC)
        replay_put_compute(goal->source, goal->program, (double)operation->size);
    else if (operation->size > INT32_MAX || operation->tag > INT32_MAX || (operation->tag < 0 && !receives) ||
             index >= AN_OP_MOST_SLOTS)
        goal->source->refused = "a size, a tag or the number of an operation is out of range";
    else
        replay_put_message(goal->program, receives ? AN_OP_IRECEIVE : AN_OP_ISEND, operation->peer,
                           operation->tag < 0 ? PF_ENVELOPE_ANY_TAG : (int)operation->tag,
                           (uint32_t)operation->size, index);
}

static void start(struct goal *goal, int index)
{
    struct goal_operation *operation = &goal->operations[index];
    operation->begun = true;
    meet(goal, index, true, operation->kind == GOAL_CALC);
    if (goal->program)
        put(goal, operation, index);
    else if (operation->kind == GOAL_CALC)
        fprintf(goal->lines->out, "%d compute %ld\n", goal->rank, operation->size);
    else
        fprintf(goal->lines->out, "%d %s %d %ld %ld 6 req=%d\n", goal->rank,
                operation->kind == GOAL_SEND ? "isend" : "irecv", operation->peer, operation->tag,
                operation->size, index);
}

/* How far behind the first operation that is left others may overtake it. */
#define AHEAD 512

/* Begins what can begin, in the order of the operations; what becomes ready behind it comes with it. Whether
 * there was any. */
static bool start_ready(struct goal *goal, int from, int to)
{
    bool any = false;
    for (int i = from; i < to; i++) {
        uint64_t bits = goal->ready[i / 64] >> i % 64;
        if (bits == 0) {
            i |= 63; /* on to the next word */
            continue;
        }
        i += __builtin_ctzll(bits);
        if (i >= to)
            break;
        goal->ready[i / 64] &= ~((uint64_t)1 << i % 64);
        start(goal, i);
        any = true;
    }
    return any;
}

static struct an_graph_op graph_op(struct goal *goal, const struct goal_operation *operation)
{
    static const uint8_t kinds[] = {
        [GOAL_SEND] = AN_GRAPH_SEND, [GOAL_RECV] = AN_GRAPH_RECEIVE, [GOAL_CALC] = AN_GRAPH_CALC};
    bool receives = operation->kind == GOAL_RECV;
    if (operation->tag > INT32_MAX || (operation->tag < 0 && !receives))
        goal_wrong(goal, "a tag is out of range");
    goal->source->program->works[0] |= operation->kind == GOAL_CALC && operation->size > 0;
    return (struct an_graph_op){.size = (uint64_t)operation->size,
                                .peer = receives && operation->peer < 0 ? PF_ENVELOPE_ANY_SOURCE
                                                                        : operation->peer,
                                .tag = operation->tag < 0 ? PF_ENVELOPE_ANY_TAG : (int32_t)operation->tag,
                                .unmet = (uint32_t)operation->unmet,
                                .kind = kinds[operation->kind],
                                .cpu = operation->cpu,
                                .nic = operation->nic};
}

/* Edges on one operation stay in their order. */
static void put_graph(struct goal *goal, struct an_graph *graph)
{
    graph->count = (uint32_t)goal->count;
    graph->ops = pf_calloc((size_t)goal->count + 1, sizeof *graph->ops);
    graph->edges = pf_calloc((size_t)goal->edge_count + 1, sizeof *graph->edges);
    for (int i = 0; i < goal->count; i++)
        graph->ops[i] = graph_op(goal, &goal->operations[i]);
    for (int i = 0; i < goal->edge_count; i++)
        graph->ops[goal->edges[i].on + 1].edges++;
    for (int i = 0; i < goal->count; i++)
        graph->ops[i + 1].edges += graph->ops[i].edges;
    for (int i = 0; i < goal->edge_count; i++) { /* for now, an operation has the end of its edges */
        const struct goal_edge *edge = &goal->edges[i];
        graph->edges[graph->ops[edge->on].edges++] =
            (uint32_t)edge->of | (edge->finished ? 0 : AN_GRAPH_BEGUN);
    }
    for (int i = goal->count; i > 0; i--)
        graph->ops[i].edges = graph->ops[i - 1].edges;
    graph->ops[0].edges = 0;
}

static void put_rank(struct goal *goal)
{
    int first = 0; /* all before it have begun */
    if (!goal->program)
        fprintf(goal->lines->out, "%d init\n", goal->rank);
    goal->ready = pf_calloc((size_t)goal->count / 64 + 1, sizeof *goal->ready);
    for (int i = 0; i < goal->count; i++)
        if (goal->operations[i].unmet == 0)
            mark_ready(goal, i);
    while (first < goal->count) {
        bool went_on = start_ready(goal, first, goal->count - first < AHEAD ? goal->count : first + AHEAD);
        while (first < goal->count && goal->operations[first].begun)
            first++;
        if (went_on || first == goal->count)
            continue;
        int i = first;
        while (i < goal->count && (goal->operations[i].begun || goal->operations[i].unbegun > 0))
            i++;
        if (i == goal->count)
            goal_wrong(goal, "operations require each other in a circle");
        wait_for_required(goal, i);
    }
    free(goal->ready);
    for (int i = 0; i < goal->count; i++)
        if (!goal->operations[i].finished)
            put_wait(goal, i);
    if (!goal->program)
        fprintf(goal->lines->out, "%d finalize\n", goal->rank);
}

static void forget_rank(struct goal *goal)
{
    if (goal->labelled_room)
        memset(goal->labelled, 0, (size_t)goal->labelled_room * sizeof *goal->labelled);
    goal->count = goal->edge_count = 0;
    goal->names_used = 1; /* 0 is no label */
}

void goal_begin_rank(struct goal *goal, long rank)
{
    goal->rank = (int)rank;
    if (rank >= goal->ranks || goal->seen[rank])
        goal_wrong(goal, rank >= goal->ranks ? "there are not so many ranks" : "a rank comes twice");
    goal->seen[rank] = true;
    goal->program = goal->source->program ? &goal->source->program->ranks[rank] : NULL;
}

void goal_end_rank(struct goal *goal)
{
    if (goal->program && goal->source->program->graphs)
        put_graph(goal, &goal->source->program->graphs[goal->rank]);
    else
        put_rank(goal);
    forget_rank(goal);
}

void goal_begin(struct goal *goal, long ranks)
{
    struct an_program *program = goal->source->program;
    if (ranks < 1 || ranks > 10000000)
        pf_die("%s: the number of ranks must be from 1 to 10000000", goal->path);
    goal->ranks = (int)ranks;
    goal->seen = pf_calloc((size_t)ranks, sizeof *goal->seen);
    if (program)
        replay_program_begin(goal->source, goal->ranks);
    else
        replay_text_begin(goal->lines, goal->ranks);
    if (program && (program->loggops || goal->streams))
        program->graphs = pf_calloc((size_t)ranks, sizeof *program->graphs);
}
