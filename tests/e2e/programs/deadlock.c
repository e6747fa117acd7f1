/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none stock=no mpirun=no exit=nonzero message=(?s)MPI_Recv.*deadlock\.c */
/* Each rank receives from its neighbour and none sends: the end names ranks, calls and source lines. */
#include "check.h"

int main(int argc, char **argv)
{
    int x = 0;

    check_begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_INT, (check_rank + 1) % check_size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return check_end("deadlock");
}
