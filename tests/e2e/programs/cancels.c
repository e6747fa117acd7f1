/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no np=2 */
/* e2e: switch=own stock=no np=2 */
/* A cancelled receive among others that are not: every way to wait for them all gives each its own fate. And
 * a cancelled send that a probe has seen. */
#include "check.h"

enum { N = 30000, WAYS = 6 };

static int buffers[3][N];
static MPI_Request requests[3];
static MPI_Status statuses[3];

static void start(int persistent)
{
    for (int i = 0; i < 3; i++) {
        memset(buffers[i], 0, sizeof buffers[i]);
        if (persistent) {
            CHECK_OK(MPI_Recv_init(buffers[i], N, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]));
            CHECK_OK(MPI_Start(&requests[i]));
        } else {
            CHECK_OK(MPI_Irecv(buffers[i], N, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]));
        }
    }
}

static void complete(int way)
{
    int flag = 0, done = 0, index, indices[3];
    MPI_Status some[3];

    if (way == 0 || way == 5) {
        CHECK_OK(MPI_Waitall(3, requests, statuses));
    } else if (way == 1) {
        for (; done < 3; done++) {
            CHECK_OK(MPI_Waitany(3, requests, &index, &some[0]));
            CHECK(index >= 0 && index < 3);
            statuses[index] = some[0];
        }
    } else if (way == 2) {
        while (done < 3) {
            CHECK_OK(MPI_Waitsome(3, requests, &flag, indices, some));
            for (int i = 0; i < flag; i++)
                statuses[indices[i]] = some[i];
            done += flag;
        }
    } else if (way == 3) {
        while (!flag) /* NOLINT(bugprone-infinite-loop) */
            CHECK_OK(MPI_Testall(3, requests, &flag, statuses));
    } else {
        for (int i = 2; i >= 0; i--)
            CHECK_OK(MPI_Wait(&requests[i], &statuses[i]));
    }
}

static void receive(int way, int cancelled)
{
    int flag, count;

    start(way == 5);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Cancel(&requests[cancelled]));
    MPI_Barrier(MPI_COMM_WORLD);
    complete(way);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Test_cancelled(&statuses[i], &flag));
        CHECK(flag == (i == cancelled));
        if (flag)
            continue;
        CHECK_OK(MPI_Get_count(&statuses[i], MPI_INT, &count));
        CHECK(statuses[i].MPI_SOURCE == 1 && statuses[i].MPI_TAG == i && count == N);
        CHECK(check_filled(buffers[i], N, 1, i));
        if (way == 5)
            CHECK_OK(MPI_Request_free(&requests[i]));
    }
    if (way == 5)
        CHECK_OK(MPI_Request_free(&requests[cancelled]));
}

static void transmit(int cancelled)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        if (i == cancelled)
            continue;
        check_fill(buffers[i], N, 1, i);
        CHECK_OK(MPI_Send(buffers[i], N, MPI_INT, 0, i, MPI_COMM_WORLD));
    }
}

/* A send that a probe has seen: it is cancelled, or it arrives. */
static void cancel_probed(void)
{
    MPI_Request send, receiving;
    MPI_Status sent, received;
    int flag = 0, cancelled, word = 0, number = 7;

    CHECK_OK(MPI_Issend(&number, 1, MPI_INT, check_rank, 3, MPI_COMM_WORLD, &send));
    while (!flag) /* NOLINT(bugprone-infinite-loop) */
        CHECK_OK(MPI_Iprobe(check_rank, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Cancel(&send));
    CHECK_OK(MPI_Irecv(&word, 1, MPI_INT, check_rank, 3, MPI_COMM_WORLD, &receiving));
    CHECK_OK(MPI_Wait(&send, &sent));
    CHECK_OK(MPI_Test_cancelled(&sent, &cancelled));
    if (cancelled)
        CHECK_OK(MPI_Cancel(&receiving));
    CHECK_OK(MPI_Wait(&receiving, &received));
    CHECK_OK(MPI_Test_cancelled(&received, &flag));
    CHECK(flag == cancelled && word == (cancelled ? 0 : number));
}

/* A send that may be cancelled does not take the place of the next one. */
static void send_after_cancelled(int n)
{
    MPI_Request send[2], receiving;
    MPI_Status status;
    int cancelled;

    check_fill(buffers[0], n, check_rank, 5);
    check_fill(buffers[1], n, check_rank, 6);
    CHECK_OK(MPI_Isend(buffers[0], n, MPI_INT, check_rank, 5, MPI_COMM_WORLD, &send[0]));
    CHECK_OK(MPI_Cancel(&send[0]));
    CHECK_OK(MPI_Isend(buffers[1], n, MPI_INT, check_rank, 5, MPI_COMM_WORLD, &send[1]));
    CHECK_OK(MPI_Irecv(buffers[2], n, MPI_INT, check_rank, 5, MPI_COMM_WORLD, &receiving));
    CHECK_OK(MPI_Wait(&send[0], &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK_OK(MPI_Wait(&receiving, MPI_STATUS_IGNORE));
    CHECK(check_filled(buffers[2], n, check_rank, cancelled ? 6 : 5));
    if (!cancelled)
        CHECK_OK(MPI_Recv(buffers[2], n, MPI_INT, check_rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&send[1], MPI_STATUS_IGNORE));
    CHECK(check_filled(buffers[2], n, check_rank, 6));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int way = 0; way < WAYS; way++)
        for (int cancelled = 0; cancelled < 3; cancelled++) {
            SWITCH_A();
            if (check_rank == 0)
                receive(way, cancelled);
            else
                transmit(cancelled);
            SWITCH_B();
            MPI_Barrier(MPI_COMM_WORLD);
        }
    cancel_probed();
    send_after_cancelled(1);
    send_after_cancelled(N);
    return check_end("cancels");
}
