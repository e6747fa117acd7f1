/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no */
/* What MPI promises and stock SMPI lacks or gets wrong: the middleware must mend it in every model. */
#include "check.h"

static void elements(void)
{
    MPI_Datatype pair;
    MPI_Status status;
    MPI_Count many;
    int numbers[6] = {1, 2, 3, 4, 5, 6}, got[6], n;

    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    CHECK_OK(MPI_Sendrecv(numbers, 3, MPI_INT, 0, 1, got, 3, pair, 0, 1, MPI_COMM_SELF, &status));
    CHECK_OK(MPI_Get_count(&status, pair, &n));
    CHECK(n == MPI_UNDEFINED);
    CHECK_OK(MPI_Get_elements(&status, pair, &n));
    CHECK(n == 3);
    CHECK_OK(MPI_Get_elements_x(&status, pair, &many));
    CHECK(many == 3);
    CHECK_OK(MPI_Sendrecv(numbers, 2, pair, 0, 1, got, 3, pair, 0, 1, MPI_COMM_SELF, &status));
    CHECK_OK(MPI_Get_count(&status, pair, &n));
    CHECK(n == 2);
    CHECK_OK(MPI_Get_elements(&status, MPI_INT, &n));
    CHECK(n == 4);
    MPI_Type_free(&pair);
}

/* Null and empty requests are complete at once, with an empty status. */
static void nothing_to_wait_for(void)
{
    MPI_Request none = MPI_REQUEST_NULL, list[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    int flag = 0, index = 5, indices[2], outcount = 5, count;

    CHECK_OK(MPI_Test(&none, &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    flag = 0;
    CHECK_OK(MPI_Test(&none, &flag, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && count == 0);
    CHECK_OK(MPI_Wait(&none, &status));
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    CHECK_OK(MPI_Waitany(2, list, &index, &status));
    CHECK(index == MPI_UNDEFINED);
    index = 5;
    flag = 0;
    CHECK_OK(MPI_Testany(2, list, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(flag && index == MPI_UNDEFINED);
    CHECK_OK(MPI_Waitsome(2, list, &outcount, indices, MPI_STATUSES_IGNORE));
    CHECK(outcount == MPI_UNDEFINED);
    CHECK_OK(MPI_Testsome(2, list, &outcount, indices, MPI_STATUSES_IGNORE));
    CHECK(outcount == MPI_UNDEFINED);
    flag = 0;
    CHECK_OK(MPI_Testall(2, list, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    CHECK_OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
}

/* Looking at the status of a request leaves it as it is. */
static void get_status(void)
{
    MPI_Request q;
    MPI_Status status;
    int flag = 0, x = 5, y = 0;

    CHECK_OK(MPI_Irecv(&y, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &q));
    CHECK_OK(MPI_Request_get_status(q, &flag, &status));
    CHECK(!flag);
    CHECK_OK(MPI_Send(&x, 1, MPI_INT, 0, 3, MPI_COMM_SELF));
    while (!flag)
        CHECK_OK(MPI_Request_get_status(q, &flag, &status));
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 3 && q != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Wait(&q, &status));
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 3 && q == MPI_REQUEST_NULL && y == 5);
    flag = 0;
    CHECK_OK(MPI_Request_get_status(q, &flag, &status));
    CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE);
}

static void empty_replace(void)
{
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    MPI_Status status;

    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Sendrecv_replace(NULL, 0, MPI_INT, right, 4, left, 4, MPI_COMM_WORLD, &status));
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 4);
}

static void sizes(void)
{
    int size;
    MPI_Aint lb, extent;

    CHECK_OK(MPI_Type_size(MPI_DOUBLE_INT, &size));
    CHECK(size == 12);
    CHECK_OK(MPI_Type_get_extent(MPI_DOUBLE_INT, &lb, &extent));
    CHECK(lb == 0 && extent == 16);
    CHECK_OK(MPI_Type_size(MPI_SHORT_INT, &size));
    CHECK(size == 6);
}

static void idup(void)
{
    MPI_Comm copy;
    MPI_Request q;
    int one = 1, sum = 0;

    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &q);
    CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy));
    CHECK(sum == check_size);
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    elements();
    nothing_to_wait_for();
    get_status();
    empty_replace();
    sizes();
    idup();
    TIME("end");
    return check_end("beyond");
}
