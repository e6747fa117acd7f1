/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes for some 50 ms in the phase "long" and not at all in "short" and in "pcontrol:1"; no phase ends
 * with an MPI call that takes time. */
#include <mpi.h>
#include <parfocal.h>

static void compute(void)
{
    for (volatile int i = 0; i < 30000000; i++)
        continue;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    pf_phase("long");
    compute();
    pf_phase("short");
    MPI_Barrier(MPI_COMM_WORLD);
    pf_phase("long");
    compute();
    MPI_Pcontrol(1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
