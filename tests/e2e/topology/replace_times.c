/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=coll np=4 */
/* What stock SMPI can do of MPI_Sendrecv_replace takes the time that it takes there. */
#include "../programs/check.h"

int main(int argc, char **argv)
{
    static int data[200000];

    check_begin(&argc, &argv);
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    for (int n = 1; n <= 200000; n *= 11) {
        check_fill(data, n, check_rank, n);
        CHECK_OK(
            MPI_Sendrecv_replace(data, n, MPI_INT, right, 1, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(check_filled(data, n, left, n));
        TIME("replace");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    TIME("end");
    return check_end("replace_times");
}
