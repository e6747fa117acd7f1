/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any np=8 */
/* Only what stock SMPI has of Cartesian communicators: their simulated times must be its own.
 * Shifts in what MPI_Cart_sub makes are left out: stock SMPI 3.32 divides by zero there. */
#include "../programs/check.h"

static void exchange(MPI_Comm grid, int direction)
{
    int source, dest, rank, out[5000], in[5000];

    MPI_Comm_rank(grid, &rank);
    CHECK_OK(MPI_Cart_shift(grid, direction, 1, &source, &dest));
    check_fill(out, 5000, rank, direction);
    CHECK_OK(
        MPI_Sendrecv(out, 5000, MPI_INT, dest, 5, in, 5000, MPI_INT, source, 5, grid, MPI_STATUS_IGNORE));
    CHECK(source == MPI_PROC_NULL || check_filled(in, 5000, source, direction));
    TIME("exchange");
}

int main(int argc, char **argv)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, keep_x[2] = {1, 0}, keep_y[2] = {0, 1}, small[1] = {5},
        sum = 0;
    MPI_Comm grid, part, few;

    check_begin(&argc, &argv);
    CHECK_OK(MPI_Dims_create(check_size, 2, dims));
    TIME("before");
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid));
    TIME("create");
    exchange(grid, 0);
    exchange(grid, 1);
    CHECK_OK(MPI_Cart_sub(grid, keep_x, &part));
    TIME("sub");
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, part));
    TIME("sum");
    MPI_Comm_free(&part);
    CHECK_OK(MPI_Cart_sub(grid, keep_y, &part));
    TIME("sub");
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, part));
    MPI_Comm_free(&part);
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, small, periods, 0, &few));
    TIME("few");
    CHECK((few == MPI_COMM_NULL) == (check_rank >= 5));
    if (few != MPI_COMM_NULL) {
        exchange(few, 0);
        MPI_Comm_free(&few);
    }
    MPI_Comm_free(&grid);
    MPI_Barrier(MPI_COMM_WORLD);
    TIME("end");
    return check_end("cart_times");
}
