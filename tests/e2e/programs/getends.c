/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no */
/* MPI_Rget whose data are used after the end of the epoch, or after a flush, and whose request is waited for
 * later; also of a datatype with gaps. Stock SMPI does not wait for the data. */
#include "check.h"

enum { N = 100000, GETS = 3 };

static int left, in[GETS][2 * N];
static MPI_Datatype spread;
static MPI_Win win;

static void get(MPI_Request *requests, int spread_too)
{
    memset(in, -1, sizeof in);
    for (int i = 0; i < GETS; i++)
        if (i == 0 && spread_too)
            CHECK_OK(MPI_Rget(in[i], 1, spread, left, 0, N, MPI_INT, win, &requests[i]));
        else
            CHECK_OK(MPI_Rget(in[i], N, MPI_INT, left, 0, N, MPI_INT, win, &requests[i]));
}

static int arrived(int spread_too)
{
    for (int i = 0; i < GETS; i++)
        for (int j = 0; j < N; j++)
            if (in[i][i == 0 && spread_too ? 2 * j : j] != check_value(left, j, 1))
                return 0;
    return 1;
}

static void finish(MPI_Request *requests, int way)
{
    int index, flag = 0;
    if (way == 0) {
        CHECK_OK(MPI_Waitall(GETS, requests, MPI_STATUSES_IGNORE));
    } else if (way == 1) {
        for (int i = 0; i < GETS; i++)
            CHECK_OK(MPI_Waitany(GETS, requests, &index, MPI_STATUS_IGNORE));
    } else {
        CHECK_OK(MPI_Testall(GETS, requests, &flag, MPI_STATUSES_IGNORE));
        CHECK(flag);
    }
    for (int i = 0; i < GETS; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
}

static void round_of(int way)
{
    MPI_Request requests[GETS];

    CHECK_OK(MPI_Win_lock_all(0, win));
    get(requests, way > 0);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK(arrived(way > 0));
    finish(requests, way);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, left, 0, win));
    get(requests, way > 0);
    CHECK_OK(MPI_Win_unlock(left, win));
    CHECK(arrived(way > 0));
    finish(requests, way);
    CHECK_OK(MPI_Win_lock_all(0, win));
    get(requests, way > 0);
    CHECK_OK(way == 1 ? MPI_Win_flush(left, win) : MPI_Win_flush_local_all(win));
    CHECK(arrived(way > 0));
    finish(requests, way);
    get(requests, way > 0);
    CHECK_OK(way == 1 ? MPI_Win_flush_local(left, win) : MPI_Win_flush_all(win));
    CHECK(arrived(way > 0));
    finish(requests, way);
    get(requests, way > 0);
    finish(requests, 0);
    CHECK_OK(MPI_Win_unlock_all(win));
}

int main(int argc, char **argv)
{
    int *memory;

    check_begin(&argc, &argv);
    left = (check_rank + check_size - 1) % check_size;
    MPI_Type_vector(N, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    CHECK_OK(MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    check_fill(memory, N, check_rank, 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int way = 0; way < 3; way++)
        round_of(way);
    CHECK_OK(MPI_Win_free(&win));
    MPI_Type_free(&spread);
    return check_end("getends");
}
