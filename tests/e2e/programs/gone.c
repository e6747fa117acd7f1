/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none stock=no mpirun=no exit=nonzero message=MPI_Send,.called.at.gone.c.*.failed */
/* A message to a rank that has left without MPI_Finalize: its NIC is closed, and the sender gets an error. */
#include "check.h"

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    CHECK(pf_model_switch("portals") == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 1)
        exit(3);
    if (check_rank == 0)
        MPI_Send(&check_rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    return check_end("gone");
}
