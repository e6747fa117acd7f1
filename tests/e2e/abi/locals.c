// SPDX-License-Identifier: BSD-3-Clause
// Thread-local variables of an executable, which each rank has; a handle that data hold; what mpicc's
// programs call by other ways.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#ifndef ROOM
#define ROOM 7
#endif
static int plain = 3;
MPI_Comm world = MPI_COMM_WORLD;
static _Thread_local int counter = 5, *to = &plain;
_Thread_local double sums[ROOM];
static _Thread_local int *where;

static void *nothing(void *arg)
{
    return arg;
}

static int nobody(void *state, ...)
{
    (void)state;
    return MPI_SUCCESS;
}

/* Weights that are not wanted back, and a function by its other name. */
static int others(int rank, int size)
{
    int from, to_rank, next = (rank + 1) % size, before = (rank + size - 1) % size, flag = 0;
    MPI_Comm ring;
    MPI_Request request;
    MPI_Dist_graph_create_adjacent(world, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &ring);
    MPI_Dist_graph_neighbors(ring, 1, &from, MPI_UNWEIGHTED, 1, &to_rank, MPI_UNWEIGHTED);
    MPI_Comm_free(&ring);
    PMPI_Grequest_start((MPI_Grequest_query_function *)nobody, (MPI_Grequest_free_function *)nobody,
                        (MPI_Grequest_cancel_function *)nobody, NULL, &request);
    MPI_Grequest_complete(request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    return flag && from == before && to_rank == next;
}

int main(int argc, char **argv)
{
    int rank, size, sum, right;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = counter == 5 && sums[3] == 0 && !where && *to == 3;
    where = &counter;
    for (int i = 0; i < 20; i++) {
        counter += rank;
        sums[i % 7] += rank;
        *to += rank;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 0, &sum, 1, MPI_INT, MPI_ANY_SOURCE, 0, world,
                     MPI_STATUS_IGNORE);
    }
    right = right && *where == 5 + 20 * rank && sums[0] == 3 * rank && plain == 3 + 20 * rank &&
            others(rank, size);
    MPI_Allreduce(&right, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (argc > 1 && strcmp(argv[1], "thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
    if (rank == 0)
        printf("locals: %s\n", sum == size ? "PASS" : "FAIL");
    MPI_Finalize();
    return sum != size;
}
