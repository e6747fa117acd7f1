/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own mpirun=no */
/* SMPI's macros for cheap computations and shared memory, in every model and across switches. */
#include "check.h"

#include <smpi/smpi.h>

enum { LOOPS = 100, SIZE = 1 << 20 };

static int calls;
static int answer;

static void *compute(int value)
{
    calls++;
    answer = value;
    return &answer;
}

static void delays(void)
{
    double begin = MPI_Wtime();

    SMPI_SAMPLE_DELAY(0.5)
    {
        CHECK(!"the block is not executed");
    }
    CHECK(MPI_Wtime() > begin); /* how long is a matter of smpi/host-speed */
    begin = MPI_Wtime();
    SMPI_SAMPLE_FLOPS(1e9)
    {
        CHECK(!"the block is not executed");
    }
    CHECK(MPI_Wtime() > begin + 0.01);
    TIME("delays");
}

/* Only some iterations are executed, and the loop variable has its last value all the same. */
static void samples(int model)
{
    int executed = 0, i = 0;

    if (model == 0) {
        SMPI_SAMPLE_LOCAL(i = 0, i < LOOPS, i++, 10, 1e-9)
        {
            executed++;
        }
    } else {
        SMPI_SAMPLE_LOCAL(i = 0, i < LOOPS, i++, 10, 1e-9)
        {
            executed++;
        }
    }
    CHECK(executed >= 1 && executed <= LOOPS);
}

static void memory(void)
{
    int *shared = SMPI_SHARED_MALLOC(SIZE), value = check_rank, sum = 0;

    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    shared[check_rank] = 100 + check_rank;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < check_size; i++)
        CHECK(shared[i] == 100 + i);
    CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    SMPI_SHARED_FREE(shared);
    int *result = SMPI_SHARED_CALL(compute, "same for all", 42);
    CHECK(*result == 42);
    CHECK_OK(MPI_Allreduce(&calls, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == 1);
    calls = 0;
}

int main(int argc, char *argv[])
{
    check_begin(&argc, &argv);
    SWITCH_A();
    delays();
    memory();
    SWITCH_B();
    delays();
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* ranks of one host share its time */
    samples(0); /* last: the executed iterations are measured, and no two runs take the same time */
    SWITCH_A();
    samples(1);
    return check_end("macros");
}
