/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any np=4 stock=no */
/* MPI_Sendrecv_replace where implementations go wrong: no elements, no source, short messages,
 * gaps. */
#include "../programs/check.h"

static int left(void)
{
    return (check_rank + check_size - 1) % check_size;
}

static int right(void)
{
    return (check_rank + 1) % check_size;
}

static void nothing(void)
{
    MPI_Status status;
    int value = 42, count = -1;

    CHECK_OK(MPI_Sendrecv_replace(&value, 0, MPI_INT, right(), 1, left(), 1, MPI_COMM_WORLD, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 0 && status.MPI_SOURCE == left() && value == 42);
    CHECK_OK(MPI_Sendrecv_replace(NULL, 0, MPI_INT, right(), 1, left(), 1, MPI_COMM_WORLD, &status));
    TIME("nothing");
}

/* The ends of a line keep what they have. */
static void line(void)
{
    int to = check_rank + 1 < check_size ? check_rank + 1 : MPI_PROC_NULL;
    int from = check_rank > 0 ? check_rank - 1 : MPI_PROC_NULL, data[50], count = -1;
    MPI_Status status;

    check_fill(data, 50, check_rank, 3);
    CHECK_OK(MPI_Sendrecv_replace(data, 50, MPI_INT, to, 2, from, 2, MPI_COMM_WORLD, &status));
    CHECK(check_filled(data, 50, check_rank > 0 ? check_rank - 1 : 0, 3));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(status.MPI_SOURCE == from && count == (check_rank > 0 ? 50 : 0));
    TIME("line");
}

/* What a short message does not reach stays. */
static void shorter(void)
{
    int data[50], count = -1, peer = check_rank ^ 1;
    MPI_Status status;

    check_fill(data, 50, check_rank, 4);
    if (check_rank % 2 == 0)
        CHECK_OK(MPI_Sendrecv_replace(data, 50, MPI_INT, peer, 2, peer, 3, MPI_COMM_WORLD, &status));
    else
        CHECK_OK(MPI_Sendrecv(data, 10, MPI_INT, peer, 3, data + 10, 0, MPI_INT, MPI_PROC_NULL, 0,
                              MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (check_rank % 2 == 0) {
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == 10 && check_filled(data, 10, peer, 4) && data[49] == check_value(check_rank, 49, 4));
    } else {
        CHECK_OK(MPI_Recv(data, 50, MPI_INT, peer, 2, MPI_COMM_WORLD, &status));
        CHECK(check_filled(data, 50, peer, 4));
    }
    TIME("shorter");
}

/* Every second int, with an extent that is smaller than what the type covers. */
static void gaps(void)
{
    MPI_Datatype every_second, resized;
    int data[64];

    CHECK_OK(MPI_Type_vector(8, 1, 2, MPI_INT, &every_second));
    CHECK_OK(MPI_Type_create_resized(every_second, 0, sizeof(int), &resized));
    CHECK_OK(MPI_Type_commit(&resized));
    check_fill(data, 64, check_rank, 5);
    CHECK_OK(
        MPI_Sendrecv_replace(data, 2, resized, right(), 6, left(), 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 64; i++)
        CHECK(data[i] == check_value(i < 16 ? left() : check_rank, i, 5));
    MPI_Type_free(&every_second);
    MPI_Type_free(&resized);
    TIME("gaps");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    nothing();
    line();
    shorter();
    gaps();
    return check_end("replace");
}
