/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
/* e2e: switch=own stock=no exit=nonzero options=-agree,strict message=(?s)stranded.*in.model.([\w-]+)\s.*(?:waits|received.it).in.model.(?!\1\s) */
/* e2e: switch=own stock=no exit=nonzero options=-agree,strict message=(?s)stranded.*in.model.([\w-]+)\s.*(?:waits|received.it).in.model.(?!\1\s) args=eager */
/* clang-format on */
/* A message that is sent in one model and awaited in the other: -agree strict ends with a diagnosis, never a
 * hang. */
#include "check.h"

int main(int argc, char **argv)
{
    int x = 42;

    check_begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
        SWITCH_A();
        if (argc > 1)
            MPI_Send(&x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
        else
            MPI_Ssend(&x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    } else if (check_rank == 1) {
        SWITCH_B();
        x = 0;
        MPI_Recv(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(x == 42);
    }
    return check_end("stranded");
}
