/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided: each rank works on the window of the next one. The window has a slot for even iterations and one
 * for odd ones: a rank that is an iteration ahead does not write where another still reads. None is two
 * ahead, because a barrier ends each iteration.
 */
#include "micro.h"

static uint64_t *slot(struct bench *b, int iteration)
{
    return b->memory + (size_t)(iteration % 2) * (size_t)b->words * WINDOW;
}

static MPI_Aint place(struct bench *b)
{
    return (MPI_Aint)(slot(b, b->iteration) - b->memory);
}

static void open_window(struct bench *b)
{
    MPI_Aint words = 2 * (MPI_Aint)b->words * WINDOW;
    MPI_Win_allocate(words * 8, 8, MPI_INFO_NULL, b->comm, &b->memory, &b->window);
    for (MPI_Aint i = 0; i < words; i++)
        b->memory[i] = 0;
    MPI_Group all;
    MPI_Comm_group(b->comm, &all);
    MPI_Group_incl(all, 1, &b->next, &b->to);
    MPI_Group_incl(all, 1, &b->before, &b->from);
    MPI_Group_free(&all);
}

static void close_window(struct bench *b)
{
    MPI_Group_free(&b->to);
    MPI_Group_free(&b->from);
    MPI_Win_free(&b->window);
}

static void fill_put(struct bench *b)
{
    bench_fill(b, b->send, b->words, b->iteration, b->rank, b->next);
}

static void check_put(struct bench *b)
{
    bench_check(b, slot(b, b->iteration), b->words, b->iteration, b->before, 1, b->rank);
}

static void fill_puts(struct bench *b)
{
    for (int i = 0; i < WINDOW; i++)
        bench_fill(b, b->send + i * b->words, b->words, b->iteration, b->rank, i);
}

static void check_puts(struct bench *b)
{
    for (int i = 0; i < WINDOW; i++)
        bench_check(b, slot(b, b->iteration) + i * b->words, b->words, b->iteration, b->before, 1, i);
}

/* What others get lies there one iteration before, and the first time before a barrier. */
static void fill_get(struct bench *b)
{
    if (b->iteration == 0) {
        bench_fill(b, slot(b, 0), b->words, 0, b->rank, 0);
        MPI_Barrier(b->comm);
    }
    bench_fill(b, slot(b, b->iteration + 1), b->words, b->iteration + 1, b->rank, 0);
}

static void check_get(struct bench *b)
{
    bench_check(b, b->receive, b->words, b->iteration, b->next, 1, 0);
}

/* The same is added again and again, so that the sum in a slot says how often. */
static void fill_accumulate(struct bench *b)
{
    if (b->iteration == 0)
        bench_fill(b, b->send, b->words, 0, b->rank, 0);
}

static void check_accumulated(struct bench *b, const uint64_t *block, int source, int times)
{
    int step = bench_full(b, b->iteration) || b->words < 2 ? 1 : b->words - 1, right = 1;
    for (int i = 0; i < b->words; i += step)
        right &= block[i] == (uint64_t)times * (((uint64_t)source << 30) + (uint64_t)i);
    bench_expect(b, right);
}

static void check_accumulate(struct bench *b)
{
    check_accumulated(b, slot(b, b->iteration), b->before, b->iteration / 2 + 1);
}

static void check_get_accumulate(struct bench *b)
{
    check_accumulated(b, b->receive, b->rank, b->iteration / 2);
    check_accumulate(b);
}

/* Counters: the first word of the slot counts the iterations that used it. */
static void fill_counter(struct bench *b)
{
    b->send[0] = (uint64_t)b->iteration / 2;
    b->send[1] = b->send[0] + 1;
}

static void check_fetched(struct bench *b)
{
    bench_expect(b, b->receive[0] == (uint64_t)b->iteration / 2);
    bench_expect(b, *slot(b, b->iteration) == (uint64_t)b->iteration / 2 + 1);
}

static void put(struct bench *b)
{
    MPI_Put(b->send, b->words, MPI_UINT64_T, b->next, place(b), b->words, MPI_UINT64_T, b->window);
}

static void puts_window(struct bench *b)
{
    for (int i = 0; i < WINDOW; i++)
        MPI_Put(b->send + i * b->words, b->words, MPI_UINT64_T, b->next, place(b) + (MPI_Aint)i * b->words,
                b->words, MPI_UINT64_T, b->window);
}

static void rputs(struct bench *b)
{
    for (int i = 0; i < WINDOW; i++)
        MPI_Rput(b->send + i * b->words, b->words, MPI_UINT64_T, b->next, place(b) + (MPI_Aint)i * b->words,
                 b->words, MPI_UINT64_T, b->window, &b->requests[i]);
    MPI_Waitall(WINDOW, b->requests, MPI_STATUSES_IGNORE);
}

static void get(struct bench *b)
{
    MPI_Get(b->receive, b->words, MPI_UINT64_T, b->next, place(b), b->words, MPI_UINT64_T, b->window);
}

static void accumulate(struct bench *b)
{
    MPI_Accumulate(b->send, b->words, MPI_UINT64_T, b->next, place(b), b->words, MPI_UINT64_T, MPI_SUM,
                   b->window);
}

static void get_accumulate(struct bench *b)
{
    MPI_Get_accumulate(b->send, b->words, MPI_UINT64_T, b->receive, b->words, MPI_UINT64_T, b->next, place(b),
                       b->words, MPI_UINT64_T, MPI_SUM, b->window);
}

static void fetch_and_op(struct bench *b)
{
    b->send[0] = 1;
    MPI_Fetch_and_op(b->send, b->receive, MPI_UINT64_T, b->next, place(b), MPI_SUM, b->window);
}

static void compare_and_swap(struct bench *b)
{
    MPI_Compare_and_swap(b->send + 1, b->send, b->receive, MPI_UINT64_T, b->next, place(b), b->window);
}

/* An operation under each way to synchronise: NAME_fence, NAME_group (post, start, complete, wait),
 * NAME_lock. */
#define SYNCHRONISED(operation)                                                                              \
    static void operation##_fence(struct bench *b)                                                           \
    {                                                                                                        \
        MPI_Win_fence(MPI_MODE_NOPRECEDE, b->window);                                                        \
        operation(b);                                                                                        \
        MPI_Win_fence(MPI_MODE_NOSUCCEED, b->window);                                                        \
    }                                                                                                        \
    static void operation##_group(struct bench *b)                                                           \
    {                                                                                                        \
        MPI_Win_post(b->from, 0, b->window);                                                                 \
        MPI_Win_start(b->to, 0, b->window);                                                                  \
        operation(b);                                                                                        \
        MPI_Win_complete(b->window);                                                                         \
        MPI_Win_wait(b->window);                                                                             \
    }                                                                                                        \
    LOCKED(operation)

#define LOCKED(operation)                                                                                    \
    static void operation##_lock(struct bench *b)                                                            \
    {                                                                                                        \
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, b->next, 0, b->window);                                             \
        operation(b);                                                                                        \
        MPI_Win_unlock(b->next, b->window);                                                                  \
    }

SYNCHRONISED(put)
SYNCHRONISED(get)
SYNCHRONISED(accumulate)
LOCKED(get_accumulate)
LOCKED(fetch_and_op)
LOCKED(compare_and_swap)
LOCKED(puts_window)
LOCKED(rputs)

#define ONE(name, sized, fill, function, check)                                                              \
    {                                                                                                        \
        name, "one-sided", sized, 1, open_window, fill, function, check, close_window                        \
    }

const struct operation rma_operations[] = {
    ONE("put_fence", 1, fill_put, put_fence, check_put),
    ONE("put_group", 1, fill_put, put_group, check_put),
    ONE("put_lock", 1, fill_put, put_lock, check_put),
    ONE("get_fence", 1, fill_get, get_fence, check_get),
    ONE("get_group", 1, fill_get, get_group, check_get),
    ONE("get_lock", 1, fill_get, get_lock, check_get),
    ONE("acc_fence", 1, fill_accumulate, accumulate_fence, check_accumulate),
    ONE("acc_group", 1, fill_accumulate, accumulate_group, check_accumulate),
    ONE("acc_lock", 1, fill_accumulate, accumulate_lock, check_accumulate),
    ONE("get_acc_lock", 1, fill_accumulate, get_accumulate_lock, check_get_accumulate),
    ONE("fop_lock", 0, bench_nothing, fetch_and_op_lock, check_fetched),
    ONE("cas_lock", 0, fill_counter, compare_and_swap_lock, check_fetched),
    ONE("put_bw", 1, fill_puts, puts_window_lock, check_puts),
    ONE("rput_bw", 1, fill_puts, rputs_lock, check_puts),
    {.name = NULL},
};
