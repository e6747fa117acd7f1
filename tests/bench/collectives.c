/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives in several sizes, each followed by a barrier as in the OSU benchmarks; "stream" leaves the
 * barriers out. A size is the whole vector of a rank for bcast and reductions, and a block for the others.
 * Usage: collectives [iterations of the smallest size] [largest size] [osu|stream] [names, between commas]
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static char *in, *out;
static int ranks, *counts, stream;

static void barrier(int n)
{
    (void)n;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(int n)
{
    MPI_Bcast(in, n, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void reduce(int n)
{
    MPI_Reduce(in, out, n / 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void allreduce(int n)
{
    MPI_Allreduce(in, out, n / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void gather(int n)
{
    MPI_Gather(in, n, MPI_CHAR, out, n, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void scatter(int n)
{
    MPI_Scatter(in, n, MPI_CHAR, out, n, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void allgather(int n)
{
    MPI_Allgather(in, n, MPI_CHAR, out, n, MPI_CHAR, MPI_COMM_WORLD);
}

static void alltoall(int n)
{
    MPI_Alltoall(in, n, MPI_CHAR, out, n, MPI_CHAR, MPI_COMM_WORLD);
}

static void reduce_scatter(int n)
{
    for (int i = 0; i < ranks; i++) /* the vector, split evenly */
        counts[i] = n / 4 / ranks + (i < n / 4 % ranks);
    MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void scan(int n)
{
    MPI_Scan(in, out, n / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*run)(int n);
} collectives[] = {
    {"barrier", barrier},     {"bcast", bcast},       {"reduce", reduce},
    {"allreduce", allreduce}, {"gather", gather},     {"scatter", scatter},
    {"allgather", allgather}, {"alltoall", alltoall}, {"reduce_scatter", reduce_scatter},
    {"scan", scan},
};

/* Whether the list names it; no list names all. */
static int named(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : "") {
        if (!strncmp(list, name, length) && (list[length] == ',' || !list[length]))
            return 1;
        if (!*list)
            return 0;
    }
    return 1;
}

static void measure(const char *name, void (*run)(int n), int bytes, int iterations, int rank)
{
    char label[64];
    run(bytes); /* touches the memory, and makes what is made at first use */
    MPI_Barrier(MPI_COMM_WORLD);
    double simulated = MPI_Wtime(), begin = bench_clock();
    for (int i = 0; i < iterations; i++) {
        run(bytes);
        if (!stream)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0)
        return;
    snprintf(label, sizeof label, bytes ? "%s %d B" : "%s", name, bytes);
    bench_report(label, bench_clock() - begin, iterations);
    printf("SIMULATED %s %.9f\n", label, MPI_Wtime() - simulated);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 1024, 65536, 1048576};
    int iterations = argc > 1 ? atoi(argv[1]) : 200, largest = argc > 2 ? atoi(argv[2]) : 1048576, rank;
    stream = argc > 3 && !strcmp(argv[3], "stream");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    in = calloc((size_t)ranks, (size_t)largest);
    out = calloc((size_t)ranks, (size_t)largest);
    counts = calloc((size_t)ranks, sizeof *counts);
    for (size_t c = 0; c < sizeof collectives / sizeof collectives[0]; c++) {
        int sized = collectives[c].run != barrier;
        if (!named(argc > 4 ? argv[4] : NULL, collectives[c].name))
            continue;
        for (int s = 0; s < (sized ? 4 : 1); s++)
            if (sizes[s] <= largest)
                measure(collectives[c].name, collectives[c].run, sized ? sizes[s] : 0,
                        iterations / (1 << 2 * s) + 1, rank);
    }
    MPI_Finalize();
    free(in);
    free(out);
    free(counts);
    return 0;
}
