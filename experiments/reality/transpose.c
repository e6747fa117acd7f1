/* SPDX-License-Identifier: BSD-3-Clause */
/* Transposes a square matrix that is spread by rows, again and again: blocks are packed, exchanged among all,
 * and put in their place. transpose N: the side. Prints what it took, in seconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 40 };

int main(int argc, char **argv)
{
    int rank, ranks, side = argc > 1 ? atoi(argv[1]) : 256;
    double begin = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int rows = side / ranks, block = rows * rows;
    size_t cells = (size_t)rows * (size_t)side;
    double *matrix = malloc(cells * sizeof *matrix), *out = malloc(cells * sizeof *out),
           *in = malloc(cells * sizeof *in);
    if (!matrix || !out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < cells; i++)
        matrix[i] = rank * (double)cells + (double)i;
    for (int time = -4; time < TIMES; time++) { /* the first ones warm up */
        if (time == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            begin = MPI_Wtime();
        }
        for (int to = 0; to < ranks; to++)
            for (int y = 0; y < rows; y++)
                for (int x = 0; x < rows; x++)
                    out[to * block + x * rows + y] = matrix[(size_t)y * side + to * rows + x];
        MPI_Alltoall(out, block, MPI_DOUBLE, in, block, MPI_DOUBLE, MPI_COMM_WORLD);
        for (int from = 0; from < ranks; from++)
            for (int y = 0; y < rows; y++)
                for (int x = 0; x < rows; x++)
                    matrix[(size_t)y * side + from * rows + x] = in[from * block + y * rows + x];
    }
    double took = MPI_Wtime() - begin, longest;
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.9f (corner %g)\n", longest, matrix[cells - 1]);
    free(matrix);
    free(out);
    free(in);
    return MPI_Finalize();
}
