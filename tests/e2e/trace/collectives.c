/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and collectives of all kinds that a trace for Paraver has, in two communicators; computation
 * between. */
#include <mpi.h>

enum { COUNT = 300, MOST = 8 };

static void collectives(MPI_Comm comm, int rank, int size)
{
    static double from[COUNT * MOST], to[COUNT * MOST];
    int counts[MOST], places[MOST];
    for (int i = 0; i < size; i++) {
        counts[i] = COUNT;
        places[i] = i * COUNT;
    }
    MPI_Barrier(comm);
    MPI_Bcast(from, COUNT, MPI_DOUBLE, 1, comm);
    MPI_Reduce(from, to, COUNT, MPI_DOUBLE, MPI_SUM, 1, comm);
    MPI_Allreduce(from, to, COUNT, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Gather(from, COUNT, MPI_DOUBLE, to, COUNT, MPI_DOUBLE, 1, comm);
    MPI_Gatherv(from, COUNT, MPI_DOUBLE, to, counts, places, MPI_DOUBLE, 1, comm);
    MPI_Scatter(from, COUNT, MPI_DOUBLE, to, COUNT, MPI_DOUBLE, 1, comm);
    MPI_Scatterv(from, counts, places, MPI_DOUBLE, to, COUNT, MPI_DOUBLE, 1, comm);
    MPI_Allgather(from, COUNT, MPI_DOUBLE, to, COUNT, MPI_DOUBLE, comm);
    MPI_Allgatherv(from, COUNT, MPI_DOUBLE, to, counts, places, MPI_DOUBLE, comm);
    MPI_Alltoall(from, COUNT, MPI_DOUBLE, to, COUNT, MPI_DOUBLE, comm);
    MPI_Alltoallv(from, counts, places, MPI_DOUBLE, to, counts, places, MPI_DOUBLE, comm);
    MPI_Reduce_scatter(from, to, counts, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Reduce_scatter_block(from, to, COUNT, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Scan(from, to, COUNT, MPI_DOUBLE, MPI_SUM, comm);
    if (rank == 0)
        MPI_Send(from, COUNT, MPI_DOUBLE, 1, 3, comm);
    if (rank == 1)
        MPI_Recv(to, COUNT, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(from, COUNT, MPI_DOUBLE, (rank + 1) % size, 4, to, COUNT, MPI_DOUBLE,
                 (rank + size - 1) % size, 4, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(from, COUNT, MPI_DOUBLE, (rank + 1) % size, 5, (rank + size - 1) % size, 5, comm,
                         MPI_STATUS_IGNORE);
}

static void requests(MPI_Comm comm, int rank, int size)
{
    static double from[COUNT], to[2][COUNT];
    MPI_Request pending[3];
    MPI_Message message;
    MPI_Status status;
    int next = (rank + 1) % size, last = (rank + size - 1) % size, index;
    MPI_Irecv(to[0], COUNT, MPI_DOUBLE, MPI_ANY_SOURCE, 6, comm, &pending[0]);
    MPI_Irecv(to[1], COUNT, MPI_DOUBLE, last, 7, comm, &pending[1]);
    MPI_Isend(from, COUNT, MPI_DOUBLE, next, 7, comm, &pending[2]);
    MPI_Wait(&pending[1], MPI_STATUS_IGNORE);
    MPI_Wait(&pending[2], MPI_STATUS_IGNORE);
    MPI_Ssend(from, COUNT, MPI_DOUBLE, next, 6, comm);
    MPI_Waitany(1, pending, &index, MPI_STATUS_IGNORE);
    MPI_Send_init(from, COUNT, MPI_DOUBLE, next, 8, comm, &pending[0]);
    MPI_Recv_init(to[0], COUNT, MPI_DOUBLE, last, 8, comm, &pending[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, pending);
        MPI_Waitall(2, pending, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&pending[0]);
    MPI_Request_free(&pending[1]);
    if (rank == 0)
        MPI_Send(from, COUNT, MPI_DOUBLE, 1, 9, comm);
    if (rank == 1) {
        MPI_Mprobe(0, 9, comm, &message, &status);
        MPI_Mrecv(to[0], COUNT, MPI_DOUBLE, &message, &status);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    collectives(MPI_COMM_WORLD, rank, size);
    requests(MPI_COMM_WORLD, rank, size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    collectives(half, rank, size);
    requests(half, rank, size);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
