/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any np=2 stock=no */
/* Messages that end in a test are over, as those that end in a wait: nothing of them stays in memory, or is
 * searched by every operation that follows. (Stock SMPI keeps them.) */
#include "check.h"
#include <malloc.h>
#include <stdint.h>

enum { ROUNDS = 4, MESSAGES = 600 };

static void until_done(MPI_Request *request)
{
    int flag = 0;

    while (!flag)
        CHECK_OK(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
    CHECK(*request == MPI_REQUEST_NULL);
}

static void exchange(int count)
{
    for (int i = 0; i < count; i++) {
        MPI_Request requests[2];
        int in = -1, out = check_value(check_rank, i, 1);
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 1 - check_rank, 4, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Isend(&out, 1, MPI_INT, 1 - check_rank, 4, MPI_COMM_WORLD, &requests[1]));
        until_done(&requests[0]);
        until_done(&requests[1]);
        CHECK(in == check_value(1 - check_rank, i, 1));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    size_t least = SIZE_MAX;

    check_begin(&argc, &argv);
    for (int i = 0; i < ROUNDS; i++) { /* a model that starts takes memory, in one of them */
        size_t before = mallinfo2().uordblks;
        exchange(MESSAGES);
        size_t after = mallinfo2().uordblks, grown = after > before ? after - before : 0;
        least = grown < least ? grown : least;
    }
    CHECK(least < MESSAGES * 100L);
    return check_end("ended");
}
