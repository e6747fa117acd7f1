/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of one rank: they copy what it sends. The exit status is 1 when one does not. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 3000 };

static int out[COUNT], in[COUNT], wrong;

static void check(const char *name)
{
    if (memcmp(out, in, sizeof in) != 0)
        wrong = printf("%s: wrong\n", name) > 0;
    memset(in, 0, sizeof in);
}

/* Runs one, from `out` to `in`. */
#define RUN(name, ...)                                                                                       \
    MPI_##name(out, __VA_ARGS__, MPI_COMM_SELF);                                                             \
    check(#name)

int main(int argc, char **argv)
{
    int count = COUNT, place = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < COUNT; i++)
        out[i] = i + 1;
    RUN(Reduce, in, COUNT, MPI_INT, MPI_SUM, 0);
    RUN(Allreduce, in, COUNT, MPI_INT, MPI_SUM);
    RUN(Reduce_scatter, in, &count, MPI_INT, MPI_SUM);
    RUN(Reduce_scatter_block, in, COUNT, MPI_INT, MPI_SUM);
    RUN(Gather, COUNT, MPI_INT, in, COUNT, MPI_INT, 0);
    RUN(Scatter, COUNT, MPI_INT, in, COUNT, MPI_INT, 0);
    RUN(Allgather, COUNT, MPI_INT, in, COUNT, MPI_INT);
    RUN(Allgatherv, COUNT, MPI_INT, in, &count, &place, MPI_INT);
    RUN(Alltoall, COUNT, MPI_INT, in, COUNT, MPI_INT);
    RUN(Alltoallv, &count, &place, MPI_INT, in, &count, &place, MPI_INT);
    MPI_Bcast(out, COUNT, MPI_INT, 0, MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Finalize();
    return wrong;
}
