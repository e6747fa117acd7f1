/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What depends on the order of messages on NICs and links, each twice and without computation: prints name
 * and seconds of the slowest rank. `order NAME BYTES`.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AFTER = 3, PARTS = 4 };

static int rank, ranks, bytes;
static char *out, *in;
static MPI_Comm row, column;
static MPI_Win window;

/* Data leave before a barrier, whose messages stay behind them, and before their receives. */
static void behind_data(void)
{
    MPI_Request requests[2 * AFTER];
    for (int d = 0; d < AFTER; d++)
        MPI_Isend(out, bytes, MPI_CHAR, (rank + d + 1) % ranks, d, MPI_COMM_WORLD, &requests[d]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int d = 0; d < AFTER; d++)
        MPI_Irecv(in + d * bytes, bytes, MPI_CHAR, (rank + ranks - d - 1) % ranks, d, MPI_COMM_WORLD,
                  &requests[AFTER + d]);
    MPI_Waitall(2 * AFTER, requests, MPI_STATUSES_IGNORE);
}

/* Of four ranks the first asks the others one after the other, whose data have all come meanwhile. */
static void reduce(void)
{
    MPI_Reduce(out, in, bytes / 4, MPI_INT, MPI_SUM, 0, row);
}

static void columns(void)
{
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, column);
}

static void exchange(int shifts)
{
    MPI_Request requests[3];
    int n = 0;
    MPI_Ialltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD, &requests[n++]);
    if (shifts) {
        char *extra = in + (size_t)ranks * (size_t)bytes;
        MPI_Irecv(extra, 8 * bytes, MPI_CHAR, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &requests[n++]);
        MPI_Isend(out, 8 * bytes, MPI_CHAR, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void alone(void)
{
    exchange(0);
}

static void with_shift(void)
{
    exchange(1);
}

/* Short and long blocks in one call. */
static void mixed(void)
{
    int *counts = malloc(2 * (size_t)ranks * sizeof *counts), *places = counts + ranks;
    MPI_Datatype *types = malloc((size_t)ranks * sizeof *types);
    for (int r = 0; r < ranks; r++) {
        counts[r] = (rank + r) % 3 ? bytes / 4 : bytes;
        places[r] = r * bytes;
        types[r] = MPI_CHAR;
    }
    MPI_Alltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD);
    free(types);
    free(counts);
}

/* The root waits for the first rank's data, which share its NIC with all others'. */
static void gatherv(void)
{
    int *counts = malloc(2 * (size_t)ranks * sizeof *counts), *places = counts + ranks;
    for (int r = 0; r < ranks; r++) {
        counts[r] = bytes / PARTS * (r % PARTS + 1);
        places[r] = r * bytes;
    }
    MPI_Gatherv(out, counts[rank], MPI_CHAR, in, counts, places, MPI_CHAR, 0, MPI_COMM_WORLD);
    free(counts);
}

/* Answers and what acknowledges the fence's messages keep their order. */
static void gets(void)
{
    MPI_Win_fence(0, window);
    MPI_Get(out, bytes, MPI_CHAR, (rank + ranks / 2) % ranks, 0, bytes, MPI_CHAR, window);
    MPI_Win_fence(0, window);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"behind", behind_data}, {"reduce", reduce},      {"columns", columns},
             {"alone", alone},        {"shifted", with_shift}, {"gatherv", gatherv},
             {"mixed", mixed},        {"gets", gets},          {"barrier", barrier}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bytes = argc > 2 ? atoi(argv[2]) : 0;
    size_t all = (size_t)(ranks + 9) * (size_t)bytes;
    out = calloc(all + 1, 1);
    in = calloc(all + 1, 1);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 4, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 4, rank, &column);
    MPI_Win_create(in, (MPI_Aint)all, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Barrier(MPI_COMM_WORLD);
    double begun = MPI_Wtime(), least, longest;
    for (size_t i = 0; argc > 2 && i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            cases[i].run();
        }
    double seconds = strcmp(argv[1], "barrier") == 0 ? MPI_Wtime() : MPI_Wtime() - begun;
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &least, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) /* barriers: from the first rank that leaves to the last */
        printf("%s %.9e\n", argv[1], strcmp(argv[1], "barrier") == 0 ? longest - least : longest);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
