/* SPDX-License-Identifier: BSD-3-Clause */
/* A wavefront goes over a square of cells that is spread by columns, from the left and then from the right,
 * block of rows after block of rows: each rank waits for the border of its neighbour, works, and passes its
 * own on. sweep N: the side of the square. Prints what the sweeps took, in seconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SWEEPS = 20, WARM = 4, ROWS = 16 };

/* One block of rows: each cell from its neighbours above and on the side that the wave comes from. `border`
 * has that side of the block, and then the other one. */
static void work(double *cells, int columns, int first, int step, double *border)
{
    for (int y = 0; y < ROWS; y++) {
        double *row = cells + (size_t)(first + y) * columns, before = border[y];
        const double *above = first + y ? row - columns : row;
        for (int i = 0, x = step > 0 ? 0 : columns - 1; i < columns; i++, x += step)
            before = row[x] = 0.3 * before + 0.3 * above[x] + 0.4 * row[x];
        border[y] = before;
    }
}

int main(int argc, char **argv)
{
    int rank, ranks, side = argc > 1 ? atoi(argv[1]) : 256;
    double begin = 0, border[ROWS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int columns = side / ranks;
    double *cells = malloc((size_t)side * columns * sizeof *cells);
    if (!cells)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < side * columns; i++)
        cells[i] = rank + i % 7;
    for (int sweep = -WARM; sweep < SWEEPS; sweep++) {
        int step = sweep % 2 ? -1 : 1, from = rank - step, to = rank + step;
        if (sweep == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            begin = MPI_Wtime();
        }
        for (int first = 0; first < side; first += ROWS) {
            for (int y = 0; y < ROWS; y++)
                border[y] = 1;
            if (from >= 0 && from < ranks)
                MPI_Recv(border, ROWS, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(cells, columns, first, step, border);
            if (to >= 0 && to < ranks)
                MPI_Send(border, ROWS, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
        }
    }
    double took = MPI_Wtime() - begin, longest;
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.9f (corner %g)\n", longest, cells[side * columns - 1]);
    free(cells);
    return MPI_Finalize();
}
