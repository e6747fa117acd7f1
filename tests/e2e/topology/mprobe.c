/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no np=4 */
/* Matched probes: what they take, no other receive gets; also when the model changes before the message is
 * received. */
#include "../programs/check.h"

enum { LARGE = 100000 };
static int left, right;

/* Sizes on both sides of the eager limit, received after a collective. */
static void one(int count)
{
    static int out[LARGE], in[LARGE];
    MPI_Request sending;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int n = -1;

    check_fill(out, count, check_rank, count);
    memset(in, 0, sizeof in);
    CHECK_OK(MPI_Isend(out, count, MPI_INT, right, 4, MPI_COMM_WORLD, &sending));
    CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status));
    CHECK(message != MPI_MESSAGE_NULL && status.MPI_SOURCE == left && status.MPI_TAG == 4);
    MPI_Get_count(&status, MPI_INT, &n);
    CHECK(n == count);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    memset(&status, 0, sizeof status);
    CHECK_OK(MPI_Mrecv(in, count, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == left && status.MPI_TAG == 4);
    MPI_Get_count(&status, MPI_INT, &n);
    CHECK(n == count && check_filled(in, count, left, count));
    CHECK_OK(MPI_Wait(&sending, MPI_STATUS_IGNORE));
    TIME("one");
}

/* The probed message is overtaken by the next one with the same tag, on purpose. */
static void overtaken(void)
{
    int first = 10 * check_rank + 1, second = 10 * check_rank + 2, a = 0, b = 0, flag = 0;
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;

    CHECK_OK(MPI_Send(&first, 1, MPI_INT, right, 6, MPI_COMM_WORLD));
    CHECK_OK(MPI_Send(&second, 1, MPI_INT, right, 6, MPI_COMM_WORLD));
    while (!flag)
        CHECK_OK(MPI_Improbe(left, 6, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Recv(&b, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK(b == 10 * left + 2 && status.MPI_TAG == 6);
    CHECK_OK(MPI_Imrecv(&a, 1, MPI_INT, &message, &request));
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(a == 10 * left + 1 && status.MPI_SOURCE == left && status.MPI_TAG == 6 &&
          request == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Improbe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &message, &status));
    CHECK(!flag);
    TIME("overtaken");
}

/* Several at once, received in reverse order together with an ordinary receive. */
static void together(void)
{
    int out[4], in[4] = {0};
    MPI_Message messages[3];
    MPI_Request requests[4];
    MPI_Status statuses[4];

    CHECK_OK(MPI_Irecv(&in[3], 1, MPI_INT, left, 9, MPI_COMM_WORLD, &requests[3]));
    for (int i = 0; i < 4; i++) {
        out[i] = check_value(check_rank, i, 5);
        CHECK_OK(MPI_Send(&out[i], 1, MPI_INT, right, i == 3 ? 9 : 10 + i, MPI_COMM_WORLD));
    }
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Mprobe(left, 10 + i, MPI_COMM_WORLD, &messages[i], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 2; i >= 0; i--)
        CHECK_OK(MPI_Imrecv(&in[i], 1, MPI_INT, &messages[i], &requests[i]));
    CHECK_OK(MPI_Waitall(4, requests, statuses));
    for (int i = 0; i < 4; i++)
        CHECK(in[i] == check_value(left, i, 5) && statuses[i].MPI_SOURCE == left &&
              statuses[i].MPI_TAG == (i == 3 ? 9 : 10 + i));
    TIME("together");
}

/* A receive that is asked for again and again, one that cannot be cancelled any more, and one that is freed.
 */
static void asked(void)
{
    int out[3], in[3] = {0}, flag = 0, cancelled = 1;
    MPI_Message message;
    MPI_Request requests[3];
    MPI_Status status;

    check_fill(out, 3, check_rank, 6);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Send(&out[i], 1, MPI_INT, right, 20 + i, MPI_COMM_WORLD));
        CHECK_OK(MPI_Mprobe(left, 20 + i, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Imrecv(&in[i], 1, MPI_INT, &message, &requests[i]));
    }
    while (!flag)
        CHECK_OK(MPI_Test(&requests[0], &flag, &status));
    CHECK(requests[0] == MPI_REQUEST_NULL && status.MPI_SOURCE == left && status.MPI_TAG == 20);
    CHECK_OK(MPI_Cancel(&requests[1]));
    CHECK_OK(MPI_Wait(&requests[1], &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(!cancelled && status.MPI_TAG == 21);
    CHECK_OK(MPI_Request_free(&requests[2]));
    CHECK(requests[2] == MPI_REQUEST_NULL);
    for (int i = 0; i < 10000 && !check_filled(in, 3, left, 6); i++) /* MPI does not say when it is there */
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(check_filled(in, 3, left, 6));
    TIME("asked");
}

/* Into every second element, and fewer elements than there is room for. */
static void gaps(void)
{
    MPI_Datatype vector;
    MPI_Message message;
    MPI_Status status;
    int out[6], in[40], n = -1;

    CHECK_OK(MPI_Type_vector(3, 1, 2, MPI_INT, &vector));
    CHECK_OK(MPI_Type_commit(&vector));
    check_fill(out, 6, check_rank, 8);
    memset(in, -1, sizeof in);
    CHECK_OK(MPI_Send(out, 6, MPI_INT, right, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Mprobe(left, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Mrecv(in, 4, vector, &message, &status));
    MPI_Get_count(&status, vector, &n);
    CHECK(n == 2);
    for (int i = 0; i < 3; i++)
        CHECK(in[2 * i] == check_value(left, i, 8) && in[5 + 2 * i] == check_value(left, 3 + i, 8));
    CHECK(in[1] == -1 && in[3] == -1 && in[11] == -1);
    MPI_Type_free(&vector);
    TIME("gaps");
}

static void no_source(void)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request;
    MPI_Status status;
    int n = -1, flag = 0, value = 7;

    status.MPI_ERROR = MPI_ERR_DIMS; /* not touched by calls with one status */
    CHECK_OK(MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status));
    CHECK(status.MPI_ERROR == MPI_ERR_DIMS);
    CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL &&
          status.MPI_TAG == MPI_ANY_TAG);
    CHECK_OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
    MPI_Get_count(&status, MPI_INT, &n);
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL && n == 0 && value == 7);
    CHECK_OK(MPI_Improbe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &message, &status));
    CHECK(flag && message == MPI_MESSAGE_NO_PROC);
    CHECK_OK(MPI_Imrecv(&value, 1, MPI_INT, &message, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && value == 7);
}

static void too_long(void)
{
    int out[4] = {1, 2, 3, 4}, in[4] = {0}, class = 0;
    MPI_Message message;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Send(out, 4, MPI_INT, right, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Mprobe(left, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    MPI_Error_class(MPI_Mrecv(in, 2, MPI_INT, &message, MPI_STATUS_IGNORE), &class);
    CHECK(class == MPI_ERR_TRUNCATE && in[2] == 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    left = (check_rank + check_size - 1) % check_size;
    right = (check_rank + 1) % check_size;
    one(0);
    one(10);
    one(3000);
    one(LARGE);
    overtaken();
    together();
    asked();
    gaps();
    no_source();
    MPI_Barrier(MPI_COMM_WORLD);
    too_long();
    TIME("end");
    return check_end("mprobe");
}
