/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own */
/*
 * Progress across models: a rank that is blocked in one model must go on with what it has pending in the
 * other, because its peer completes that first and only then sends what the rank is blocked on. Both
 * directions, with messages of all sizes and with nonblocking collectives. Ranks 2k and 2k+1 are a pair.
 */
#include "check.h"

enum { MOST = 300000, TAG_DATA = 1, TAG_GO = 2 };

static int data[MOST];
static int peer;

static void to(int b)
{
    if (b)
        SWITCH_B();
    else
        SWITCH_A();
}

/* The even rank sends data in model `x` and then waits in the other for a signal that the data have
 * arrived. */
static void message(int x, int n, MPI_Comm comm)
{
    MPI_Request q;
    int go = 0;

    to(x);
    if (check_rank % 2 == 0) {
        check_fill(data, n, check_rank, n);
        CHECK_OK(MPI_Isend(data, n, MPI_INT, peer, TAG_DATA, comm, &q));
        to(!x);
        CHECK_OK(MPI_Recv(&go, 1, MPI_INT, peer, TAG_GO, comm, MPI_STATUS_IGNORE));
        CHECK(go == n + 1);
        CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
    } else {
        memset(data, 0, n * sizeof(int));
        CHECK_OK(MPI_Recv(data, n, MPI_INT, peer, TAG_DATA, comm, MPI_STATUS_IGNORE));
        CHECK(check_filled(data, n, peer, n));
        to(!x);
        go = n + 1;
        CHECK_OK(MPI_Send(&go, 1, MPI_INT, peer, TAG_GO, comm));
    }
}

/* The same with the receiver: it posts its receive, blocks elsewhere, and is released when the send has
 * completed. */
static void receive(int x, int n, MPI_Comm comm)
{
    MPI_Request q;
    int go = 0;

    to(x);
    if (check_rank % 2 == 0) {
        memset(data, 0, n * sizeof(int));
        CHECK_OK(MPI_Irecv(data, n, MPI_INT, peer, TAG_DATA, comm, &q));
        to(!x);
        CHECK_OK(MPI_Recv(&go, 1, MPI_INT, peer, TAG_GO, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
        CHECK(check_filled(data, n, peer, n));
    } else {
        check_fill(data, n, check_rank, n);
        CHECK_OK(MPI_Ssend(data, n, MPI_INT, peer, TAG_DATA, comm));
        to(!x);
        CHECK_OK(MPI_Send(&go, 1, MPI_INT, peer, TAG_GO, comm));
    }
}

/* Even ranks block in the other model inside a collective of many steps; odd ranks need it complete to go
 * on. */
static void collective(int x, int n, MPI_Comm comm)
{
    static int in[4096], out[4096];
    MPI_Request q;
    int go = 0;

    to(x);
    for (int i = 0; i < n; i++)
        in[i] = check_rank + i;
    CHECK_OK(MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, comm, &q));
    if (check_rank % 2 == 0) {
        to(!x);
        CHECK_OK(MPI_Recv(&go, 1, MPI_INT, peer, TAG_GO, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
    } else {
        CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
        to(!x);
        CHECK_OK(MPI_Send(&go, 1, MPI_INT, peer, TAG_GO, comm));
    }
    for (int i = 0; i < n; i++)
        CHECK(out[i] == check_size * (check_size - 1) / 2 + check_size * i);
}

/* Even ranks block in a collective of the other model which odd ranks enter when their message has
 * arrived. */
static void blocked_in_barrier(int x, int n, MPI_Comm comm)
{
    MPI_Request q;

    to(x);
    if (check_rank % 2 == 0) {
        check_fill(data, n, check_rank, n);
        CHECK_OK(MPI_Isend(data, n, MPI_INT, peer, TAG_DATA, comm, &q));
        to(!x);
        CHECK_OK(MPI_Barrier(comm));
        CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
    } else {
        CHECK_OK(MPI_Recv(data, n, MPI_INT, peer, TAG_DATA, comm, MPI_STATUS_IGNORE));
        CHECK(check_filled(data, n, peer, n));
        to(!x);
        CHECK_OK(MPI_Barrier(comm));
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    check_begin(&argc, &argv);
    if (check_size % 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    peer = check_rank ^ 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int x = 0; x < 2; x++) {
        for (int n = 1; n <= MOST; n = n < 100000 ? n * 10 : n * 3) {
            message(x, n, comm);
            TIME("message");
            receive(x, n, comm);
            TIME("receive");
            blocked_in_barrier(x, n, comm);
            TIME("barrier");
        }
        for (int n = 1; n <= 4096; n *= 16) {
            collective(x, n, comm);
            TIME("collective");
        }
    }
    MPI_Comm_free(&comm);
    return check_end("progress");
}
