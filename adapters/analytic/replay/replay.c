/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the ranks of a recorded job one after the other in one actor, in the order in which SimGrid runs
 * actors: those whose events have come in the order of these, then those whose computations have ended.
 */
#include "adapters/analytic/replay/replay.h"

#include <simgrid/engine.h>
#include <simgrid/host.h>

#include "adapters/adapter.h"
#include "base/error.h"
#include "base/binary_heap.h"
#include "base/memory.h"

/* A computation, in a heap by date and then by the order in which they began. */
struct computation {
    double date;
    uint64_t order;
    struct an_player *player;
};

static struct {
    struct an_program *program;
    struct an_player *players;
    struct an_player *first, **last; /* those that go on */
    int left;                        /* that have not ended */
    struct computation *heap;
    int computing;
    uint64_t computations;
    struct pf_waiter waiter;
} replay;

static void go_on(struct an_player *p)
{
    p->next = NULL;
    *replay.last = p;
    replay.last = &p->next;
}

static void wake(struct an_rank *rank)
{
    struct an_player *p = &replay.players[rank->base.rank];
    if (!p->stopped)
        return;
    p->stopped = false;
    p->woken = true;
    go_on(p);
    pf_waiter_wake(&replay.waiter);
}

static bool is_before(const struct computation *a, const struct computation *b)
{
    return a->date < b->date || (a->date == b->date && a->order < b->order);
}

/* As SimGrid: the rank has a core of its own. */
static void compute(struct an_player *p, double flops)
{
    sg_host_t host = replay.program->selves[p->rank->base.rank].host;
    double date = simgrid_get_clock() + flops * replay.program->scale / sg_host_get_speed(host);
    struct computation new = {date, replay.computations++, p};
    PF_HEAP_PUT(replay.heap, replay.computing, new, is_before);
}

static struct an_player *first_computed(void)
{
    struct an_player *p = replay.heap[0].player;
    PF_HEAP_DROP_FIRST(replay.heap, replay.computing, is_before);
    return p;
}

static double next_computed(void)
{
    return replay.computing ? replay.heap[0].date : INFINITY;
}

static void run(struct an_player *p)
{
    double flops = 0;
    if (p->woken)
        an_rank_resumed(p->rank);
    p->woken = false;
    while (!an_player_step(p, &flops))
        ;
    if (p->stage == AN_FAILED)
        replay.program->failed();
    if (flops > 0) {
        compute(p, flops);
    } else if (p->stage == AN_OVER && p->rank->debt == 0) {
        p->program->end = simgrid_get_clock();
        replay.left--;
    } else {
        p->stopped = true;
    }
}

/* The ranks do not fit into the nearer caches. */
static void fetch(const struct an_player *p)
{
    __builtin_prefetch(&p->rank->debt);
    __builtin_prefetch(&p->rank->wake);
    __builtin_prefetch(&p->program->ops[p->at]);
    __builtin_prefetch(p->waited[0]);
}

static void run_all(void)
{
    while (replay.left > 0) {
        while (replay.first) {
            struct an_player *p = replay.first;
            replay.first = p->next;
            if (!replay.first)
                replay.last = &replay.first;
            else
                fetch(replay.first);
            run(p);
        }
        if (replay.left == 0)
            break;
        pf_engine_set_alarm(&replay.waiter, next_computed(), replay.program->precision);
        pf_waiter_park(&replay.waiter);
        double clock = simgrid_get_clock();
        while (next_computed() - clock < replay.program->precision)
            go_on(first_computed());
    }
    pf_engine_set_alarm(NULL, INFINITY, 0);
}

static void make_players(struct an_program *program)
{
    size_t slots = 0, size = (size_t)program->size;
    for (size_t i = 0; i < size; i++)
        slots += program->ranks[i].slots;
    struct an_slot *slot = pf_calloc(slots + 1, sizeof *slot);
    replay.program = program;
    replay.players = pf_calloc(size, sizeof *replay.players);
    replay.heap = pf_calloc(size + 1, sizeof *replay.heap);
    replay.last = &replay.first;
    replay.left = program->size;
    for (size_t i = 0; i < size; i++) {
        struct an_player *p = &replay.players[i];
        p->rank = an_job.ranks[i];
        p->program = &program->ranks[i];
        p->computes = program->computes;
        p->slots = slot;
        p->waited = p->few;
        p->waited_room = 2;
        slot += program->ranks[i].slots;
    }
    /* Rank 0 makes the job of the others, and so is the last one that comes out of MPI_Init. */
    for (size_t i = 1; i <= size; i++)
        go_on(&replay.players[i % size]);
}

int an_replay(struct an_program *program, char *why, size_t why_size)
{
    const pf_self_t **ranks = pf_calloc((size_t)program->size, sizeof(pf_self_t *));
    for (int i = 0; i < program->size; i++)
        ranks[i] = &program->selves[i];
    struct pf_job job = {.size = program->size, .ranks = (pf_self_t *const *)ranks, .alone = true};
    int error = pf_analytic_adapter.ops->open(&job, why, why_size);
    if (error)
        return error;
    an_job.moves_data = false;
    an_job.wake = wake;
    if (program->graphs) {
        an_graph_play(program);
    } else {
        make_players(program);
        pf_waiter_init(&replay.waiter);
        run_all();
    }
    for (int i = 0; i < program->size; i++)
        pf_analytic_adapter.ops->finish(&an_job.ranks[i]->base);
    return PF_SUCCESS;
}
