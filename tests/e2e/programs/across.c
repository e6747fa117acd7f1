/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own */
/* e2e: switch=own mpirun=no args=pending */
/*
 * Objects across switches: communicators and datatypes made in one model are used, copied, cut and freed in
 * the other, with nonblocking collectives pending on them all the while.
 */
#include "check.h"

static void to(int b)
{
    if (b)
        SWITCH_B();
    else
        SWITCH_A();
}

/* A collective and a message in the model in force. */
static void use(MPI_Comm comm, MPI_Datatype column)
{
    int rank, size, sum = 0, in[9], out[9];

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size * (size - 1) / 2);
    check_fill(out, 9, rank, 4);
    memset(in, 0, sizeof(in));
    CHECK_OK(MPI_Sendrecv(out, 1, column, (rank + 1) % size, 6, in, 3, MPI_INT, (rank + size - 1) % size, 6,
                          comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; i++)
        CHECK(in[i] == check_value((rank + size - 1) % size, 3 * i, 4));
}

/* Makes everything in model `first`; the generations that follow alternate. */
static void generations(int first, int free_pending)
{
    MPI_Comm world, half, copy;
    MPI_Datatype column, shadow;
    MPI_Request q[3];
    int a[2], b[2], c[2], in[2] = {check_rank, 1}, n = check_size;

    to(first);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Type_vector(3, 1, 3, MPI_INT, &column));
    CHECK_OK(MPI_Type_commit(&column));
    CHECK_OK(MPI_Iallreduce(in, a, 2, MPI_INT, MPI_SUM, world, &q[0]));
    to(!first);
    use(world, column);
    CHECK_OK(MPI_Comm_split(world, check_rank % 2, check_rank, &half));
    CHECK_OK(MPI_Type_create_hvector(1, 1, 4, column, &shadow));
    CHECK_OK(MPI_Type_commit(&shadow));
    CHECK_OK(MPI_Type_free(&column));
    CHECK_OK(MPI_Iallreduce(in, b, 2, MPI_INT, MPI_SUM, half, &q[1]));
    use(half, shadow);
    to(first);
    use(half, shadow);
    CHECK_OK(MPI_Comm_dup(half, &copy));
    if (!free_pending)
        CHECK_OK(MPI_Wait(&q[1], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&half));
    CHECK_OK(MPI_Iallreduce(in, c, 2, MPI_INT, MPI_SUM, copy, &q[2]));
    use(copy, shadow);
    to(!first);
    use(copy, shadow);
    use(world, shadow);
    CHECK_OK(MPI_Waitall(3, q, MPI_STATUSES_IGNORE));
    CHECK(a[0] == n * (n - 1) / 2 && a[1] == n);
    CHECK(b[1] == (n + !(check_rank % 2)) / 2 && c[1] == b[1] && c[0] == b[0]);
    CHECK_OK(MPI_Comm_free(&world));
    to(first);
    use(copy, shadow);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Type_free(&shadow));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int round = 0; round < 6; round++) {
        generations(round % 2, argc > 1);
        TIME("generation");
    }
    return check_end("across");
}
