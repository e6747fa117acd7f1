/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own */
/* A switch costs no simulated time, the first one included, and makes no rank wait for another. */
#include "check.h"
#include <unistd.h>

/* Simulated time between two looks at the clock, with and without `switches` switches in between. */
static double lap(int switches)
{
    double begin = MPI_Wtime();

    for (int i = 0; i < switches; i++) {
        SWITCH_B();
        SWITCH_A();
    }
    return MPI_Wtime() - begin;
}

static int same(double a, double b)
{
    return !check_simulated() || (a - b < 1e-13 && b - a < 1e-13);
}

int main(int argc, char **argv)
{
    double bare, begin;
    MPI_Comm comm;
    int sum = 0;

    check_begin(&argc, &argv);
    SWITCH_A();
    bare = lap(0);
    CHECK(same(lap(0), bare));
    CHECK(same(lap(1), bare)); /* the other model may be loaded here */
    CHECK(same(lap(1000), bare));
    TIME("laps");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(same(lap(1), bare));
    TIME("used");

    begin = MPI_Wtime();
    if (check_rank == 0)
        sleep(1); /* comes late to the switch; the others do not notice */
    SWITCH_B();
    CHECK(check_rank == 0 || !check_simulated() || MPI_Wtime() - begin < 1e-6);
    SWITCH_A();
    TIME("late");
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == check_size * (check_size - 1) / 2);
    MPI_Comm_free(&comm);
    TIME("end");
    return check_end("freeswitch");
}
