/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own stock=no mpirun=no exit=nonzero message=rank.0.sent.tag.5.to.rank.1.in.model */
/* e2e: switch=own stock=no mpirun=no exit=nonzero args=probe message=MPI_Probe.*model.any */
/* A deadlock under -agree follow: the diagnosis names what the rank waits for, and what was sent to it
 * instead. */
#include "check.h"

int main(int argc, char **argv)
{
    int value = 7;

    check_begin(&argc, &argv);
    if (check_rank == 1)
        SWITCH_B();
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    else if (check_rank == 1 && argc > 1)
        MPI_Probe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (check_rank == 1)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
