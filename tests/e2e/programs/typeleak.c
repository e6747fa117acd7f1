/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none np=2 stock=no mpirun=no */
/*
 * Derived types that were sent and freed leave nothing behind: nonblocking and persistent sends. (What the
 * stock implementations leave is theirs to report; a rank of theirs does not see the memory of the others.)
 */
#include <malloc.h>

#include "check.h"

enum { TYPES = 500, FEW = 100 };

static int out[40], in[40];

static void send_once(int i)
{
    MPI_Datatype type;
    MPI_Request requests[3];
    int other = 1 - check_rank;
    CHECK_OK(MPI_Type_vector(10, 1, 2, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Irecv(in, 1, type, other, 0, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Irecv(in + 20, 1, type, other, 1, MPI_COMM_WORLD, &requests[1]));
    out[0] = i;
    CHECK_OK(MPI_Send_init(out, 1, type, other, 0, MPI_COMM_WORLD, &requests[2]));
    CHECK_OK(MPI_Start(&requests[2]));
    CHECK_OK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&requests[2]));
    CHECK_OK(MPI_Isend(out, 1, type, other, 1, MPI_COMM_WORLD, &requests[2]));
    CHECK_OK(MPI_Type_free(&type)); /* while the messages are on their way */
    CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK(in[0] == i && in[20] == i);
}

static double in_use(void)
{
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return (double)mallinfo2().uordblks;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int i = 0; i < TYPES; i++)
        send_once(i);
    double before = in_use();
    for (int i = 0; i < TYPES; i++)
        send_once(i);
    CHECK((in_use() - before) / (2 * TYPES) < FEW);
    return check_end("typeleak");
}
