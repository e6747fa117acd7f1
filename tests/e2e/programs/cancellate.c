/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no np=2 */
/*
 * A receive is cancelled when its message is already on the way: the message arrives, in this receive or in
 * the next.
 */
#include "check.h"

#include <unistd.h>

enum { MOST = 100000 };

static int buffer[MOST];

static void receive(int n, unsigned microseconds)
{
    MPI_Request request;
    MPI_Status status;
    int cancelled = 0, count = -1;

    memset(buffer, 0, sizeof buffer);
    CHECK_OK(MPI_Irecv(buffer, n, MPI_INT, 1, 3, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, 4, MPI_COMM_WORLD));
    usleep(microseconds);
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    if (cancelled)
        CHECK_OK(MPI_Recv(buffer, n, MPI_INT, 1, 3, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == n && status.MPI_SOURCE == 1 && status.MPI_TAG == 3);
    CHECK(check_filled(buffer, n, 1, n));
}

int main(int argc, char **argv)
{
    static const unsigned pauses[] = {0, 1, 3, 8, 30, 500};

    check_begin(&argc, &argv);
    for (int n = 1; n <= MOST; n *= 10)
        for (size_t i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
            if (check_rank == 0) {
                receive(n, pauses[i]);
            } else {
                CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                check_fill(buffer, n, 1, n);
                CHECK_OK(MPI_Send(buffer, n, MPI_INT, 0, 3, MPI_COMM_WORLD));
            }
        }
    return check_end("cancellate");
}
