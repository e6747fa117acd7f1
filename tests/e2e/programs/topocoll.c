/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no mpirun=no */
/*
 * MPI_Ialltoallw on communicators with a topology: its arrays have one entry for each rank, however many
 * neighbours a rank has. The types are freed while the operation is pending. (Stock Open MPI reads beyond the
 * arrays when there are more neighbours than ranks; stock SMPI loses a type that is freed.)
 */
#include "check.h"

enum { MOST = 8, N = 5000 };

static int in[MOST * 2 * N], out[MOST * 2 * N];

static void exchange(MPI_Comm comm)
{
    int rank, size, counts[MOST], places[MOST];
    MPI_Datatype pairs[MOST];
    MPI_Request request;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = i * 2 * N * (int)sizeof(int);
        CHECK_OK(MPI_Type_vector(N, 1, 2, MPI_INT, &pairs[i]));
        CHECK_OK(MPI_Type_commit(&pairs[i]));
        for (int k = 0; k < 2 * N; k++) {
            in[i * 2 * N + k] = check_value(rank, k, i);
            out[i * 2 * N + k] = -1;
        }
    }
    CHECK_OK(MPI_Ialltoallw(in, counts, places, pairs, out, counts, places, pairs, comm, &request));
    for (int i = 0; i < size; i++)
        CHECK_OK(MPI_Type_free(&pairs[i]));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < size; i++)
        for (int k = 0; k < 2 * N; k++)
            CHECK(out[i * 2 * N + k] == (k % 2 ? -1 : check_value(i, k, rank)));
}

static void on_grid(void)
{
    static const int dimensions[MOST] = {2, 2, 1, 1, 1, 1, 1, 1}, periods[MOST] = {1, 1, 1, 1, 1, 1, 1, 1};
    MPI_Comm grid;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, MOST, dimensions, periods, 0, &grid));
    exchange(grid);
    CHECK_OK(MPI_Comm_free(&grid));
}

/* Each rank has itself for a neighbour, again and again. */
static void on_graph(void)
{
    int sources[4 * MOST];
    MPI_Comm graph;
    for (int i = 0; i < 4 * MOST; i++)
        sources[i] = check_rank;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 4 * MOST, sources, MPI_UNWEIGHTED, 4 * MOST,
                                            sources, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    exchange(graph);
    CHECK_OK(MPI_Comm_free(&graph));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    exchange(MPI_COMM_WORLD);
    on_grid();
    on_graph();
    return check_end("topocoll");
}
