/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that a recording must hold. Arguments are the kinds of calls; "stock" stands for those that SMPI's
 * format holds too. A second call of one kind would find other counts: what is recorded of one is not what is
 * recorded of the next.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, next, before;
static double a[65536], b[65536];
static int counts[64], places[64], mine[64];
#define WORLD MPI_COMM_WORLD

static void point_to_point(void)
{
    MPI_Request requests[6];
    int flag = 0;
    if (rank == 0)
        MPI_Send(a, 10, MPI_DOUBLE, 1, 3, WORLD);
    if (rank == 1)
        MPI_Recv(b, 10, MPI_DOUBLE, 0, 3, WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(b, 1000, MPI_INT, before, 1, WORLD, &requests[0]);
    MPI_Irecv(b + 1000, 60000, MPI_INT, before, 2, WORLD, &requests[1]);
    MPI_Isend(a, 1000, MPI_INT, next, 1, WORLD, &requests[2]);
    MPI_Isend(a, 60000, MPI_INT, next, 2, WORLD, &requests[3]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Test(&requests[2], &flag, MPI_STATUS_IGNORE);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(a, 100, MPI_CHAR, next, 0, b, 100, MPI_CHAR, before, 0, WORLD, MPI_STATUS_IGNORE);
}

static void collectives(void)
{
    MPI_Barrier(WORLD);
    MPI_Bcast(a, 1000, MPI_DOUBLE, 1, WORLD);
    MPI_Reduce(a, b, 1000, MPI_DOUBLE, MPI_SUM, 1, WORLD);
    MPI_Allreduce(a, b, 1000, MPI_DOUBLE, MPI_MAX, WORLD);
    MPI_Alltoall(a, 100, MPI_LONG, b, 100, MPI_LONG, WORLD);
    MPI_Gather(a, 100, MPI_INT, b, 100, MPI_INT, 1, WORLD);
    MPI_Scatter(a, 100, MPI_INT, b, 100, MPI_INT, 1, WORLD);
    MPI_Allgather(a, 100, MPI_INT, b, 100, MPI_INT, WORLD);
    MPI_Gatherv(a, counts[rank], MPI_INT, b, counts, places, MPI_INT, 1, WORLD);
    MPI_Scatterv(a, counts, places, MPI_INT, b, counts[rank], MPI_INT, 1, WORLD);
    MPI_Allgatherv(a, counts[rank], MPI_INT, b, counts, places, MPI_INT, WORLD);
    MPI_Alltoallv(a, counts, places, MPI_INT, b, mine, places, MPI_INT, WORLD);
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, WORLD);
    MPI_Scan(a, b, 50, MPI_INT, MPI_SUM, WORLD);
    MPI_Exscan(a, b, 50, MPI_INT, MPI_SUM, WORLD);
}

static void more_messages(void)
{
    MPI_Request requests[4];
    MPI_Status status;
    int flag, index, indices[4], outcount;
    char *room = malloc(100000);
    MPI_Irecv(b, 100, MPI_INT, before, 1, WORLD, &requests[0]);
    MPI_Irecv(b + 200, 200, MPI_INT, before, 1, WORLD, &requests[1]);
    MPI_Ssend(a, 0, MPI_INT, MPI_PROC_NULL, 1, WORLD);
    MPI_Issend(a, 100, MPI_INT, next, 1, WORLD, &requests[2]);
    MPI_Isend(a, 200, MPI_INT, next, 1, WORLD, &requests[3]);
    MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitsome(4, requests, &outcount, indices, MPI_STATUSES_IGNORE);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Buffer_attach(room, 100000);
    MPI_Bsend(a, 300, MPI_INT, next, 4, WORLD);
    MPI_Probe(before, 4, WORLD, &status);
    MPI_Recv(b, 300, MPI_INT, before, 4, WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&room, &index);
    free(room);
    MPI_Irecv(b, 3000, MPI_INT, before, 5, WORLD, &requests[0]);
    MPI_Isend(a, 3000, MPI_INT, next, 5, WORLD, &requests[1]);
    MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv_replace(a, 500, MPI_INT, next, 8, before, 8, WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(a, 100, MPI_CHAR, next, 6, b, 200, MPI_CHAR, before, 6, WORLD, &status);
}

/* One source only, so that a wildcard has no choice. */
static void wildcards(void)
{
    MPI_Request request;
    MPI_Status status;
    if (rank == 1) {
        MPI_Send(a, 10, MPI_DOUBLE, 0, 3, WORLD);
        MPI_Send(a, 20, MPI_DOUBLE, 0, 4, WORLD);
        MPI_Send(a, 30, MPI_DOUBLE, 0, 5, WORLD);
        MPI_Send(a, 25, MPI_DOUBLE, 0, 6, WORLD);
    }
    if (rank == 0) {
        MPI_Irecv(b, 20, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Irecv(b, 30, MPI_DOUBLE, MPI_ANY_SOURCE, 5, WORLD, &request);
        MPI_Recv(b + 40, 20, MPI_DOUBLE, MPI_ANY_SOURCE, 4, WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
        MPI_Recv(b + 40, 30, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, WORLD, MPI_STATUS_IGNORE);
    }
}

static void persistent(void)
{
    MPI_Request requests[2];
    MPI_Recv_init(b, 700, MPI_INT, before, 9, WORLD, &requests[0]);
    MPI_Send_init(a, 700, MPI_INT, next, 9, WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Start(&requests[0]);
    MPI_Start(&requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void ordered(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static void derived(void)
{
    MPI_Datatype column, pair;
    MPI_Op op;
    MPI_Type_vector(64, 2, 4, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Type_contiguous(3, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(ordered, 0, &op);
    MPI_Bcast(a, 7, column, 0, WORLD);
    if (rank == 0)
        MPI_Send(a, 5, column, 1, 3, WORLD);
    if (rank == 1)
        MPI_Recv(b, 640, MPI_DOUBLE, 0, 3, WORLD, MPI_STATUS_IGNORE);
    MPI_Alltoall(a, 2, column, b, 256, MPI_DOUBLE, WORLD);
    MPI_Gatherv(a, counts[rank], pair, b, counts, places, pair, 2, WORLD);
    MPI_Allreduce(a, b, 900, pair, op, WORLD);
    MPI_Reduce(a, b, 900, pair, op, 2, WORLD);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    MPI_Type_free(&column);
}

static void in_place(void)
{
    MPI_Allreduce(MPI_IN_PLACE, a, 300, MPI_DOUBLE, MPI_SUM, WORLD);
    MPI_Reduce(rank == 2 ? MPI_IN_PLACE : a, a, 300, MPI_DOUBLE, MPI_SUM, 2, WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 30, MPI_DOUBLE, WORLD);
    MPI_Gather(rank == 1 ? MPI_IN_PLACE : a, 40, MPI_INT, b, 40, MPI_INT, 1, WORLD);
    MPI_Scatter(a, 40, MPI_INT, rank == 1 ? MPI_IN_PLACE : b, 40, MPI_INT, 1, WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 30, MPI_DOUBLE, WORLD);
}

static void communicators(void)
{
    MPI_Comm half, copy, cart, row, some;
    MPI_Group world, group;
    int dims[2] = {0, 0}, periods[2] = {1, 0}, keep[2] = {0, 1}, members[2] = {0, 2};
    MPI_Comm_split(WORLD, rank % 2, -rank, &half);
    MPI_Allreduce(a, b, 10, MPI_FLOAT, MPI_MAX, half);
    MPI_Comm_dup(half, &copy);
    MPI_Bcast(a, 2000, MPI_DOUBLE, 1, copy);
    MPI_Comm_free(&half);
    MPI_Comm_split(WORLD, rank == 3 ? MPI_UNDEFINED : 0, 0, &half);
    if (half != MPI_COMM_NULL) {
        MPI_Barrier(half);
        MPI_Comm_free(&half);
    }
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(WORLD, 2, dims, periods, 0, &cart);
    MPI_Cart_sub(cart, keep, &row);
    MPI_Allreduce(a, b, 20, MPI_INT, MPI_SUM, row);
    int from, to;
    MPI_Cart_shift(cart, 0, 1, &from, &to);
    MPI_Sendrecv(a, 40, MPI_INT, to, 1, b, 40, MPI_INT, from, 1, cart, MPI_STATUS_IGNORE);
    MPI_Neighbor_allgather(a, 30, MPI_INT, b, 30, MPI_INT, cart);
    MPI_Comm_group(WORLD, &world);
    MPI_Group_incl(world, 2, members, &group);
    MPI_Comm_create(WORLD, group, &some);
    if (some != MPI_COMM_NULL) {
        MPI_Allgather(a, 3, MPI_LONG, b, 3, MPI_LONG, some);
        MPI_Comm_free(&some);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Comm_free(&row);
    MPI_Comm_free(&cart);
    MPI_Comm_free(&copy);
}

static void nonblocking(void)
{
    MPI_Request requests[4];
    MPI_Ibcast(a, 5000, MPI_DOUBLE, 2, WORLD, &requests[0]);
    MPI_Iallreduce(b, b + 1000, 800, MPI_DOUBLE, MPI_SUM, WORLD, &requests[1]);
    MPI_Ibarrier(WORLD, &requests[2]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Igatherv(b, counts[rank], MPI_INT, b + 5000, counts, places, MPI_INT, 1, WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Ialltoallv(a, counts, places, MPI_INT, b, mine, places, MPI_INT, WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void windows(void)
{
    static double shared[4096];
    double *own;
    MPI_Win win;
    MPI_Win_create(shared, sizeof shared, sizeof(double), MPI_INFO_NULL, WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(a, 500, MPI_DOUBLE, next, 100, 500, MPI_DOUBLE, win);
    MPI_Get(b, 400, MPI_DOUBLE, before, 1000, 400, MPI_DOUBLE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Accumulate(a, 50, MPI_DOUBLE, next, 0, 50, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_unlock(next, win);
    MPI_Win_free(&win);
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, WORLD, &own, &win);
    MPI_Win_fence(0, win);
    MPI_Put(a, 10, MPI_INT, next, 0, 10, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static const struct {
    const char *name;
    void (*call)(void);
    int stock;
} parts[] = {{"messages", point_to_point, 1}, {"collectives", collectives, 1},
             {"more", more_messages, 0},      {"wildcards", wildcards, 0},
             {"persistent", persistent, 0},   {"derived", derived, 0},
             {"place", in_place, 0},          {"comms", communicators, 0},
             {"nonblocking", nonblocking, 0}, {"windows", windows, 0}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    for (int i = 0; i < size; i++) {
        counts[i] = 10 + 3 * i;
        places[i] = 40 * i;
        mine[i] = 10 + 3 * rank;
    }
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
            if (strcmp(argv[i], parts[k].name) == 0 || strcmp(argv[i], "all") == 0 ||
                (strcmp(argv[i], "stock") == 0 && parts[k].stock)) {
                parts[k].call();
                MPI_Barrier(WORLD); /* the next part may have wildcards */
            }
    if (strcmp(argv[argc - 1], "noclock") != 0)
        MPI_Wtime(); /* which takes time in a simulation, and in no recording of a real machine */
    MPI_Finalize();
    if (rank == 0)
        printf("done\n");
    return 0;
}
