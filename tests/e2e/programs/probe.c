/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any */
/* Probe and Iprobe with wildcards, on messages of unknown length and order, and cancelled receives. */
#include "check.h"

enum { MOST = 60000 };

static int buffer[MOST];

/* The message from rank r has length(r) numbers and tag 10 + r; two of them are long enough for a
 * rendezvous. */
static int length(int r)
{
    return r % 2 ? 5 + r : 20000 + r;
}

/* Receives what the probe announced and checks it. */
static int receive(const MPI_Status *probed, MPI_Comm comm)
{
    MPI_Status status;
    int from = probed->MPI_SOURCE, count, received;

    CHECK_OK(MPI_Get_count(probed, MPI_INT, &count));
    CHECK(from > 0 && from < check_size && probed->MPI_TAG == 10 + from);
    CHECK(count == length(from));
    if (count > MOST || count < 0)
        return from;
    CHECK_OK(MPI_Recv(buffer, count, MPI_INT, from, probed->MPI_TAG, comm, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &received));
    CHECK(received == count && status.MPI_SOURCE == from && status.MPI_TAG == 10 + from);
    CHECK(check_filled(buffer, count, from, 3));
    return from;
}

static void collect(MPI_Comm comm, int how)
{
    MPI_Status status;
    int flag, seen = 0;

    for (int i = 1; i < check_size; i++) {
        switch (how) {
        case 0:
            CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
            break;
        case 1:
            CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, 10 + i, comm, &status));
            break;
        case 2:
            CHECK_OK(MPI_Probe(check_size - i, MPI_ANY_TAG, comm, &status));
            break;
        default:
            do
                CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status));
            while (!flag);
        }
        seen |= 1 << receive(&status, comm);
    }
    CHECK(seen == (1 << check_size) - 2);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Request q;
    MPI_Status status;
    int flag;

    check_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int how = 0; how < 4; how++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == 0) {
            collect(comm, how);
        } else {
            check_fill(buffer, length(check_rank), check_rank, 3);
            CHECK_OK(MPI_Send(buffer, length(check_rank), MPI_INT, 0, 10 + check_rank, comm));
        }
        TIME(how < 3 ? "probe" : "iprobe");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    CHECK_OK(MPI_Iprobe(MPI_PROC_NULL, 0, comm, &flag, &status));
    CHECK(flag && status.MPI_SOURCE == MPI_PROC_NULL);
    CHECK_OK(MPI_Irecv(buffer, 1, MPI_INT, MPI_ANY_SOURCE, 999, comm, &q));
    CHECK_OK(MPI_Cancel(&q));
    CHECK_OK(MPI_Wait(&q, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    MPI_Comm_free(&comm);
    TIME("end");
    return check_end("probe");
}
