/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any mpirun=no */
/*
 * Windows as stock SMPI can run them, for the comparison of simulated times with stock smpirun: all ranks
 * want one exclusive lock, one counter, one cell; groups, fences, dynamic and shared windows.
 */
#include "check.h"

enum { N = 512 };

static void contended_puts(MPI_Win win)
{
    int out[N];

    check_fill(out, N, check_rank, 1);
    for (int i = 0; i < 4; i++) { /* each rank has a place of its own */
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        CHECK_OK(MPI_Put(out, N, MPI_INT, 0, check_rank * N, N, MPI_INT, win));
        CHECK_OK(MPI_Win_unlock(0, win));
    }
    TIME("exclusive");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    CHECK_OK(MPI_Get(out, N, MPI_INT, 0, check_rank * N, N, MPI_INT, win));
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK(check_filled(out, N, check_rank, 1));
    TIME("shared");
}

static void contended_counter(MPI_Win win, const int *memory)
{
    int one = 1, was, other = 5, zero = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < 5; i++) {
        CHECK_OK(MPI_Fetch_and_op(&one, &was, MPI_INT, 0, check_size * N, MPI_SUM, win));
        CHECK_OK(MPI_Win_flush(0, win));
    }
    TIME("fetch");
    /* Each rank swaps a cell of its own. */
    CHECK_OK(MPI_Compare_and_swap(&other, &zero, &was, MPI_INT, 0, check_size * N + 1 + check_rank, win));
    CHECK_OK(MPI_Win_flush(0, win));
    CHECK(was == 0);
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, check_size * N, 1, MPI_INT, MPI_SUM, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    TIME("swap");
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
        CHECK(memory[check_size * N] == 6 * check_size);
        for (int i = 0; i < check_size; i++)
            CHECK(memory[check_size * N + 1 + i] == 5);
    }
}

static void groups(MPI_Win win)
{
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size, out[N];
    MPI_Group all, origin, target;

    check_fill(out, N, check_rank, 2);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &left, &origin);
    MPI_Group_incl(all, 1, &right, &target);
    CHECK_OK(MPI_Win_post(origin, 0, win));
    CHECK_OK(MPI_Win_start(target, 0, win));
    CHECK_OK(MPI_Put(out, N, MPI_INT, right, 0, N, MPI_INT, win));
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    TIME("groups");
    MPI_Group_free(&all);
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
}

static void shared(void)
{
    int *mine;
    MPI_Win win;

    CHECK_OK(MPI_Win_allocate_shared(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
    TIME("shared window");
    *mine = check_rank;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int *memory, out[N], right;

    check_begin(&argc, &argv);
    right = (check_rank + 1) % check_size;
    check_fill(out, N, check_rank, 3);
    CHECK_OK(MPI_Win_allocate((check_size * (N + 1) + 1) * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL,
                              MPI_COMM_WORLD, &memory, &win));
    memset(memory, 0, (size_t)(check_size * (N + 1) + 1) * sizeof(int));
    TIME("made");
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    CHECK_OK(MPI_Put(out, N, MPI_INT, right, 0, N, MPI_INT, win));
    MPI_Win_fence(0, win);
    CHECK_OK(MPI_Get(out, N, MPI_INT, right, 0, N, MPI_INT, win));
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(check_filled(out, N, check_rank, 3));
    TIME("fence");
    contended_puts(win);
    contended_counter(win, memory);
    groups(win);
    CHECK_OK(MPI_Win_free(&win));
    shared();
    TIME("end");
    return check_end("winpure");
}
