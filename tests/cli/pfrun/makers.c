/* SPDX-License-Identifier: BSD-3-Clause */
/* How long each rank is in the calls that make communicators and windows, when all come at one date. Prints a
 * line per call and rank, of rank 0. An even number of ranks up to 64. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static int rank, ranks, calls;

/* To the next whole millisecond, of which the next call of the list is the number. */
static double meet(void)
{
    double ahead = (calls + 1) * 1e-3 - MPI_Wtime();
    struct timespec rest = {0, (long)(ahead * 1e9)};
    nanosleep(&rest, NULL);
    return MPI_Wtime();
}

static void print(const char *call, double begun)
{
    double mine = MPI_Wtime() - begun, all[64];
    MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; i++)
        printf("%s %d %.9g\n", call, i, all[i]);
    calls++;
}

#define TIME(name, call)                                                                                     \
    do {                                                                                                     \
        double begun = meet();                                                                               \
        call;                                                                                                \
        print(name, begun);                                                                                  \
    } while (0)

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int dims[2] = {2, ranks / 2}, periods[2] = {1, 1}, keep[2] = {0, 1}, range[1][3] = {{0, ranks / 2, 1}};
    int before = (rank + ranks - 1) % ranks, next = (rank + 1) % ranks;
    MPI_Comm all, odd, some, half, grid, row, around;
    MPI_Group world, first, second;
    MPI_Win window, grows;
    static char memory[64];
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &first);
    MPI_Group_difference(world, first, &second);
    TIME("dup", MPI_Comm_dup(MPI_COMM_WORLD, &all));
    TIME("split", MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &odd));
    TIME("create", MPI_Comm_create(MPI_COMM_WORLD, first, &some));
    TIME("create_group", MPI_Comm_create_group(MPI_COMM_WORLD, rank <= ranks / 2 ? first : second, 3, &half));
    TIME("cart", MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    TIME("sub", MPI_Cart_sub(grid, keep, &row));
    TIME("dup-row", MPI_Comm_dup(row, &some));
    TIME("graph", MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next,
                                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &around));
    TIME("window", MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    TIME("dynamic", MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &grows));
    MPI_Win_free(&window);
    MPI_Win_free(&grows);
    return MPI_Finalize();
}
