/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any np=4 */
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
    for (int n = 10; n <= 90000; n *= 30) { /* every second element */
        MPI_Datatype vector;
        CHECK_OK(MPI_Type_vector(n, 1, 2, MPI_INT, &vector));
        CHECK_OK(MPI_Type_commit(&vector));
        check_fill(data, 2 * n, check_rank, n);
        CHECK_OK(MPI_Sendrecv_replace(data, 1, vector, right, 2, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(data[2 * n - 2] == check_value(left, 2 * n - 2, n));
        CHECK(data[1] == check_value(check_rank, 1, n));
        MPI_Type_free(&vector);
        TIME("vector");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    TIME("end");
    return check_end("replace_times");
}
