/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own stock=no */
/* A user-defined operation outlives MPI_Op_free while reductions that use it are pending across a switch. */
#include "ranges.h"

/* A reduction starts in each model; the operation is freed, the model switched, and then both are
 * completed. */
static void pending(void)
{
    static range_t in[2][N], out[2][N];
    MPI_Request q[2];
    MPI_Op op;

    CHECK_OK(MPI_Op_create(join, 1, &op));
    fill(in[0]);
    fill(in[1]);
    SWITCH_A();
    CHECK_OK(MPI_Iallreduce(in[0], out[0], N, range_type, op, MPI_COMM_WORLD, &q[0]));
    SWITCH_B();
    CHECK_OK(MPI_Iallreduce(in[1], out[1], N, range_type, op, MPI_COMM_WORLD, &q[1]));
    CHECK_OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL);
    SWITCH_A();
    CHECK_OK(MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
    CHECK(joined(out[0]) && joined(out[1]));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    make_type();
    for (int round = 0; round < 5; round++) {
        pending();
        TIME("pending");
    }
    MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(calls > 0 || check_size == 1);
    CHECK(wrong_types == 0);
    MPI_Type_free(&range_type);
    return check_end("oplife");
}
