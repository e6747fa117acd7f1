/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none stock=no exit=3 message=rank.?1 */
/* e2e: switch=none stock=no exit=1 message=rank.?1 args=alone */
/* A rank that leaves without MPI_Finalize while the others wait for it: a diagnosis and a non-zero exit. With
 * "alone" none waits, and it returns 0: an error of the program all the same. */
#include "check.h"

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1) {
        if (check_rank != 1)
            MPI_Finalize();
        return 0;
    }
    if (check_rank == 1)
        exit(3);
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end("early");
}
