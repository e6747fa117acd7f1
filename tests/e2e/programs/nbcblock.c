/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own */
/*
 * A nonblocking collective goes on while some of its ranks are inside blocking calls: a long send, a
 * collective, a probe. The rank that they wait for completes the nonblocking collective first. Stock
 * mtl/portals4 spins without it in a send.
 */
#include "check.h"

enum { MOST = 20000 };

static int in[MOST], out[8 * MOST];

/* Rank 1 waits for the pending collective before it does its part of the blocking one. */
static void before(MPI_Request *q, int late)
{
    if (check_rank == late)
        CHECK_OK(MPI_Wait(q, MPI_STATUS_IGNORE));
}

static void sends(int n)
{
    if (check_rank == 1) {
        for (int r = 0; r < check_size; r++)
            if (r != 1) {
                CHECK_OK(MPI_Recv(out, n, MPI_INT, r, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                CHECK(check_filled(out, n, r, n));
            }
    } else {
        check_fill(in, n, check_rank, n);
        CHECK_OK(MPI_Send(in, n, MPI_INT, 1, 7, MPI_COMM_WORLD));
    }
}

static void probes(int n)
{
    MPI_Status status;

    if (check_rank == 1) {
        check_fill(in, n, 1, n);
        for (int r = 0; r < check_size; r++)
            if (r != 1)
                CHECK_OK(MPI_Send(in, n, MPI_INT, r, 8, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &status));
        CHECK_OK(MPI_Recv(out, n, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(check_filled(out, n, 1, n));
    }
}

static void blocking(int kind, int n)
{
    switch (kind) {
    case 0:
        sends(n);
        break;
    case 1:
        probes(n);
        break;
    case 2:
        CHECK_OK(MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, 1, MPI_COMM_WORLD));
        break;
    case 3:
        CHECK_OK(MPI_Bcast(in, n, MPI_INT, 1, MPI_COMM_WORLD));
        break;
    case 4:
        CHECK_OK(MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD));
        break;
    case 5:
        CHECK_OK(MPI_Allreduce(in, out, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
        break;
    default:
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (check_size < 2 || check_size > 8)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int kind = 0; kind < 7; kind++)
        for (int n = 1; n <= MOST; n *= 20)
            for (int mixed = 0; mixed < 2; mixed++) {
                MPI_Request q[2];
                int one = 1, sum = 0, list[8], least = -1;

                SWITCH_B();
                CHECK_OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q[0]));
                CHECK_OK(MPI_Iallgather(&check_rank, 1, MPI_INT, list, 1, MPI_INT, MPI_COMM_WORLD, &q[1]));
                before(&q[0], 1);
                if (mixed)
                    SWITCH_A();
                blocking(kind, n);
                CHECK_OK(MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
                CHECK(sum == check_size);
                for (int r = 0; r < check_size; r++)
                    CHECK(list[r] == r);
                CHECK_OK(MPI_Allreduce(&one, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
                CHECK(least == 1);
            }
    TIME("end");
    return check_end("nbcblock");
}
