/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random correct program, drawn from a seed. All PEs draw the same list of operations, carry out their own,
 * and apply all of them to a picture of the memory of all; after each barrier the memory must be as the
 * picture says.
 *
 * In one round a cell is written by one put, or changed by any number of additions, so that the order does
 * not matter; gets read what the round does not write.
 *
 *     random SEED [ROUNDS]
 */
#include "check.h"

enum { CELLS = 200, OPERATIONS = 60, PES = 64, LONGEST = 130 };

static long fixed[CELLS], *heap;
static long picture[2][PES][CELLS];
static unsigned char state[2][PES][CELLS]; /* in this round: 0 nothing, 1 put, 2 added to, 3 read */
static long sources[OPERATIONS][LONGEST], answers[OPERATIONS][LONGEST];
static long sync[SHMEM_SYNC_SIZE];
static uint64_t seed;

static long draw(long below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (long)(seed % (uint64_t)below);
}

struct operation {
    int kind, by, to, area, form;
    long at, length, stride, value, expected[LONGEST];
};

enum { PUT, ADD, GET, KINDS };

/* Whether the round leaves these cells to the operation; marks them. */
static int claim(const struct operation *o)
{
    static const unsigned char marks[] = {1, 2, 3};
    unsigned char mark = marks[o->kind];
    for (long i = 0; i < o->length; i++) {
        unsigned char now = state[o->area][o->to][o->at + i * o->stride];
        if (now && (now != mark || mark == 1))
            return 0;
    }
    for (long i = 0; i < o->length; i++)
        state[o->area][o->to][o->at + i * o->stride] = mark;
    return 1;
}

static int draw_operation(struct operation *o, int size)
{
    *o = (struct operation){
        .kind = (int)draw(KINDS), .by = (int)draw(size), .to = (int)draw(size), .area = (int)draw(2)};
    o->form = (int)draw(4);
    o->value = draw(1000000);
    o->stride = o->kind != ADD && o->form == 3 ? 1 + draw(3) : 1;
    o->length = o->kind == ADD ? 1 : 1 + draw(draw(4) ? 9 : LONGEST);
    o->at = draw(CELLS);
    if (o->at + (o->length - 1) * o->stride >= CELLS || !claim(o))
        return 0;
    for (long i = 0; i < o->length; i++) {
        long *cell = &picture[o->area][o->to][o->at + i * o->stride];
        o->expected[i] = *cell;
        if (o->kind == PUT)
            *cell = o->value + i;
        else if (o->kind == ADD)
            *cell += o->value;
    }
    return 1;
}

static void do_put(const struct operation *o, long *to, long *source, shmem_ctx_t ctx)
{
    for (long i = 0; i < o->length; i++)
        source[i] = o->value + i;
    if (o->form == 0)
        shmem_long_put(to, source, (size_t)o->length, o->to);
    else if (o->form == 1)
        shmem_long_put_nbi(to, source, (size_t)o->length, o->to);
    else if (o->form == 2)
        shmem_ctx_long_put_nbi(ctx, to, source, (size_t)o->length, o->to);
    else
        shmem_long_iput(to, source, o->stride, 1, (size_t)o->length, o->to);
}

static void do_get(const struct operation *o, const long *from, long *answer, shmem_ctx_t ctx)
{
    if (o->form == 0)
        shmem_long_get(answer, from, (size_t)o->length, o->to);
    else if (o->form == 1)
        shmem_long_get_nbi(answer, from, (size_t)o->length, o->to);
    else if (o->form == 2)
        shmem_ctx_long_get_nbi(ctx, answer, from, (size_t)o->length, o->to);
    else
        shmem_long_iget(answer, from, 1, o->stride, (size_t)o->length, o->to);
}

static void do_add(const struct operation *o, long *to, shmem_ctx_t ctx)
{
    if (o->form == 0)
        shmem_long_atomic_add(to, o->value, o->to);
    else if (o->form == 1)
        shmem_long_atomic_fetch_add(to, o->value, o->to);
    else if (o->form == 2)
        shmem_ctx_long_atomic_add(ctx, to, o->value, o->to);
    else
        for (long seen = shmem_long_g(to, o->to), before;; seen = before) {
            before = shmem_long_atomic_compare_swap(to, seen, seen + o->value, o->to);
            if (before == seen)
                break;
        }
}

static void round_of(int me, int size, shmem_ctx_t ctx)
{
    static struct operation operations[OPERATIONS];
    int count = 0;
    memset(state, 0, sizeof state);
    while (count < OPERATIONS)
        count += draw_operation(&operations[count], size);
    int barrier = (int)draw(2);
    for (int i = 0; i < count; i++) {
        const struct operation *o = &operations[i];
        long *cell = (o->area ? heap : fixed) + o->at;
        if (o->by != me)
            continue;
        if (o->kind == PUT)
            do_put(o, cell, sources[i], ctx);
        else if (o->kind == GET)
            do_get(o, cell, answers[i], ctx);
        else
            do_add(o, cell, ctx);
    }
    shmem_ctx_quiet(ctx);
    if (barrier)
        shmem_barrier(0, 0, size, sync);
    else
        shmem_barrier_all();
    for (int i = 0; i < count; i++)
        if (operations[i].by == me && operations[i].kind == GET)
            CHECK(memcmp(answers[i], operations[i].expected, (size_t)operations[i].length * sizeof(long)) ==
                  0);
    CHECK(memcmp(fixed, picture[0][me], sizeof fixed) == 0);
    CHECK(memcmp(heap, picture[1][me], sizeof fixed) == 0);
    shmem_sync_all();
}

int main(int argc, char **argv)
{
    shmem_init();
    shmem_ctx_t ctx;
    seed = 88172645463325252u * (uint64_t)(argc > 1 ? 2 * atol(argv[1]) + 1 : 1);
    heap = shmem_calloc(CELLS, sizeof *heap);
    CHECK(heap && shmem_n_pes() <= PES && shmem_ctx_create(0, &ctx) == 0);
    for (int round = argc > 2 ? atoi(argv[2]) : 20; round > 0; round--)
        round_of(shmem_my_pe(), shmem_n_pes(), ctx);
    pass();
    return 0;
}
