/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A forecast that does not scale, for three reasons: docs/tutorial.md finds them, so do not read on. What
 * ranks compute is a sleep, of known length in simulated time.
 *
 * usage: forecast [even] [together]   without the first reason, or without the second one
 */
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 4, CELLS = 1 << 24 };

static int rank, size;

static void compute(double milliseconds)
{
    usleep((unsigned)(1000 * milliseconds));
}

/* There is a storm above one rank. All agree on the length of the step. */
static void physics(int even)
{
    float mine = 1, least;
    compute((!even && rank == size / 3 ? 3.0 : 1.0) * 16 / size);
    MPI_Allreduce(&mine, &least, 1, MPI_FLOAT, MPI_MIN, MPI_COMM_WORLD);
}

/* Columns become rows: half of it between the halves of the machine. */
static void transpose(int *field, int *other)
{
    int cells = CELLS / size / size;
    MPI_Alltoall(field, cells, MPI_INT, other, cells, MPI_INT, MPI_COMM_WORLD);
}

/* The first rank formats what each has, or each its own. */
static void output(int *field, int together)
{
    for (int i = 1; !together && rank == 0 && i < size; i++) {
        MPI_Recv(field, 1000, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compute(0.2);
    }
    if (!together && rank > 0)
        MPI_Send(field, 1000, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (together)
        compute(0.2);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int given(int argc, char **argv, const char *word)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int cells = CELLS / size, wrong = 0;
    int *field = malloc((size_t)cells * sizeof *field), *other = malloc((size_t)cells * sizeof *other);
    double begin = MPI_Wtime();
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < cells; i++)
            field[i] = rank + step;
        pf_phase("physics");
        physics(given(argc, argv, "even"));
        pf_phase("transpose");
        transpose(field, other);
        for (int i = 0; i < cells; i++)
            wrong += other[i] != i / (cells / size) + step;
        pf_phase("output");
        output(field, given(argc, argv, "together"));
    }
    if (rank == 0)
        printf("forecast: %d ranks, %.2f ms for each step\n", size, 1e3 * (MPI_Wtime() - begin) / STEPS);
    free(field);
    free(other);
    MPI_Finalize();
    return wrong != 0;
}
