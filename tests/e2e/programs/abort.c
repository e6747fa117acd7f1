/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none stock=no exit=7 */
/* The code of MPI_Abort becomes the exit status, while other ranks are blocked. */
#include "check.h"

int main(int argc, char **argv)
{
    int x;

    check_begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 2 % check_size)
        MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Recv(&x, 1, MPI_INT, 2 % check_size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return check_end("abort");
}
