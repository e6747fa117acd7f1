/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=coll np=4 stock=no */
/* e2e: switch=coll np=4 stock=no mpirun=no args=open */
/*
 * Windows that are never freed: rank 0 is in MPI_Finalize while the others lock its windows, read and write
 * (MPI 3.1 section 8.7 and 11.5.3). With "open" they do not even unlock them.
 */
#include "check.h"

enum { COUNT = 10, LONG = 5000 };

static void access_all(MPI_Win win, MPI_Win other, int leave_open)
{
    static int got[LONG], one = 1, old[2];

    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Get(got, LONG, MPI_INT, 0, 0, LONG, MPI_INT, win));
    CHECK_OK(MPI_Win_flush(0, win));
    CHECK(got[0] == 42 && got[LONG - 1] == 42);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, other));
    CHECK_OK(MPI_Fetch_and_op(&one, &old[0], MPI_INT, 0, 0, MPI_SUM, other));
    CHECK_OK(MPI_Win_flush(0, other));
    CHECK_OK(MPI_Fetch_and_op(&one, &old[1], MPI_INT, 0, 0, MPI_SUM, other));
    CHECK_OK(MPI_Win_unlock(0, other));
    CHECK(old[1] == old[0] + 1 && old[0] % 2 == 0 && old[0] < 2 * check_size);
    if (!leave_open)
        CHECK_OK(MPI_Win_unlock_all(win));
}

int main(int argc, char **argv)
{
    static int counter[COUNT];
    long failures = 0;
    int *mem;
    MPI_Win win, other;
    MPI_Comm accessing;

    check_begin(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank > 0, 0, &accessing);
    CHECK_OK(MPI_Win_allocate(check_rank == 0 ? LONG * sizeof *mem : 0, sizeof *mem, MPI_INFO_NULL,
                              MPI_COMM_WORLD, &mem, &win));
    SWITCH_B();
    CHECK_OK(MPI_Win_create(counter, sizeof counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &other));
    for (int i = 0; check_rank == 0 && i < LONG; i++)
        mem[i] = 42;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank > 0) {
        access_all(win, other, argc > 1);
        MPI_Reduce(&check_failures, &failures, 1, MPI_LONG, MPI_SUM, 0, accessing);
    }
    if (check_rank == 1)
        printf("winkept: %s\n", failures ? "FAIL" : "PASS");
    MPI_Finalize();
    return check_failures > 0;
}
