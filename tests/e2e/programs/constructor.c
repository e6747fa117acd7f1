/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=coll np=4 stock=no */
/*
 * MPI begins, and ranks wait for each other, before main(): in a constructor, as coarrays of Fortran do. Each
 * rank then runs main() of its own copy.
 */
#include "check.h"

static int rank = -1, sum;

__attribute__((constructor)) static void before_main(void)
{
    int mine;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine = rank + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int now, began;

    (void)argv;
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    MPI_Initialized(&began);
    CHECK(began && argc == 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &now);
    CHECK(rank == now);
    CHECK(sum == check_size * (check_size + 1) / 2);
    SWITCH_B();
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == check_size * (check_size - 1) / 2);
    return check_end("constructor");
}
