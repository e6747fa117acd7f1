/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none stock=no exit=3 message=rank.?1 */
/* A rank that leaves without MPI_Finalize while the others wait for it: a diagnosis and a non-zero exit. */
#include "check.h"

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 1)
        exit(3);
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end("early");
}
