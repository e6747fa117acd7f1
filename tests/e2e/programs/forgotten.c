/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no np=2 */
/* e2e: switch=own stock=no np=2 */
/* Sends whose requests are freed at once: their messages arrive all the same, also when the receive comes
 * late. */
#include "check.h"

#include <unistd.h>

enum { N = 6, MOST = 100000 };

static int out[N][MOST], in[MOST];

int main(int argc, char **argv)
{
    MPI_Request request;
    int n = 1;

    check_begin(&argc, &argv);
    for (int k = 0; k < N; k++, n *= 10) {
        if (check_rank == 0) {
            MPI_Comm other;

            check_fill(out[k], n, 0, k);
            CHECK_OK(MPI_Isend(out[k], n, MPI_INT, 1, k, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Request_free(&request));
            CHECK(request == MPI_REQUEST_NULL);
            CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &other)); /* takes the memory of what is gone */
            if (k % 2)
                SWITCH_B();
            else
                SWITCH_A();
            CHECK_OK(MPI_Comm_free(&other));
        }
    }
    if (check_rank == 1)
        usleep(100);
    for (int k = 0; k < N && check_rank == 1; k++) {
        int last = N - 1 - k, count = 1;

        for (int i = 0; i < last; i++)
            count *= 10;
        CHECK_OK(MPI_Recv(in, MOST, MPI_INT, 0, last, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(check_filled(in, count, 0, last));
        if (k % 2)
            SWITCH_A();
        else
            SWITCH_B();
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return check_end("forgotten");
}
