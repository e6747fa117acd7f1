/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases of which serialisation and transfer are known: each rank works when the one before has; bytes that
 * no rank works for; work, then a message that is waited for. At last, work that is measured. */
#include <mpi.h>
#include <parfocal.h>
#include <unistd.h>

static char block[4 << 20];

int main(int argc, char **argv)
{
    int rank, size, left;
    volatile double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = rank - 1;
    pf_phase("serial");
    MPI_Recv(block, 1, MPI_CHAR, left >= 0 ? left : MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(1000);
    MPI_Send(block, 1, MPI_CHAR, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    pf_phase("bytes");
    MPI_Bcast(block, sizeof block, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    pf_phase("both");
    usleep(1000);
    MPI_Bcast(block, sizeof block, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    pf_phase("measured");
    for (int i = 0; i < (argc > 1 ? 5000000 : 0); i++)
        sum += i;
    pf_phase("more");
    for (int i = 0; i < (argc > 1 ? 5000000 : 0); i++)
        sum += i;
    MPI_Finalize();
    return 0;
}
