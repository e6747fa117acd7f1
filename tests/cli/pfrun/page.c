/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases of which the efficiencies are known: all ranks work alike; rank r works r + 1 times as long, in a
 * phase whose name is HTML; no rank works. With an argument, the run is aborted before the last one. */
#include <mpi.h>
#include <parfocal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char block[1 << 20];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pf_phase("even");
    usleep(1000);
    MPI_Barrier(MPI_COMM_WORLD);
    pf_phase("</script><b>uneven & \"");
    usleep(1000 * (unsigned)(rank + 1));
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    pf_phase("talk");
    MPI_Bcast(block, sizeof block, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
