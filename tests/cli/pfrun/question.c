/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 asks the launcher how far the run is, when it has sent three messages and has waited for a simulated
 * millisecond in the phase "asking"; then it computes for as many steps as the first argument says. Ranks
 * from 3 on are in the phase that the second one names. All wait for rank 0. */
#include <mpi.h>
#include <parfocal.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    int rank, data = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pf_phase(argc > 2 && rank > 2 ? argv[2] : "asking");
    for (int i = 0; i < 3; i++) {
        if (rank == 0)
            MPI_Send(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0) {
        struct timespec millisecond = {.tv_nsec = 1000000};
        nanosleep(&millisecond, NULL);
        raise(SIGUSR1);
        long steps = argc > 1 ? atol(argv[1]) : 0;
        for (volatile long i = 0; i < steps; i++)
            continue;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
