/* SPDX-License-Identifier: BSD-3-Clause */
/* An application of SMPI that goes to Open MPI and back; usage: app SCENARIO[,SCENARIO...] */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

static void in_smpi(int me, int size)
{
    int value = me + 1, sum = -1, got = -1;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Sendrecv(&value, 1, MPI_INT, (me + 1) % size, 1, &got, 1, MPI_INT, (me + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (sum != size * (size + 1) / 2 || got != (me + size - 1) % size + 1) {
        fprintf(stderr, "rank %d: wrong data in SMPI\n", me);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    int me, size;
    void *(*rank_new)(int, int);
    void (*run)(void *, const char *);
    *(void **)&rank_new = dlsym(RTLD_DEFAULT, "test_rank_new");
    *(void **)&run = dlsym(RTLD_DEFAULT, "test_in_openmpi");
    if (argc < 2 || !rank_new || !run)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    void *rank = rank_new(me, size);
    in_smpi(me, size);
    for (int round = 0; round < 2; round++) {
        run(rank, argv[1]);
        in_smpi(me, size);
    }
    MPI_Finalize();
    return 0;
}
