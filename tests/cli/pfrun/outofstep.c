/* SPDX-License-Identifier: BSD-3-Clause */
/* All-to-alls whose ranks come at different times, in place, and with one partner each. Prints for each the
 * mean time of a call over the ranks, in us. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LARGE = 32768, MOST = 32 };

static int rank, ranks, counts[MOST], places[MOST];
static char *in, *out;

static int partner[2][MOST]; /* what goes to the next rank, and comes from the one before */

static void layout(int bytes)
{
    for (int i = 0; i < ranks; i++) {
        counts[i] = bytes;
        places[i] = i * LARGE;
        partner[0][i] = i == (rank + 1) % ranks ? bytes : 0;
        partner[1][i] = (i + 1) % ranks == rank ? bytes : 0;
    }
}

static void call(int which)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm all = MPI_COMM_WORLD;
    switch (which) {
    case 0:
        MPI_Alltoall(out, LARGE, MPI_CHAR, in, LARGE, MPI_CHAR, all);
        break;
    case 1:
        MPI_Alltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, all);
        break;
    case 2:
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_CHAR, in, counts[0], MPI_CHAR, all);
        break;
    case 3:
        MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_CHAR, in, counts, places, MPI_CHAR, all);
        break;
    case 4:
        MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_CHAR, in, counts[0], MPI_CHAR, all, &request);
        break;
    case 6:
        MPI_Alltoallv(out, partner[0], places, MPI_CHAR, in, partner[1], places, MPI_CHAR, all);
        break;
    default:
        MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_CHAR, in, counts, places, MPI_CHAR, all, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void measure(int which, int bytes, int step_ns)
{
    struct timespec late = {0, rank * 5 % ranks * step_ns};
    double mean;
    layout(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    nanosleep(&late, NULL);
    double time = MPI_Wtime();
    call(which);
    time = MPI_Wtime() - time;
    MPI_Reduce(&time, &mean, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d %d %d %.3f\n", which, bytes, step_ns, 1e6 * mean / ranks);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    in = calloc((size_t)ranks, LARGE);
    out = calloc((size_t)ranks, LARGE);
    if (!in || !out)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int which = 0; which < 2; which++)
        for (int step_ns = 0; step_ns <= 900; step_ns += 300)
            measure(which, LARGE, step_ns);
    for (int which = 2; which < 6; which++)
        for (int bytes = 8; bytes <= 1024; bytes *= 128)
            measure(which, bytes, 0);
    for (int bytes = 512; bytes <= LARGE; bytes *= 8)
        measure(6, bytes, 0);
    free(in);
    free(out);
    return MPI_Finalize();
}
