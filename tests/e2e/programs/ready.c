/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none */
/* Ready sends. The receive is posted before a barrier and matched after it, so the whole runs in one
 * model. */
#include "check.h"

enum { MOST = 100000, TAG = 7 };

static int out[MOST], in[MOST];

static void ready(int n, int left, int right)
{
    MPI_Request q[2];

    check_fill(out, n, check_rank, n);
    CHECK_OK(MPI_Irecv(in, n, MPI_INT, left, TAG, MPI_COMM_WORLD, &q[0]));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Rsend(out, n, MPI_INT, right, TAG, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
    CHECK(check_filled(in, n, left, n));
    CHECK_OK(MPI_Irecv(in, n, MPI_INT, left, TAG, MPI_COMM_WORLD, &q[0]));
    MPI_Barrier(MPI_COMM_WORLD);
    check_fill(out, n, check_rank, n + 1);
    CHECK_OK(MPI_Irsend(out, n, MPI_INT, right, TAG, MPI_COMM_WORLD, &q[1]));
    CHECK_OK(MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
    CHECK(check_filled(in, n, left, n + 1));
}

/* The same persistent, started twice. */
static void persistent(int left, int right)
{
    enum { N = 1000 };
    MPI_Request send, receive;

    CHECK_OK(MPI_Rsend_init(out, N, MPI_INT, right, TAG, MPI_COMM_WORLD, &send));
    for (int round = 0; round < 2; round++) {
        CHECK_OK(MPI_Irecv(in, N, MPI_INT, left, TAG, MPI_COMM_WORLD, &receive));
        MPI_Barrier(MPI_COMM_WORLD);
        check_fill(out, N, check_rank, round);
        CHECK_OK(MPI_Start(&send));
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        CHECK(check_filled(in, N, left, round));
    }
    CHECK_OK(MPI_Request_free(&send));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int n = 1; n <= MOST; n *= 10) {
        ready(n, (check_rank + check_size - 1) % check_size, (check_rank + 1) % check_size);
        TIME("ready");
    }
    persistent((check_rank + check_size - 1) % check_size, (check_rank + 1) % check_size);
    TIME("persistent");
    return check_end("ready");
}
