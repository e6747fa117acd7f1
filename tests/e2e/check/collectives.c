/* SPDX-License-Identifier: BSD-3-Clause */
/* Members that call different collectives, or the same one with arguments that do not fit together. */
#include "faults.h"

#include <unistd.h>

/* Rank 0 comes first, in any model: the others are compared with it. The clock is the simulated one. */
static void late(void)
{
    if (rank > 0)
        usleep(1000);
}

int main(int argc, char **argv)
{
    const char *which = begin(argc, argv);
    int values[8] = {0}, more[8] = {0}, counts[2] = {1, 1}, list[2] = {1, 1}, displs[2] = {0, 1};
    int faulty;
    MPI_Request request;

    MPI_Barrier(MPI_COMM_WORLD);
    faulty = wrong && rank == 1;
    list[0] += faulty;
    late();
    CASE("function")
    {
        if (faulty)
            MPI_Bcast(values, 1, MPI_INT, 0, MPI_COMM_WORLD);
        else
            MPI_Barrier(MPI_COMM_WORLD);
    }
    CASE("nonblocking")
    {
        if (faulty) {
            MPI_Ibarrier(MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    CASE("root") MPI_Bcast(values, 1, MPI_INT, faulty ? 1 : 0, MPI_COMM_WORLD);
    CASE("op") MPI_Allreduce(values, more, 1, MPI_INT, faulty ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
    CASE("count") MPI_Bcast(values, faulty ? 1 : 2, MPI_INT, 0, MPI_COMM_WORLD);
    CASE("type") MPI_Bcast(values, 2, faulty ? MPI_INT : MPI_FLOAT, 0, MPI_COMM_WORLD);
    CASE("elements") MPI_Bcast(values, faulty ? 1 : 2, faulty ? MPI_DOUBLE : MPI_FLOAT, 0, MPI_COMM_WORLD);
    CASE("list")
    {
        counts[0] = faulty ? 2 : 1;
        MPI_Allgatherv(values, 1, MPI_INT, more, counts, displs, MPI_INT, MPI_COMM_WORLD);
    }
    CASE("gatherv")
    MPI_Gatherv(values, faulty ? 2 : 1, MPI_INT, more, counts, displs, MPI_INT, 0, MPI_COMM_WORLD);
    CASE("scatter") MPI_Scatter(values, 1, MPI_INT, more, faulty ? 2 : 1, MPI_INT, 0, MPI_COMM_WORLD);
    CASE("gather") MPI_Gather(values, 1, faulty ? MPI_FLOAT : MPI_INT, more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CASE("exchange")
    MPI_Alltoallv(values, counts, displs, MPI_INT, more, list, displs, MPI_INT, MPI_COMM_WORLD);
    CASE("only") if (faulty) MPI_Gather(values, 1, MPI_INT, more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CASE("own") MPI_Alltoall(values, 1, MPI_INT, more, 1, wrong ? MPI_DOUBLE : MPI_INT, MPI_COMM_WORLD);
    CASE("comm")
    {
        MPI_Comm pair, half;
        MPI_Comm_dup(MPI_COMM_WORLD, &pair);
        MPI_Comm_set_name(pair, "pair");
        late();
        if (faulty)
            MPI_Comm_split(pair, 0, 0, &half);
        else
            MPI_Barrier(pair);
        MPI_Comm_free(&pair);
    }
    CASE("win")
    {
        MPI_Win win;
        MPI_Win_create(values, sizeof values, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        late();
        if (!faulty)
            MPI_Win_fence(0, win);
        MPI_Win_free(&win);
    }
    MPI_Finalize();
    return 0;
}
