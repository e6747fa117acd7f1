/* SPDX-License-Identifier: BSD-3-Clause */
/* Times a collective as the measurements do: a barrier, the call, and the longest time of all ranks. Nothing
 * else comes between two rounds: the dates at which ranks leave the barrier depend on which one entered it
 * last. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef EVERY_RANK /* in a simulation, which hardly varies */
enum { WARM = 3, ROUNDS = 1 };
#else
enum { WARM = 2, ROUNDS = 200 };
#endif

static int ranks, me;

static void *zeros(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory) {
        fputs("out of memory\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

/* The same part to or from each rank, for the calls that name all parts. */
static int *counts, *places;

static void lay_out(int part)
{
    if (!counts) {
        counts = zeros((size_t)ranks * sizeof *counts);
        places = zeros((size_t)ranks * sizeof *places);
    }
    for (int i = 0; i < ranks; i++) {
        counts[i] = part;
        places[i] = i * part;
    }
}

/* Of ints, which are combined. */
static int call_reduction(const char *name, const char *from, char *to, int count)
{
    if (strcmp(name, "allreduce") == 0)
        return MPI_Allreduce(from, to, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(name, "reduce") == 0)
        return MPI_Reduce(from, to, count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (strcmp(name, "reduce_scatter") == 0)
        return MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(name, "reduce_scatter_block") == 0)
        return MPI_Reduce_scatter_block(from, to, count / ranks, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(name, "scan") == 0)
        return MPI_Scan(from, to, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(name, "exscan") == 0)
        return MPI_Exscan(from, to, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return -1;
}

/* `part`: bytes to or from each rank. */
static int call_move(const char *name, char *from, char *to, int bytes, int part)
{
    if (strcmp(name, "bcast") == 0)
        return MPI_Bcast(from, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (strcmp(name, "alltoall") == 0)
        return MPI_Alltoall(from, part, MPI_BYTE, to, part, MPI_BYTE, MPI_COMM_WORLD);
    if (strcmp(name, "alltoallv") == 0)
        return MPI_Alltoallv(from, counts, places, MPI_BYTE, to, counts, places, MPI_BYTE, MPI_COMM_WORLD);
    if (strcmp(name, "allgather") == 0)
        return MPI_Allgather(from, part, MPI_BYTE, to, part, MPI_BYTE, MPI_COMM_WORLD);
    if (strcmp(name, "allgatherv") == 0)
        return MPI_Allgatherv(from, part, MPI_BYTE, to, counts, places, MPI_BYTE, MPI_COMM_WORLD);
    if (strcmp(name, "gather") == 0)
        return MPI_Gather(from, part, MPI_BYTE, to, part, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (strcmp(name, "gatherv") == 0)
        return MPI_Gatherv(from, part, MPI_BYTE, to, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (strcmp(name, "scatter") == 0)
        return MPI_Scatter(from, part, MPI_BYTE, to, part, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (strcmp(name, "scatterv") == 0)
        return MPI_Scatterv(from, counts, places, MPI_BYTE, to, part, MPI_BYTE, 0, MPI_COMM_WORLD);
    return MPI_Barrier(MPI_COMM_WORLD);
}

static void call(const char *name, char *from, char *to, int bytes)
{
    int part = bytes / ranks, count = bytes / (int)sizeof(int);
    if (call_reduction(name, from, to, count) < 0)
        call_move(name, from, to, bytes, part);
}

/* Half of a ping-pong's time, which needs no barrier. */
static void pingpong(char *data, int bytes)
{
    if (me == 0) {
        MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (me == 1) {
        MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

#ifdef EVERY_RANK /* no data need move for that */
static void print_cell(const char *bytes, const double *took)
{
    printf("took %s %.9g\n", bytes, took[WARM] * 1e6);
}
#else
static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_cell(const char *bytes, const double *took)
{
    double longest[WARM + ROUNDS];
    MPI_Reduce(took, longest, WARM + ROUNDS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    qsort(longest + WARM, ROUNDS, sizeof *longest, compare);
    if (me == 0)
        printf("cell %s %.9g\n", bytes, longest[WARM + ROUNDS / 2] * 1e6);
}
#endif

/* A rank that comes late to a barrier leaves it first and then waits for the others, and what they wait for
 * in the next call comes late to the barrier after it: between calls that each rank leaves when all have
 * come, lateness lasts. On machines noise brings it, so that their medians have it; here it is brought once.
 */
static void be_late(void)
{
#ifdef EVERY_RANK
    struct timespec time = {.tv_nsec = 1000000};
    if (me == ranks - 1)
        nanosleep(&time, NULL);
#endif
}

static void measure(const char *name, const char *size)
{
    long bytes = atol(size);
    char *from = zeros((size_t)bytes + 4), *to = zeros((size_t)bytes + 4);
    double took[WARM + ROUNDS];
    int pairs = strcmp(name, "pingpong") == 0, ints = strstr(name, "reduce_scatter") == name;
    lay_out(ints ? (int)(bytes / (int)sizeof(int)) / ranks : (int)bytes / ranks);
    if (!pairs)
        be_late();
    for (int i = 0; i < WARM + ROUNDS; i++) {
        if (!pairs)
            MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        if (pairs)
            pingpong(from, (int)bytes);
        else
            call(name, from, to, (int)bytes);
        took[i] = (MPI_Wtime() - start) / (pairs ? 2 : 1);
    }
    print_cell(size, took);
    free(from);
    free(to);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 2; i < argc; i++)
        measure(argv[1], argv[i]);
    MPI_Finalize();
    return 0;
}
