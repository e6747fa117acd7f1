/* SPDX-License-Identifier: BSD-3-Clause */
/* A nonblocking collective whose later rounds begin in a call of another model, see networks.bats. Ranks 0 to
 * 3 reduce, with a third argument also in the other model; meanwhile rank 4 loads the link of rank 2's host,
 * in model portals. */
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>

enum { REDUCERS = 4, COUNT = 6000, LOAD = 10000000 };

static double last;

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((double *)inout)[i] += ((double *)in)[i];
    last = MPI_Wtime();
}

static void reduce(int rank, const char *model, const char *other, int twice)
{
    static double mine[COUNT], sum[COUNT], again[COUNT];
    MPI_Comm reducers;
    MPI_Request request;
    MPI_Op op;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &reducers);
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < COUNT; i++)
        mine[i] = rank + i;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    pf_model_switch(model);
    MPI_Ireduce(mine, sum, COUNT, MPI_DOUBLE, op, 0, reducers, &request);
    pf_model_switch(other);
    if (twice)
        MPI_Reduce(mine, again, COUNT, MPI_DOUBLE, op, 0, reducers);
    MPI_Recv(NULL, 0, MPI_INT, REDUCERS, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* here the rounds go on */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("%s at %.12f s\n", sum[1] == 10.0 ? "right" : "wrong", last - start);
    MPI_Op_free(&op);
    MPI_Comm_free(&reducers);
}

static void load(int rank, const char *other)
{
    static char data[LOAD];
    MPI_Comm none;
    MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &none);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == REDUCERS)
        MPI_Send(data, LOAD, MPI_CHAR, REDUCERS + 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(data, LOAD, MPI_CHAR, REDUCERS, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pf_model_switch(other);
    for (int i = 0; rank == REDUCERS && i < REDUCERS; i++)
        MPI_Send(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank < REDUCERS)
        reduce(rank, argv[1], argv[2], argc > 3);
    else
        load(rank, argv[2]);
    return MPI_Finalize();
}
