/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any */
/* Point-to-point in all modes and sizes, between barriers, so that a schedule may switch at any
 * collective. */
#include "check.h"

enum { MOST = 300000, TAG = 7 };

static int out[MOST], in[MOST];
static int right, left;

/* Exchanges n numbers with the neighbours through `send` in a blocking mode; odd ranks receive first. */
static void blocking(int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm), int n, int salt)
{
    MPI_Status status;
    int count;

    check_fill(out, n, check_rank, salt);
    memset(in, 0, sizeof(int) * n);
    if (check_rank % 2 == 0)
        CHECK_OK(send(out, n, MPI_INT, right, TAG + salt, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(in, n, MPI_INT, left, TAG + salt, MPI_COMM_WORLD, &status));
    if (check_rank % 2 == 1)
        CHECK_OK(send(out, n, MPI_INT, right, TAG + salt, MPI_COMM_WORLD));
    CHECK(check_filled(in, n, left, salt));
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == TAG + salt);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == n);
}

static void nonblocking(int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *),
                        int n, int salt)
{
    MPI_Request q[2];
    MPI_Status status[2];
    int count;

    check_fill(out, n, check_rank, salt);
    memset(in, 0, sizeof(int) * n);
    CHECK_OK(MPI_Irecv(in, n, MPI_INT, left, TAG + salt, MPI_COMM_WORLD, &q[0]));
    CHECK_OK(send(out, n, MPI_INT, right, TAG + salt, MPI_COMM_WORLD, &q[1]));
    CHECK_OK(MPI_Waitall(2, q, status));
    CHECK(q[0] == MPI_REQUEST_NULL && q[1] == MPI_REQUEST_NULL);
    CHECK(check_filled(in, n, left, salt));
    CHECK(status[0].MPI_SOURCE == left && status[0].MPI_TAG == TAG + salt);
    MPI_Get_count(&status[0], MPI_INT, &count);
    CHECK(count == n);
}

static void buffered(int n, int salt)
{
    int bytes, got = 0;
    void *buffer, *back = NULL;

    MPI_Pack_size(n, MPI_INT, MPI_COMM_WORLD, &bytes);
    bytes = 2 * (bytes + MPI_BSEND_OVERHEAD) + 1024;
    buffer = malloc(bytes);
    CHECK_OK(MPI_Buffer_attach(buffer, bytes));
    blocking(MPI_Bsend, n, salt);
    nonblocking(MPI_Ibsend, n, salt);
    CHECK_OK(MPI_Buffer_detach(&back, &got));
    CHECK(back == buffer && got == bytes);
    free(buffer);
}

static void sendrecv(int n, int salt)
{
    MPI_Status status;

    check_fill(out, n, check_rank, salt);
    CHECK_OK(MPI_Sendrecv(out, n, MPI_INT, right, TAG, in, n, MPI_INT, left, TAG, MPI_COMM_WORLD, &status));
    CHECK(check_filled(in, n, left, salt));
    CHECK(status.MPI_SOURCE == left);
    if (n == 0) /* stock SMPI asserts; beyond.c has that case */
        return;
    CHECK_OK(MPI_Sendrecv_replace(in, n, MPI_INT, left, TAG, right, TAG, MPI_COMM_WORLD, &status));
    CHECK(check_filled(in, n, check_rank, salt));
    CHECK(status.MPI_SOURCE == right);
}

/* A synchronous send is not over before its receive has been posted, however long that takes. */
static void synchronous(void)
{
    MPI_Request request;
    int flag;

    if (check_rank % 2 == 0) {
        CHECK_OK(MPI_Issend(out, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &request));
        for (int i = 0; i < 10; i++) {
            CHECK_OK(MPI_Sendrecv(out, 1, MPI_INT, right, TAG + 1, in, 1, MPI_INT, right, TAG + 1,
                                  MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            CHECK(!flag);
        }
        CHECK_OK(MPI_Send(out, 1, MPI_INT, right, TAG + 2, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        for (int i = 0; i < 10; i++)
            CHECK_OK(MPI_Sendrecv(out, 1, MPI_INT, left, TAG + 1, in, 1, MPI_INT, left, TAG + 1,
                                  MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(in, 1, MPI_INT, left, TAG + 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(in, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

/* PROC_NULL, messages to oneself, a receive longer than the message, wildcards, order between equal tags. */
static void corners(void)
{
    MPI_Request q[4];
    MPI_Status status;
    int count;

    CHECK_OK(MPI_Send(out, 5, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(in, 5, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 0);
    check_fill(out, 10, check_rank, 1);
    CHECK_OK(MPI_Irecv(in, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &q[0]));
    CHECK_OK(MPI_Isend(out, 10, MPI_INT, 0, 3, MPI_COMM_SELF, &q[1]));
    CHECK_OK(MPI_Wait(&q[0], &status));
    CHECK_OK(MPI_Wait(&q[1], MPI_STATUS_IGNORE));
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 3 && check_filled(in, 10, check_rank, 1));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 10);
    for (int i = 0; i < 4; i++)
        check_fill(out + 100 * i, 50, check_rank, 20 + i);
    for (int i = 0; i < 4; i++)
        CHECK_OK(MPI_Isend(out + 100 * i, 50, MPI_INT, right, TAG, MPI_COMM_WORLD, &q[i]));
    for (int i = 0; i < 4; i++) {
        CHECK_OK(MPI_Recv(in, 50, MPI_INT, i % 2 ? MPI_ANY_SOURCE : left, i / 2 ? MPI_ANY_TAG : TAG,
                          MPI_COMM_WORLD, &status));
        CHECK(check_filled(in, 50, left, 20 + i));
        CHECK(status.MPI_SOURCE == left && status.MPI_TAG == TAG);
    }
    CHECK_OK(MPI_Waitall(4, q, MPI_STATUSES_IGNORE));
}

/* More long messages at once than stock mtl/portals4 has places for by default. */
static void many(void)
{
    enum { COUNT = 500, LENGTH = 600 }; /* COUNT * LENGTH = MOST */
    static MPI_Request q[2 * COUNT];

    for (int i = 0; i < COUNT; i++)
        MPI_Isend(out + i * LENGTH, LENGTH, MPI_INT, right, i, MPI_COMM_WORLD, &q[i]);
    for (int i = 0; i < COUNT; i++)
        MPI_Irecv(in + i * LENGTH, LENGTH, MPI_INT, left, i, MPI_COMM_WORLD, &q[COUNT + i]);
    MPI_Waitall(2 * COUNT, q, MPI_STATUSES_IGNORE);
}

/* A send to a receive that is posted does not overtake one before it, which is on its way behind longer ones.
 */
static void no_overtaking(void)
{
    static int room[4][6000];
    static char buffer[2000 + MPI_BSEND_OVERHEAD];
    MPI_Comm other, own;
    MPI_Request q[7];
    MPI_Status s[7];
    int first, second;
    void *old;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &other));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &own));
    CHECK_OK(MPI_Buffer_attach(buffer, sizeof buffer));
    CHECK_OK(MPI_Irecv(room[0], 5700, MPI_INT, MPI_ANY_SOURCE, 1, other, &q[0]));
    CHECK_OK(MPI_Isend(out, 5700, MPI_INT, 0, 1, other, &q[1]));
    CHECK_OK(MPI_Irecv(room[1], 186, MPI_INT, MPI_ANY_SOURCE, 2, own, &q[2]));
    CHECK_OK(MPI_Issend(out, 186, MPI_INT, 0, 2, own, &q[3]));
    CHECK_OK(MPI_Isend(out, 5, MPI_INT, 0, 3, own, &q[4]));
    CHECK_OK(MPI_Irecv(room[2], 5, MPI_INT, 0, 3, own, &q[5]));
    CHECK_OK(MPI_Irecv(room[3], 180, MPI_INT, 0, 3, own, &q[6]));
    CHECK_OK(MPI_Bsend(out, 180, MPI_INT, 0, 3, own));
    CHECK_OK(MPI_Waitall(7, q, s));
    CHECK_OK(MPI_Get_count(&s[5], MPI_INT, &first));
    CHECK_OK(MPI_Get_count(&s[6], MPI_INT, &second));
    CHECK(first == 5 && second == 180);
    CHECK_OK(MPI_Buffer_detach(&old, &first));
    CHECK_OK(MPI_Comm_free(&own));
    CHECK_OK(MPI_Comm_free(&other));
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 1, 100, 20000, MOST};

    check_begin(&argc, &argv);
    if (check_size % 2) /* odd rings would deadlock in the blocking modes */
        MPI_Abort(MPI_COMM_WORLD, 2);
    right = (check_rank + 1) % check_size;
    left = (check_rank + check_size - 1) % check_size;
    for (int s = 0; s < 5; s++) {
        int n = sizes[s];

        MPI_Barrier(MPI_COMM_WORLD);
        blocking(MPI_Send, n, 1);
        TIME("send");
        MPI_Barrier(MPI_COMM_WORLD);
        blocking(MPI_Ssend, n, 2);
        TIME("ssend");
        MPI_Barrier(MPI_COMM_WORLD);
        nonblocking(MPI_Isend, n, 3);
        TIME("isend");
        MPI_Barrier(MPI_COMM_WORLD);
        nonblocking(MPI_Issend, n, 4);
        TIME("issend");
        MPI_Barrier(MPI_COMM_WORLD);
        sendrecv(n, 5);
        TIME("sendrecv");
        MPI_Barrier(MPI_COMM_WORLD);
        buffered(n, 6);
        TIME("bsend");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    synchronous();
    TIME("synchronous");
    corners();
    TIME("corners");
    many();
    TIME("many");
    no_overtaking();
    return check_end("sendmodes");
}
