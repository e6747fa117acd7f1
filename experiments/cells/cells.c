/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pattern of communication in a run of its own, without computation:
 *
 *     cells PATTERN BYTES [TIMES]             after a barrier; checks the data
 *     cells PATTERN BYTES TIMES together      all ranks begin each time at one date
 *     cells list                              names of the patterns
 *
 * Prints how long the slowest rank took, in simulated time: "seconds S".
 */
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKEWS = 4, MOST_DIMENSIONS = 3 };

static int rank, ranks, bytes;
static char *out, *in;
static int *out_counts, *out_places, *in_counts, *in_places;
static MPI_Comm grid[MOST_DIMENSIONS + 1];
static MPI_Win window = MPI_WIN_NULL;

static void expect(int right)
{
    if (right)
        return;
    fprintf(stderr, "cells: rank %d: wrong data\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Block i of `in` must be rank i's, whose bytes are all its number. */
static void expect_all(int first, int count)
{
    for (int i = first; i < first + count; i++)
        expect(in[(size_t)i * (size_t)bytes] == (char)i);
}

static void bcast(void)
{
    MPI_Bcast(rank ? in : out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    expect(rank == 0 || in[bytes - 1] == 0);
}

static void reduce(void)
{
    MPI_Reduce(out, in, bytes, MPI_CHAR, MPI_BOR, 0, MPI_COMM_WORLD);
}

static void allreduce(void)
{
    MPI_Allreduce(out, in, bytes, MPI_CHAR, MPI_BXOR, MPI_COMM_WORLD);
}

static void redscat(void)
{
    MPI_Reduce_scatter_block(out, in, bytes / ranks + 1, MPI_CHAR, MPI_BXOR, MPI_COMM_WORLD);
}

static void allgather(void)
{
    MPI_Allgather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
    expect_all(0, ranks);
}

static void gather(void)
{
    MPI_Gather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    expect_all(0, rank ? 0 : ranks);
}

static void scatter(void)
{
    MPI_Scatter(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    expect(in[0] == 0);
}

static void alltoall(void)
{
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
    expect_all(0, ranks);
}

static void ialltoall(void)
{
    MPI_Request request;
    MPI_Ialltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_all(0, ranks);
}

/* A quarter, a half, three quarters or all of a block. */
static void skew(void)
{
    for (int i = 0; i < ranks; i++) {
        out_counts[i] = bytes / SKEWS * ((rank + 3 * i) % SKEWS + 1);
        in_counts[i] = bytes / SKEWS * ((i + 3 * rank) % SKEWS + 1);
        out_places[i] = in_places[i] = i * bytes;
    }
}

static void alltoallv(void)
{
    skew();
    MPI_Alltoallv(out, out_counts, out_places, MPI_CHAR, in, in_counts, in_places, MPI_CHAR, MPI_COMM_WORLD);
    expect_all(0, ranks);
}

static void ialltoallv(void)
{
    MPI_Request request;
    skew();
    MPI_Ialltoallv(out, out_counts, out_places, MPI_CHAR, in, in_counts, in_places, MPI_CHAR, MPI_COMM_WORLD,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_all(0, ranks);
}

/* To three others alone. */
static void sparse(void)
{
    skew();
    for (int i = 0; i < ranks; i++) {
        int to = (i - rank + ranks) % ranks, from = (rank - i + ranks) % ranks;
        out_counts[i] = to > 0 && to <= 3 ? bytes : 0;
        in_counts[i] = from > 0 && from <= 3 ? bytes : 0;
    }
    MPI_Alltoallv(out, out_counts, out_places, MPI_CHAR, in, in_counts, in_places, MPI_CHAR, MPI_COMM_WORLD);
    int before = (rank + ranks - 1) % ranks;
    expect_all(before, 1);
}

/* Rank i has a block of its own length for all. */
static void own_length(void)
{
    for (int i = 0; i < ranks; i++) {
        in_counts[i] = bytes / SKEWS * (i % SKEWS + 1);
        in_places[i] = i * bytes;
    }
}

static void allgatherv(void)
{
    own_length();
    MPI_Allgatherv(out, in_counts[rank], MPI_CHAR, in, in_counts, in_places, MPI_CHAR, MPI_COMM_WORLD);
    expect_all(0, ranks);
}

static void gatherv(void)
{
    own_length();
    MPI_Gatherv(out, in_counts[rank], MPI_CHAR, in, in_counts, in_places, MPI_CHAR, 0, MPI_COMM_WORLD);
    expect_all(0, rank ? 0 : ranks);
}

static void scatterv(void)
{
    own_length();
    MPI_Scatterv(out, in_counts, in_places, MPI_CHAR, in, in_counts[rank], MPI_CHAR, 0, MPI_COMM_WORLD);
    expect(in[0] == 0);
}

/* Every rank sends to `to` and receives from `from`; either may be MPI_PROC_NULL. */
static void shift(int to, int from)
{
    MPI_Sendrecv(out, bytes, MPI_CHAR, to, 0, in, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect(from == MPI_PROC_NULL || in[bytes - 1] == (char)from);
}

static void ring(void)
{
    shift((rank + 1) % ranks, (rank + ranks - 1) % ranks);
}

/* Disjoint, in both directions. */
static void pairs(void)
{
    int other = rank ^ 1;
    shift(other < ranks ? other : MPI_PROC_NULL, other < ranks ? other : MPI_PROC_NULL);
}

static void bisection(void)
{
    int half = ranks / 2, lower = rank < half, upper = !lower && rank < 2 * half;
    shift(lower ? rank + half : MPI_PROC_NULL, upper ? rank - half : MPI_PROC_NULL);
}

static void both(void)
{
    int half = ranks / 2, other = rank < half ? rank + half : rank - half;
    shift(rank < 2 * half ? other : MPI_PROC_NULL, rank < 2 * half ? other : MPI_PROC_NULL);
}

/* By a third of all ranks. */
static void stride(void)
{
    int step = ranks / 3 + 1;
    shift((rank + step) % ranks, (rank + ranks - step) % ranks);
}

static void halo(int dimensions)
{
    MPI_Neighbor_alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, grid[dimensions]);
}

static void halo2(void)
{
    halo(2);
}

static void halo3(void)
{
    halo(3);
}

static void isends(void)
{
    MPI_Request requests[12];
    int n = 0;
    for (int d = 1; d <= 3; d++) {
        MPI_Irecv(in + (size_t)d * (size_t)bytes, bytes, MPI_CHAR, (rank + ranks - d) % ranks, d,
                  MPI_COMM_WORLD, &requests[n++]);
        MPI_Isend(out, bytes, MPI_CHAR, (rank + d) % ranks, d, MPI_COMM_WORLD, &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int d = 1; d <= 3; d++)
        expect(in[(size_t)d * (size_t)bytes] == (char)((rank + ranks - d) % ranks));
}

/* So many ranks send to rank 0, which has posted its receives. */
static void incast(int senders)
{
    if (senders > ranks - 1)
        senders = ranks - 1;
    MPI_Request *requests = malloc((size_t)ranks * sizeof *requests);
    int n = 0;
    for (int i = 1; rank == 0 && i <= senders; i++)
        MPI_Irecv(in + (size_t)i * (size_t)bytes, bytes, MPI_CHAR, i, 0, MPI_COMM_WORLD, &requests[n++]);
    if (rank > 0 && rank <= senders)
        MPI_Isend(out, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &requests[n++]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    free(requests);
    expect_all(1, rank ? 0 : senders);
}

static void incast3(void)
{
    incast(3);
}

static void incast15(void)
{
    incast(15);
}

static void incast63(void)
{
    incast(63);
}

static void put_fence(void)
{
    MPI_Win_fence(0, window);
    MPI_Put(out, bytes, MPI_CHAR, (rank + 1) % ranks, 0, bytes, MPI_CHAR, window);
    MPI_Put(out, bytes, MPI_CHAR, (rank + ranks / 2) % ranks, bytes, bytes, MPI_CHAR, window);
    MPI_Win_fence(0, window);
    expect(in[0] == (char)((rank + ranks - 1) % ranks));
}

static void get_fence(void)
{
    memset(in, rank, (size_t)bytes);
    MPI_Win_fence(0, window);
    MPI_Get(out + (size_t)bytes, bytes, MPI_CHAR, (rank + ranks / 2) % ranks, 0, bytes, MPI_CHAR, window);
    MPI_Win_fence(0, window);
    expect(out[bytes] == (char)((rank + ranks / 2) % ranks));
    memset(out, rank, 2 * (size_t)bytes);
}

static void put_lock(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % ranks, 0, window);
    MPI_Put(out, bytes, MPI_CHAR, (rank + 1) % ranks, 0, bytes, MPI_CHAR, window);
    MPI_Win_unlock((rank + 1) % ranks, window);
}

static const struct {
    const char *name;
    void (*run)(void);
} patterns[] = {
    {"bcast", bcast},         {"reduce", reduce},         {"allreduce", allreduce},
    {"redscat", redscat},     {"allgather", allgather},   {"gather", gather},
    {"scatter", scatter},     {"alltoall", alltoall},     {"ialltoall", ialltoall},
    {"alltoallv", alltoallv}, {"sparse", sparse},         {"ialltoallv", ialltoallv},
    {"gatherv", gatherv},     {"allgatherv", allgatherv}, {"scatterv", scatterv},
    {"ring", ring},           {"pairs", pairs},           {"bisection", bisection},
    {"both", both},           {"stride", stride},         {"halo2", halo2},
    {"halo3", halo3},         {"isends", isends},         {"incast3", incast3},
    {"incast15", incast15},   {"incast63", incast63},     {"put_fence", put_fence},
    {"get_fence", get_fence}, {"put_lock", put_lock},
};
enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

/* Each time begins a second later, long after the one before has ended. */
static void wait_for(int time)
{
    for (double now; (now = MPI_Wtime()) < time;)
        usleep((useconds_t)((time - now) * 1e6) + 1);
}

/* What the pattern needs. */
static void make(const char *name)
{
    size_t blocks = (size_t)(ranks > 8 ? ranks : 8);
    MPI_Alloc_mem((MPI_Aint)(blocks * (size_t)bytes), MPI_INFO_NULL, &in);
    out = malloc(blocks * (size_t)bytes);
    out_counts = malloc(4 * blocks * sizeof *out_counts);
    out_places = out_counts + blocks;
    in_counts = out_places + blocks;
    in_places = in_counts + blocks;
    memset(out, rank, blocks * (size_t)bytes);
    memset(in, 0, blocks * (size_t)bytes);
    for (int dimensions = 2; strncmp(name, "halo", 4) == 0 && dimensions <= MOST_DIMENSIONS; dimensions++) {
        int dims[MOST_DIMENSIONS] = {0}, periodic[MOST_DIMENSIONS] = {1, 1, 1};
        MPI_Dims_create(ranks, dimensions, dims);
        MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periodic, 0, &grid[dimensions]);
    }
    if (strstr(name, "_"))
        MPI_Win_create(in, (MPI_Aint)(blocks * (size_t)bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
}

static int find(const char *name)
{
    int i = 0;
    while (i < PATTERNS && strcmp(patterns[i].name, name) != 0)
        i++;
    return i;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int listed = argc == 2 && strcmp(argv[1], "list") == 0, pattern = argc > 2 ? find(argv[1]) : PATTERNS;
    bytes = argc > 2 ? atoi(argv[2]) : 0;
    int times = argc > 3 ? atoi(argv[3]) : 2;
    for (int i = 0; listed && rank == 0 && i < PATTERNS; i++)
        puts(patterns[i].name);
    if (!listed && (pattern == PATTERNS || bytes < SKEWS || times < 1)) {
        fprintf(stderr, "usage: cells list | cells PATTERN BYTES [TIMES [together]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (!listed) {
        make(argv[1]);
        MPI_Barrier(MPI_COMM_WORLD);
        pf_phase(argv[1]);
        double seconds = 0, longest;
        for (int i = 0; i < times; i++) {
            if (argc > 4)
                wait_for(i + 1);
            seconds -= MPI_Wtime();
            patterns[pattern].run();
            seconds += MPI_Wtime();
        }
        MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("seconds %.9e\n", longest);
        if (window != MPI_WIN_NULL)
            MPI_Win_free(&window);
    }
    MPI_Finalize();
    return 0;
}
