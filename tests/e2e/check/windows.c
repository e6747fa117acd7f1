/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided calls outside of epochs and beyond windows, and epochs that do not fit together. */
#include "faults.h"

int main(int argc, char **argv)
{
    const char *which = begin(argc, argv);
    int memory[4] = {0}, value = 1, right = (rank + 1) % size;
    MPI_Win win;

    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    CASE("beyond") MPI_Put(&value, 1, MPI_INT, right, wrong && rank == 0 ? 4 : 3, 1, MPI_INT, win);
    CASE("datatype") MPI_Put(&value, 1, MPI_INT, right, 0, 1, wrong && rank == 0 ? MPI_FLOAT : MPI_INT, win);
    MPI_Win_unlock_all(win);
    CASE("access")
    {
        MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
        MPI_Put(&value, 1, MPI_INT, wrong && rank == 0 ? rank : right, 0, 1, MPI_INT, win);
        MPI_Win_unlock(right, win);
    }
    CASE("lock")
    {
        MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
        if (wrong && rank == 0)
            MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
        MPI_Win_unlock(right, win);
    }
    CASE("unlock") if (wrong && rank == 0) MPI_Win_unlock(right, win);
    CASE("open")
    {
        MPI_Win_fence(0, win);
        MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
        if (!wrong)
            MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    }
    CASE("origin")
    {
        MPI_Win_lock_all(0, win);
        MPI_Get(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
        if (!wrong || rank != 0)
            MPI_Win_flush_local(right, win);
        MPI_Put(&value, 1, MPI_INT, right, 1, 1, MPI_INT, win);
        MPI_Put(&value, 1, MPI_INT, rank, 2, 1, MPI_INT, win);
        MPI_Get(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
        MPI_Win_flush(rank, win);
        MPI_Win_flush(right, win);
        MPI_Sendrecv_replace(&value, 1, MPI_INT, right, 0, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_unlock_all(win);
    }
    CASE("result")
    {
        int one = 1, old[2];
        MPI_Win_fence(0, win);
        MPI_Fetch_and_op(&one, &old[0], MPI_INT, right, 0, MPI_SUM, win);
        MPI_Fetch_and_op(&one, &old[!wrong], MPI_INT, right, 0, MPI_SUM, win);
        MPI_Win_fence(0, win);
        MPI_Compare_and_swap(&one, &value, &old[0], MPI_INT, right, 0, win);
        MPI_Compare_and_swap(&one, &value, &old[!wrong], MPI_INT, right, 1, win);
        MPI_Win_fence(0, win);
        MPI_Get(old, 2, MPI_INT, right, 0, 2, MPI_INT, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
