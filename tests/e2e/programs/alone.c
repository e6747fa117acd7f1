/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any np=1 */
/* One rank alone: messages to itself in all modes, however they are waited for, collectives of one member,
 * communicators. tests/e2e/self runs it as well. */
#include "check.h"

enum { TAG = 5, MANY = 100 };

static int out[MANY], in[MANY];

static void fresh(int salt)
{
    check_fill(out, MANY, 0, salt);
    memset(in, 0, sizeof in);
}

static void modes(MPI_Comm comm)
{
    int (*const sends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                         MPI_Request *) = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
    char buffer[10000];
    void *back;
    int size;
    CHECK_OK(MPI_Buffer_attach(buffer, sizeof buffer));
    for (int mode = 0; mode < 4; mode++) {
        MPI_Request requests[2];
        MPI_Status status[2];
        fresh(mode);
        CHECK_OK(
            MPI_Irecv(in, MANY, MPI_INT, mode % 2 ? MPI_ANY_SOURCE : 0, MPI_ANY_TAG, comm, &requests[0]));
        CHECK_OK(sends[mode](out, MANY, MPI_INT, 0, TAG, comm, &requests[1]));
        CHECK_OK(MPI_Waitall(2, requests, status));
        CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
        CHECK(status[0].MPI_SOURCE == 0 && status[0].MPI_TAG == TAG);
        CHECK(check_filled(in, MANY, 0, mode));
    }
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    CHECK(back == buffer && size == sizeof buffer);
}

/* In the order of the sends, by tag, and by whatever comes first. */
static void matching(MPI_Comm comm)
{
    static const int tags[] = {3, 1, 2, 1}, wanted[] = {1, MPI_ANY_TAG, 1, 2}, values[] = {1, 0, 3, 2};
    MPI_Request requests[4];
    MPI_Status status;
    int flag, count;
    for (int i = 0; i < 4; i++) {
        out[i] = i;
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, 0, tags[i], comm, &requests[i]));
    }
    CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, 2, comm, &status));
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 2);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 1);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(MPI_Recv(in, 2, MPI_INT, 0, wanted[i], comm, &status));
        CHECK(in[0] == values[i] && status.MPI_TAG == tags[values[i]]);
    }
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    CHECK_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
}

static void waits(MPI_Comm comm)
{
    MPI_Request requests[3];
    MPI_Status status[3];
    int flag, index, indices[3], count;
    fresh(20);
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, 0, i, comm, &requests[i]));
    CHECK_OK(MPI_Testall(3, requests, &flag, status));
    CHECK(!flag);
    CHECK_OK(MPI_Testany(3, requests, &index, &flag, status));
    CHECK(!flag);
    CHECK_OK(MPI_Send(&out[1], 1, MPI_INT, 0, 1, comm));
    CHECK_OK(MPI_Waitany(3, requests, &index, status));
    CHECK(index == 1 && in[1] == out[1] && status[0].MPI_TAG == 1);
    CHECK_OK(MPI_Test(&requests[0], &flag, status));
    CHECK(!flag);
    CHECK_OK(MPI_Send(&out[2], 1, MPI_INT, 0, 2, comm));
    CHECK_OK(MPI_Waitsome(3, requests, &count, indices, status));
    CHECK(count == 1 && indices[0] == 2 && in[2] == out[2]);
    CHECK_OK(MPI_Cancel(&requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], status));
    CHECK_OK(MPI_Test_cancelled(status, &flag));
    CHECK(flag);
    CHECK_OK(MPI_Waitany(3, requests, &index, status));
    CHECK(index == MPI_UNDEFINED);
}

static void persistent(MPI_Comm comm)
{
    MPI_Request requests[2];
    CHECK_OK(MPI_Recv_init(in, MANY, MPI_INT, 0, TAG, comm, &requests[0]));
    CHECK_OK(MPI_Ssend_init(out, MANY, MPI_INT, 0, TAG, comm, &requests[1]));
    for (int i = 0; i < 3; i++) {
        fresh(30 + i);
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(check_filled(in, MANY, 0, 30 + i));
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

/* A type with gaps, and MPI_PROC_NULL. */
static void corners(MPI_Comm comm)
{
    MPI_Datatype column;
    MPI_Status status;
    int count, value = 9;
    fresh(40);
    MPI_Type_vector(10, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    CHECK_OK(MPI_Sendrecv(out, 1, column, 0, TAG, in, 20, MPI_INT, 0, TAG, comm, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 10);
    for (int i = 0; i < 10; i++)
        CHECK(in[i] == out[2 * i]);
    MPI_Type_free(&column);
    CHECK_OK(
        MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, in, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    CHECK_OK(MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, TAG, 0, TAG, comm, MPI_STATUS_IGNORE));
    CHECK(value == 9);
}

static void collectives(MPI_Comm comm)
{
    MPI_Request request;
    int one = MANY, at = 0, part = 5, place = 3;
    fresh(50);
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Bcast(out, MANY, MPI_INT, 0, comm));
#define COPIES(call)                                                                                         \
    memset(in, 0, sizeof in);                                                                                \
    CHECK_OK(call);                                                                                          \
    CHECK(check_filled(in, MANY, 0, 50))
    COPIES(MPI_Gather(out, MANY, MPI_INT, in, MANY, MPI_INT, 0, comm));
    COPIES(MPI_Gatherv(out, MANY, MPI_INT, in, &one, &at, MPI_INT, 0, comm));
    COPIES(MPI_Scatter(out, MANY, MPI_INT, in, MANY, MPI_INT, 0, comm));
    COPIES(MPI_Scatterv(out, &one, &at, MPI_INT, in, MANY, MPI_INT, 0, comm));
    COPIES(MPI_Allgather(out, MANY, MPI_INT, in, MANY, MPI_INT, comm));
    COPIES(MPI_Allgatherv(out, MANY, MPI_INT, in, &one, &at, MPI_INT, comm));
    COPIES(MPI_Alltoall(out, MANY, MPI_INT, in, MANY, MPI_INT, comm));
    COPIES(MPI_Alltoallv(out, &one, &at, MPI_INT, in, &one, &at, MPI_INT, comm));
    COPIES(MPI_Reduce(out, in, MANY, MPI_INT, MPI_SUM, 0, comm));
    COPIES(MPI_Allreduce(out, in, MANY, MPI_INT, MPI_MAX, comm));
    COPIES(MPI_Scan(out, in, MANY, MPI_INT, MPI_SUM, comm));
    COPIES(MPI_Reduce_scatter(out, in, &one, MPI_INT, MPI_SUM, comm));
    COPIES(MPI_Reduce_scatter_block(out, in, MANY, MPI_INT, MPI_SUM, comm));
    COPIES((MPI_Iallreduce(out, in, MANY, MPI_INT, MPI_MIN, comm, &request),
            MPI_Wait(&request, MPI_STATUS_IGNORE)));
    COPIES((MPI_Iallgather(out, MANY, MPI_INT, in, MANY, MPI_INT, comm, &request),
            MPI_Wait(&request, MPI_STATUS_IGNORE)));
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, in, MANY, MPI_INT, MPI_SUM, comm));
    CHECK(check_filled(in, MANY, 0, 50));
    CHECK_OK(MPI_Gatherv(out, part, MPI_INT, in, &part, &place, MPI_INT, 0, comm));
    CHECK(in[3] == out[0] && in[7] == out[4] && in[8] == out[8]);
    CHECK_OK(MPI_Ibarrier(comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void communicators(void)
{
    MPI_Comm comm, other;
    int dims = 1, periods = 1, size;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    modes(comm);
    matching(comm);
    CHECK_OK(MPI_Comm_split(comm, 3, 0, &other));
    collectives(other);
    CHECK_OK(MPI_Comm_size(other, &size));
    CHECK(size == 1);
    CHECK_OK(MPI_Comm_free(&other));
    CHECK_OK(MPI_Cart_create(comm, 1, &dims, &periods, 0, &other));
    collectives(other);
    CHECK_OK(MPI_Comm_free(&other));
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    modes(MPI_COMM_WORLD);
    TIME("modes");
    matching(MPI_COMM_SELF);
    waits(MPI_COMM_WORLD);
    TIME("waits");
    persistent(MPI_COMM_WORLD);
    corners(MPI_COMM_WORLD);
    TIME("corners");
    collectives(MPI_COMM_WORLD);
    TIME("collectives");
    communicators();
    TIME("communicators");
    return check_end("alone");
}
