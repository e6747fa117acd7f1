/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts numbers that are spread over the ranks, as the integer sort of the NAS benchmarks does: each rank
 * counts and packs its keys by the rank that is to have them, all exchange them, and each one counts what it
 * has got. sort N: keys per rank. Prints what it took, in seconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 20, WARM = 4, RANGE = 1 << 12, MOST_RANKS = 64 };

static int owner(int key, int ranks)
{
    return (int)((long)key * ranks / RANGE);
}

static void pack(const int *keys, int n, int ranks, int *out, int *counts, int *places)
{
    int next[MOST_RANKS];
    memset(counts, 0, (size_t)ranks * sizeof *counts);
    for (int i = 0; i < n; i++)
        counts[owner(keys[i], ranks)]++;
    for (int r = 0; r < ranks; r++)
        next[r] = places[r] = r ? places[r - 1] + counts[r - 1] : 0;
    for (int i = 0; i < n; i++)
        out[next[owner(keys[i], ranks)]++] = keys[i];
}

int main(int argc, char **argv)
{
    int rank, ranks, n = argc > 1 ? atoi(argv[1]) : 4096, total = 0;
    int counts[MOST_RANKS], places[MOST_RANKS], in_counts[MOST_RANKS], in_places[MOST_RANKS];
    static int histogram[RANGE];
    double begin = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int *keys = malloc((size_t)n * sizeof *keys), *out = malloc((size_t)n * sizeof *out),
        *in = malloc((size_t)n * ranks * sizeof *in);
    if (!keys || !out || !in || ranks > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    unsigned state = 12345u + (unsigned)rank;
    for (int i = 0; i < n; i++)
        keys[i] = (int)((state = state * 1664525u + 1013904223u) >> 20);
    for (int time = -WARM; time < TIMES; time++) {
        if (time == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            begin = MPI_Wtime();
        }
        keys[(time + WARM) % n] = (time + WARM) % RANGE;
        pack(keys, n, ranks, out, counts, places);
        MPI_Alltoall(counts, 1, MPI_INT, in_counts, 1, MPI_INT, MPI_COMM_WORLD);
        total = 0;
        for (int r = 0; r < ranks; r++) {
            in_places[r] = total;
            total += in_counts[r];
        }
        MPI_Alltoallv(out, counts, places, MPI_INT, in, in_counts, in_places, MPI_INT, MPI_COMM_WORLD);
        memset(histogram, 0, sizeof histogram);
        for (int i = 0; i < total; i++)
            histogram[in[i]]++;
    }
    double took = MPI_Wtime() - begin, longest;
    int all, low = 0, lowest;
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&total, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    while (low < RANGE && histogram[low] == 0)
        low++;
    int mine = low < RANGE && owner(low, ranks) == rank;
    MPI_Reduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.9f (%s)\n", longest, all == n * ranks && lowest ? "sorted" : "WRONG");
    free(keys);
    free(out);
    free(in);
    return MPI_Finalize();
}
