/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none stock=no */
/* One-sided calls that other programs leave out: requests, fetching, locks on all, attached memory, a
 * test. */
#include "check.h"

enum { N = 8 };

static int right, left;

/* A window of N words, all of which hold 100 * rank. */
static void make(MPI_Win *win, int **memory)
{
    CHECK_OK(MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, memory, win));
    for (int i = 0; i < N; i++)
        (*memory)[i] = 100 * check_rank;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void with_requests(void)
{
    MPI_Win win;
    MPI_Request request;
    int *memory, out[2] = {check_rank + 1, check_rank + 2}, in[2] = {0, 0}, old[2] = {0, 0};

    make(&win, &memory);
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Rput(out, 2, MPI_INT, right, 0, 2, MPI_INT, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_flush_all(win));
    CHECK_OK(MPI_Rget(in, 2, MPI_INT, right, 0, 2, MPI_INT, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in[0] == out[0] && in[1] == out[1]);
    CHECK_OK(MPI_Raccumulate(out, 2, MPI_INT, right, 2, 2, MPI_INT, MPI_SUM, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_flush(right, win));
    CHECK_OK(
        MPI_Rget_accumulate(out, 2, MPI_INT, old, 2, MPI_INT, right, 2, 2, MPI_INT, MPI_SUM, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(old[0] == 100 * right + out[0] && old[1] == 100 * right + out[1]);
    CHECK_OK(MPI_Get_accumulate(out, 2, MPI_INT, old, 2, MPI_INT, right, 4, 2, MPI_INT, MPI_REPLACE, win));
    CHECK_OK(MPI_Win_flush_local(right, win));
    CHECK(old[0] == 100 * right && old[1] == 100 * right);
    CHECK_OK(MPI_Put(out, 2, MPI_INT, right, 6, 2, MPI_INT, win));
    CHECK_OK(MPI_Win_flush_local_all(win));
    CHECK_OK(MPI_Win_sync(win));
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 2; i++) {
        int theirs = left + 1 + i;
        CHECK(memory[i] == theirs && memory[2 + i] == 100 * check_rank + 2 * theirs);
        CHECK(memory[4 + i] == theirs && memory[6 + i] == theirs);
    }
    CHECK_OK(MPI_Win_free(&win));
}

static void attached(void)
{
    MPI_Win win;
    MPI_Aint here, there;
    int memory[N] = {0}, value = check_rank + 7;

    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_attach(win, memory, sizeof memory));
    CHECK_OK(MPI_Get_address(&memory[3], &here));
    CHECK_OK(MPI_Sendrecv(&here, 1, MPI_AINT, left, 1, &there, 1, MPI_AINT, right, 1, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, right, there, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK(memory[3] == left + 7 && memory[2] == 0);
    CHECK_OK(MPI_Win_detach(win, memory));
    CHECK_OK(MPI_Win_free(&win));
}

/* The exposure ends when a test says so. */
static void tested(void)
{
    MPI_Win win;
    MPI_Group world, origin, target;
    int *memory, flag = 0, value = check_rank + 9;

    make(&win, &memory);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_incl(world, 1, &left, &origin));
    CHECK_OK(MPI_Group_incl(world, 1, &right, &target));
    CHECK_OK(MPI_Win_post(origin, 0, win));
    CHECK_OK(MPI_Win_start(target, 0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, right, 1, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_complete(win));
    while (!flag)
        CHECK_OK(MPI_Win_test(win, &flag));
    CHECK(memory[1] == left + 9 && memory[0] == 100 * check_rank);
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Group_free(&origin));
    CHECK_OK(MPI_Group_free(&target));
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    right = (check_rank + 1) % check_size;
    left = (check_rank + check_size - 1) % check_size;
    with_requests();
    attached();
    tested();
    return check_end("wincalls");
}
