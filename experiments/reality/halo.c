/* SPDX-License-Identifier: BSD-3-Clause */
/* Relaxation on a strip of a square of cells: computation, borders with the neighbours, a reduction now and
 * then. halo N: the side of the square. Prints what the steps took, in seconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 200, BETWEEN_SUMS = 20 };

static double relax(const double *from, double *to, int rows, int side)
{
    double change = 0;
    for (int y = 1; y <= rows; y++) {
        const double *here = from + (size_t)y * side;
        double *there = to + (size_t)y * side;
        for (int x = 1; x < side - 1; x++) {
            there[x] = 0.25 * (here[x - 1] + here[x + 1] + here[x - side] + here[x + side]);
            double step = there[x] - here[x];
            change += step * step;
        }
    }
    return change;
}

static void borders(double *cells, int rows, int side, int up, int down)
{
    MPI_Request requests[4];
    MPI_Irecv(cells, side, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(cells + (size_t)(rows + 1) * side, side, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(cells + side, side, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(cells + (size_t)rows * side, side, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, ranks, side = argc > 1 ? atoi(argv[1]) : 256;
    double change = 0, all = 0, begin = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int rows = side / ranks;
    int up = rank ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    double *now = calloc((size_t)(rows + 2) * side, sizeof *now),
           *next = calloc((size_t)(rows + 2) * side, sizeof *next);
    if (!now || !next)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int x = 0; x < side && rank == 0; x++)
        now[x] = next[x] = 1;
    for (int step = -BETWEEN_SUMS; step < STEPS; step++) { /* the first ones warm up */
        if (step == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            begin = MPI_Wtime();
        }
        borders(now, rows, side, up, down);
        change = relax(now, next, rows, side);
        double *old = now;
        now = next;
        next = old;
        if (step % BETWEEN_SUMS == 0)
            MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    double took = MPI_Wtime() - begin, longest;
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.9f (change %g)\n", longest, all);
    free(now);
    free(next);
    return MPI_Finalize();
}
