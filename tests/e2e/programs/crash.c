/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none stock=no exit=nonzero message=rank.?2 */
/* A crash in the application names its rank. */
#include "check.h"

int main(int argc, char **argv)
{
    volatile int *volatile nowhere = NULL;

    check_begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 2)
        *nowhere = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end("crash");
}
