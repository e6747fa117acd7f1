/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is simulated time around work of the middleware? Without arguments: prints the simulated time of two
 * barriers after the program has entered phase "b". All functions have been called before, because the first
 * call of each makes the dynamic linker work, in the application's own time. With "work": lets the middleware
 * work a lot, in all models in turn, and computes nothing.
 */
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>

enum { ROUNDS = 300 };

static double barriers(const char *phase)
{
    double begin;
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    pf_phase(phase);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

/* New datatypes, communicators and phases: each model makes its own of each at first use. */
static void round_of_work(int me, int size, int i)
{
    const char *const models[] = {"smpi", "portals", "analytic"};
    int out[4] = {me, 1, 2, 3}, in[4];
    char phase[20];
    MPI_Datatype pair;
    MPI_Comm comm;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comm);
    for (int k = 0; k < 3; k++) {
        snprintf(phase, sizeof phase, "%s-%d", models[k], i % 20);
        pf_phase(phase);
        pf_model_switch(models[k]);
        MPI_Sendrecv(out, 1, pair, (me + 1) % size, 0, in, 1, pair, (me + size - 1) % size, 0, comm,
                     MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&comm);
    MPI_Type_free(&pair);
}

int main(int argc, char **argv)
{
    int me, size;
    double mine, slowest;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        for (int i = 0; i < ROUNDS; i++)
            round_of_work(me, size, i);
    } else {
        barriers("a");
        mine = barriers("b");
        MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (me == 0)
            printf("took %.9f\n", slowest);
    }
    MPI_Finalize();
    return 0;
}
