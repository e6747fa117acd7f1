/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no mpirun=no */
/* MPI_Comm_split_type in which all ranks of a host have no part: the ranks run on one host each. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm part = MPI_COMM_WORLD;
    int size = -1;

    check_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, check_rank % 2 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0,
                                 MPI_INFO_NULL, &part));
    CHECK((part == MPI_COMM_NULL) == (check_rank % 2 == 1));
    if (part != MPI_COMM_NULL) {
        MPI_Comm_size(part, &size);
        CHECK(size == 1);
        MPI_Comm_free(&part);
    }
    return check_end("splittype");
}
