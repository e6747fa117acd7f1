/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives, each blocking and nonblocking with the same data and the same checks. The root is rank 0.
 * What ends in v or w, and reduce_scatter, has half and full blocks in turn.
 */
#include "micro.h"

static void fill_one(struct bench *b)
{
    bench_fill(b, b->send, b->words, b->iteration, b->rank, 0);
}

static void fill_one_v(struct bench *b)
{
    bench_fill(b, b->send, b->counts[b->rank], b->iteration, b->rank, 0);
}

static void fill_each(struct bench *b)
{
    for (int r = 0; r < b->ranks; r++)
        bench_fill(b, b->send + b->places[r], b->words, b->iteration, b->rank, r);
}

static void fill_each_v(struct bench *b)
{
    for (int r = 0; r < b->ranks; r++)
        bench_fill(b, b->send + b->places[r], b->counts[r], b->iteration, b->rank, r);
}

/* MPI_Reduce_scatter takes its blocks without gaps. */
static void fill_packed(struct bench *b)
{
    for (int r = 0, place = 0; r < b->ranks; place += b->counts[r++])
        bench_fill(b, b->send + place, b->counts[r], b->iteration, b->rank, r);
}

static void fill_root(struct bench *b)
{
    if (b->rank == 0)
        bench_fill(b, b->receive, b->words, b->iteration, 0, 0);
}

static void fill_date(struct bench *b)
{
    b->entered = MPI_Wtime();
}

static void fill_neighbours(struct bench *b)
{
    bench_fill(b, b->send, b->words, b->iteration, b->rank, b->before);
    bench_fill(b, b->send + b->words, b->words, b->iteration, b->rank, b->next);
}

static void check_from_each(struct bench *b)
{
    for (int r = 0; r < b->ranks; r++)
        bench_check(b, b->receive + b->places[r], b->words, b->iteration, r, 1, 0);
}

static void check_from_each_v(struct bench *b)
{
    for (int r = 0; r < b->ranks; r++)
        bench_check(b, b->receive + b->places[r], b->counts[r], b->iteration, r, 1, 0);
}

static void check_gather(struct bench *b)
{
    if (b->rank == 0)
        check_from_each(b);
}

static void check_gatherv(struct bench *b)
{
    if (b->rank == 0)
        check_from_each_v(b);
}

static void check_for_me(struct bench *b)
{
    for (int r = 0; r < b->ranks; r++)
        bench_check(b, b->receive + b->places[r], b->words, b->iteration, r, 1, b->rank);
}

static void check_for_me_v(struct bench *b)
{
    for (int r = 0; r < b->ranks; r++)
        bench_check(b, b->receive + b->places[r], b->counts[b->rank], b->iteration, r, 1, b->rank);
}

static void check_bcast(struct bench *b)
{
    bench_check(b, b->receive, b->words, b->iteration, 0, 1, 0);
}

static void check_scatter(struct bench *b)
{
    bench_check(b, b->receive, b->words, b->iteration, 0, 1, b->rank);
}

static void check_scatterv(struct bench *b)
{
    bench_check(b, b->receive, b->counts[b->rank], b->iteration, 0, 1, b->rank);
}

static void check_sum(struct bench *b)
{
    bench_check(b, b->receive, b->words, b->iteration, 0, b->ranks, 0);
}

static void check_reduce(struct bench *b)
{
    if (b->rank == 0)
        check_sum(b);
}

static void check_scan(struct bench *b)
{
    bench_check(b, b->receive, b->words, b->iteration, 0, b->rank + 1, 0);
}

static void check_exscan(struct bench *b)
{
    if (b->rank > 0)
        bench_check(b, b->receive, b->words, b->iteration, 0, b->rank, 0);
}

static void check_sum_for_me(struct bench *b)
{
    bench_check(b, b->receive, b->words, b->iteration, 0, b->ranks, b->rank);
}

static void check_sum_for_me_v(struct bench *b)
{
    bench_check(b, b->receive, b->counts[b->rank], b->iteration, 0, b->ranks, b->rank);
}

/* A rank that has waited in a barrier leaves it after the last rank has entered it. */
static void check_entered(struct bench *b, int waited)
{
    double last;
    int *one_clock, found;
    if (!bench_full(b, b->iteration))
        return;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &one_clock, &found);
    MPI_Allreduce(&b->entered, &last, 1, MPI_DOUBLE, MPI_MAX, b->comm);
    if (waited)
        bench_expect(b, b->left >= last || !found || !*one_clock);
}

static void check_barrier(struct bench *b)
{
    check_entered(b, 1);
}

/* In SMPI only the root of a nonblocking barrier waits for the others. */
static void check_ibarrier(struct bench *b)
{
    check_entered(b, b->rank == 0);
}

static void check_neighbours(struct bench *b, int to_before, int to_next)
{
    bench_check(b, b->receive, b->words, b->iteration, b->before, 1, to_before);
    bench_check(b, b->receive + b->words, b->words, b->iteration, b->next, 1, to_next);
}

static void check_neighbor_allgather(struct bench *b)
{
    check_neighbours(b, 0, 0);
}

static void check_neighbor_alltoall(struct bench *b)
{
    check_neighbours(b, b->rank, b->rank);
}

static void open_ring(struct bench *b)
{
    int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &b->ranks, &periodic, 0, &b->comm);
}

static void close_ring(struct bench *b)
{
    MPI_Comm_free(&b->comm);
}

/* The blocking call, and the nonblocking one with a wait. */
#define BOTH(name, Name, ...)                                                                                \
    static void name(struct bench *b)                                                                        \
    {                                                                                                        \
        MPI_##Name(__VA_ARGS__);                                                                             \
    }                                                                                                        \
    static void i##name(struct bench *b)                                                                     \
    {                                                                                                        \
        MPI_I##name(__VA_ARGS__, b->requests);                                                               \
        MPI_Wait(b->requests, MPI_STATUS_IGNORE);                                                            \
    }
#define OUT  b->send, b->words, MPI_UINT64_T
#define IN   b->receive, b->words, MPI_UINT64_T
#define MINE b->counts[b->rank]

BOTH(bcast, Bcast, IN, 0, b->comm)
BOTH(gather, Gather, OUT, IN, 0, b->comm)
BOTH(scatter, Scatter, OUT, IN, 0, b->comm)
BOTH(allgather, Allgather, OUT, IN, b->comm)
BOTH(alltoall, Alltoall, OUT, IN, b->comm)
BOTH(reduce, Reduce, b->send, IN, MPI_SUM, 0, b->comm)
BOTH(allreduce, Allreduce, b->send, IN, MPI_SUM, b->comm)
BOTH(scan, Scan, b->send, IN, MPI_SUM, b->comm)
BOTH(exscan, Exscan, b->send, IN, MPI_SUM, b->comm)
BOTH(reduce_scatter_block, Reduce_scatter_block, b->send, IN, MPI_SUM, b->comm)
BOTH(reduce_scatter, Reduce_scatter, b->send, b->receive, b->counts, MPI_UINT64_T, MPI_SUM, b->comm)
BOTH(gatherv, Gatherv, b->send, MINE, MPI_UINT64_T, b->receive, b->counts, b->places, MPI_UINT64_T, 0,
     b->comm)
BOTH(scatterv, Scatterv, b->send, b->counts, b->places, MPI_UINT64_T, b->receive, MINE, MPI_UINT64_T, 0,
     b->comm)
BOTH(allgatherv, Allgatherv, b->send, MINE, MPI_UINT64_T, b->receive, b->counts, b->places, MPI_UINT64_T,
     b->comm)
BOTH(alltoallv, Alltoallv, b->send, b->counts, b->places, MPI_UINT64_T, b->receive, b->mine, b->places,
     MPI_UINT64_T, b->comm)
BOTH(alltoallw, Alltoallw, b->send, b->counts, b->offsets, b->types, b->receive, b->mine, b->offsets,
     b->types, b->comm)
BOTH(neighbor_allgather, Neighbor_allgather, OUT, IN, b->comm)
BOTH(neighbor_alltoall, Neighbor_alltoall, OUT, IN, b->comm)

static void barrier(struct bench *b)
{
    MPI_Barrier(b->comm);
    b->left = MPI_Wtime();
}

static void ibarrier(struct bench *b)
{
    MPI_Ibarrier(b->comm, b->requests);
    MPI_Wait(b->requests, MPI_STATUS_IGNORE);
    b->left = MPI_Wtime();
}

#define PAIR(name, open, fill, check, close)                                                                 \
    {#name, "collective", 1, 1, open, fill, name, check, close},                                             \
    {                                                                                                        \
        "i" #name, "nonblocking", 1, 1, open, fill, i##name, check, close                                    \
    }
#define COLLECTIVE(name, fill, check) PAIR(name, bench_nothing, fill, check, bench_nothing)

const struct operation coll_operations[] = {
    {"barrier", "collective", 0, 1, bench_nothing, fill_date, barrier, check_barrier, bench_nothing},
    {"ibarrier", "nonblocking", 0, 1, bench_nothing, fill_date, ibarrier, check_ibarrier, bench_nothing},
    COLLECTIVE(bcast, fill_root, check_bcast),
    COLLECTIVE(gather, fill_one, check_gather),
    COLLECTIVE(scatter, fill_each, check_scatter),
    COLLECTIVE(allgather, fill_one, check_from_each),
    COLLECTIVE(alltoall, fill_each, check_for_me),
    COLLECTIVE(reduce, fill_one, check_reduce),
    COLLECTIVE(allreduce, fill_one, check_sum),
    COLLECTIVE(scan, fill_one, check_scan),
    COLLECTIVE(exscan, fill_one, check_exscan),
    COLLECTIVE(reduce_scatter_block, fill_each, check_sum_for_me),
    COLLECTIVE(reduce_scatter, fill_packed, check_sum_for_me_v),
    COLLECTIVE(gatherv, fill_one_v, check_gatherv),
    COLLECTIVE(scatterv, fill_each_v, check_scatterv),
    COLLECTIVE(allgatherv, fill_one_v, check_from_each_v),
    COLLECTIVE(alltoallv, fill_each_v, check_for_me_v),
    COLLECTIVE(alltoallw, fill_each_v, check_for_me_v),
    PAIR(neighbor_allgather, open_ring, fill_one, check_neighbor_allgather, close_ring),
    PAIR(neighbor_alltoall, open_ring, fill_neighbours, check_neighbor_alltoall, close_ring),
    {.name = NULL},
};
