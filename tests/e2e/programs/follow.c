/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own */
/* e2e: switch=own stock=no args=matched */
/* e2e: switch=any */
/* Every rank switches where it likes (-agree follow): the second side of a message follows the first, in the
 * order that MPI promises. Each function is one rule. The first two run before anybody has switched. */
#include "check.h"
#include <unistd.h>

enum { LARGE = 60000, ROUNDS = 12 };

static unsigned dice = 1;

/* At random, differently on each rank. */
static void flip(void)
{
    dice = dice * 1103515245u + 12345u;
    if (dice >> 16 & 1)
        SWITCH_A();
    else
        SWITCH_B();
}

static void send(int value, int to, int tag)
{
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, to, tag, MPI_COMM_WORLD));
}

static int receive(int from, int tag, MPI_Status *status)
{
    int value = -1;

    CHECK_OK(MPI_Recv(&value, 1, MPI_INT, from, tag, MPI_COMM_WORLD, status));
    return value;
}

/* Wildcards are pending when a rank switches: until they are over, all stays in the first model. */
static void pending_wildcards(void)
{
    int got[4] = {-1, -1, -1, -1};
    MPI_Request requests[4];
    MPI_Status statuses[4];

    if (check_rank == 0) {
        MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&got[1], 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[1]);
        MPI_Irecv(&got[2], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[2]);
        MPI_Irecv(&got[3], 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[3]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 1) {
        SWITCH_B();
        for (int i = 0; i < 5; i++)
            send(i, 0, i == 2 ? 6 : 5);
        SWITCH_A();
        send(5, 0, 5);
    } else if (check_rank == 0) {
        CHECK_OK(MPI_Wait(&requests[3], &statuses[3]));
        SWITCH_B();
        CHECK_OK(MPI_Waitall(3, requests, statuses));
        for (int i = 0; i < 4; i++)
            CHECK(got[i] == i && statuses[i].MPI_SOURCE == 1 && statuses[i].MPI_TAG == (i == 2 ? 6 : 5));
        CHECK(receive(MPI_ANY_SOURCE, 5, &statuses[0]) == 4 && statuses[0].MPI_SOURCE == 1);
        CHECK(receive(1, MPI_ANY_TAG, &statuses[0]) == 5 && statuses[0].MPI_TAG == 5);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What was sent and posted before the first switch meets what comes after it, in order. */
static void leftovers(MPI_Comm comm)
{
    int values[6] = {0, 1, 2, 3, 4, 5}, tags[6] = {1, 2, 1, 3, 9, 8}, got[6], order[4] = {1, 0, 2, 3};
    MPI_Request requests[2], sends[6];
    MPI_Status status;

    if (check_rank == 3) {
        MPI_Irecv(&got[4], 1, MPI_INT, 2, 9, comm, &requests[0]);
        MPI_Irecv(&got[5], 1, MPI_INT, 2, 8, comm, &requests[1]);
    }
    if (check_rank == 2)
        for (int i = 0; i < 4; i++)
            MPI_Isend(&values[i], 1, MPI_INT, 3, tags[i], comm, &sends[i]);
    MPI_Barrier(comm);
    pending_wildcards();
    flip();
    if (check_rank == 2) {
        for (int i = 4; i < 6; i++)
            MPI_Isend(&values[i], 1, MPI_INT, 3, tags[i], comm, &sends[i]);
        CHECK_OK(MPI_Waitall(6, sends, MPI_STATUSES_IGNORE));
    } else if (check_rank == 3) {
        for (int i = 0; i < 4; i++) { /* 2 by its tag, then the others as they were sent */
            flip();
            CHECK_OK(MPI_Recv(&got[order[i]], 1, MPI_INT, i == 1 ? MPI_ANY_SOURCE : 2, i ? MPI_ANY_TAG : 2,
                              comm, &status));
            CHECK(status.MPI_SOURCE == 2 && status.MPI_TAG == tags[order[i]]);
        }
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < 6; i++)
            CHECK(got[i] == i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Messages do not overtake each other across models, whichever side comes first. */
static void order_of_messages(int posted)
{
    static int out[ROUNDS][LARGE], in[ROUNDS][LARGE];
    MPI_Request requests[ROUNDS];
    MPI_Status status;

    for (int phase = 0; phase < 2; phase++) {
        for (int i = 0; check_rank < 2 && check_rank == (phase == posted) && i < ROUNDS; i++) {
            flip();
            if (check_rank == 0) { /* the receiver knows the order by its content */
                check_fill(out[i], LARGE, 0, i);
                MPI_Isend(out[i], i % 3 ? i : LARGE, MPI_INT, 1, i % 2, MPI_COMM_WORLD, &requests[i]);
            } else {
                MPI_Irecv(in[i], LARGE, MPI_INT, i % 4 ? 0 : MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                          &requests[i]);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; check_rank < 2 && i < ROUNDS; i++) {
        int k = check_rank ? ROUNDS - 1 - i : i, n;
        flip();
        CHECK_OK(MPI_Wait(&requests[k], &status));
        if (check_rank == 0)
            continue;
        MPI_Get_count(&status, MPI_INT, &n);
        CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == k % 2 && n == (k % 3 ? k : LARGE));
        CHECK(check_filled(in[k], n, 0, k));
    }
}

/* Many workers, one server, all of them switching. Requests of one worker are served in order. */
static void server(int specific)
{
    int next[64] = {0}, left = ROUNDS * (check_size - 1), value;
    MPI_Status status;
    MPI_Request extra = MPI_REQUEST_NULL;

    if (check_rank == 0) {
        if (specific) /* competes with the wildcards */
            MPI_Irecv(&value, 1, MPI_INT, 1, 21, MPI_COMM_WORLD, &extra);
        for (; left > specific; left--) {
            flip();
            int got = receive(MPI_ANY_SOURCE, 21, &status), from = status.MPI_SOURCE;
            CHECK(from > 0 && from < check_size && status.MPI_TAG == 21);
            CHECK(got == next[from] + (specific && from == 1));
            next[from]++;
            flip();
            send(2 * got, from, 22);
        }
        if (specific) {
            CHECK_OK(MPI_Wait(&extra, &status));
            CHECK(value == 0 && status.MPI_SOURCE == 1);
            send(0, 1, 22);
        }
    } else {
        for (int i = 0; i < ROUNDS; i++) {
            flip();
            send(i, 0, 21);
            if (specific && check_rank == 1) /* the answers come when the server likes */
                continue;
            flip();
            CHECK(receive(0, 22, &status) == 2 * i);
        }
        for (int i = 0; specific && check_rank == 1 && i < ROUNDS; i++)
            CHECK(receive(0, 22, &status) % 2 == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A probe waits for whatever is sent first, in any model, and Iprobe finds what MPI_Recv will take. */
static void probes(void)
{
    MPI_Status status;
    int flag = 0, n;

    for (int i = 0; i < ROUNDS; i++) {
        flip();
        if (check_rank == 0) {
            if (i % 2)
                usleep(100);
            send(i, 1, i);
            send(i + 100, 1, i);
        } else if (check_rank == 1) {
            if (i % 3)
                CHECK_OK(MPI_Probe(i % 2 ? 0 : MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            else
                for (flag = 0; !flag;)
                    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &flag, &status));
            MPI_Get_count(&status, MPI_INT, &n);
            CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == i && n == 1);
            flip();
            CHECK(receive(status.MPI_SOURCE, status.MPI_TAG, &status) == i);
            flip();
            CHECK(receive(MPI_ANY_SOURCE, i, &status) == i + 100);
            CHECK_OK(MPI_Iprobe(0, 77, MPI_COMM_WORLD, &flag, &status));
            CHECK(!flag);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A rank that polls for a later message still takes part in a collective that the others wait for. */
static void progress_in_probes(void)
{
    MPI_Request barrier;
    MPI_Status status;
    int flag = 0;

    for (int i = 0; i < 2; i++) {
        if (i)
            SWITCH_A();
        else
            SWITCH_B();
        CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &barrier));
        for (flag = 0; check_rank == 1 && !flag;)
            CHECK_OK(MPI_Iprobe(0, 81, MPI_COMM_WORLD, &flag, &status));
        CHECK_OK(MPI_Wait(&barrier, MPI_STATUS_IGNORE));
        if (check_rank == 0)
            send(i, 1, 81);
        else if (check_rank == 1)
            CHECK(receive(0, 81, &status) == i);
    }
}

/* A posted receive without a message is cancelled; one that has a message receives it. */
static void cancels(void)
{
    MPI_Request requests[2];
    MPI_Status status;
    int values[2] = {-1, -1}, flag;

    for (int i = 0; i < ROUNDS; i++) {
        flip();
        if (check_rank == 1) {
            MPI_Irecv(&values[0], 1, MPI_INT, i % 2 ? 0 : MPI_ANY_SOURCE, 31, MPI_COMM_WORLD, &requests[0]);
            MPI_Irecv(&values[1], 1, MPI_INT, 0, 32, MPI_COMM_WORLD, &requests[1]);
            flip();
            MPI_Cancel(&requests[0]);
            CHECK_OK(MPI_Wait(&requests[0], &status));
            MPI_Test_cancelled(&status, &flag);
            CHECK(flag);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == 0) {
            flip();
            send(i, 1, 32);
            send(i, 1, 31);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == 1) {
            MPI_Cancel(&requests[1]); /* too late */
            CHECK_OK(MPI_Wait(&requests[1], &status));
            MPI_Test_cancelled(&status, &flag);
            CHECK(!flag && values[1] == i);
            CHECK(receive(0, 31, &status) == i);
        }
    }
}

/* Persistent requests decide at each start, and MPI_Sendrecv may run in two models at once. */
static void started_again(void)
{
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, out, in,
        both[2];
    MPI_Request requests[2];
    MPI_Status status;

    MPI_Recv_init(&in, 1, MPI_INT, from, 41, MPI_COMM_WORLD, &requests[0]);
    MPI_Ssend_init(&out, 1, MPI_INT, to, 41, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < ROUNDS; i++) {
        int first = (check_rank + i) % 2;
        out = 100 * check_rank + i;
        flip();
        CHECK_OK(MPI_Start(&requests[first]));
        flip();
        CHECK_OK(MPI_Start(&requests[!first]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(in == 100 * from + i);
        flip();
        CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, to, 42, &in, 1, MPI_INT, i % 2 ? from : MPI_ANY_SOURCE, 42,
                              MPI_COMM_WORLD, &status));
        CHECK(in == 100 * from + i && status.MPI_SOURCE == from && status.MPI_TAG == 42);
        both[0] = check_rank;
        both[1] = i;
        flip();
        CHECK_OK(MPI_Sendrecv_replace(both, 2, MPI_INT, to, 43, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        CHECK(both[0] == from && both[1] == i && status.MPI_SOURCE == from && status.MPI_TAG == 43);
        MPI_Barrier(MPI_COMM_WORLD); /* the wildcards are for one round */
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* A buffered send must not wait for the receiver although the one before it is in another model. */
static void buffered(void)
{
    static int large[LARGE], in[LARGE];
    int size = 4 * (LARGE * (int)sizeof(int) + MPI_BSEND_OVERHEAD), one = 7;
    void *buffer = malloc((size_t)size);
    MPI_Request request;
    MPI_Status status;

    CHECK_OK(MPI_Buffer_attach(buffer, size));
    for (int i = 0; i < 4; i++) {
        if (check_rank == 0) {
            check_fill(large, LARGE, 0, i);
            flip();
            CHECK_OK(MPI_Bsend(large, LARGE, MPI_INT, 1, 51, MPI_COMM_WORLD));
            memset(large, 0, sizeof(large));
            flip();
            CHECK_OK(MPI_Ibsend(&one, 1, MPI_INT, 1, 52, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else if (check_rank == 1) {
            flip();
            CHECK(receive(0, 52, &status) == 7);
            flip();
            CHECK_OK(MPI_Recv(in, LARGE, MPI_INT, 0, 51, MPI_COMM_WORLD, &status));
            CHECK(check_filled(in, LARGE, 0, i));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_OK(MPI_Buffer_detach(&buffer, &size));
    free(buffer);
}

/* Ready and synchronous sends, and a rank's messages to itself. */
static void other_sends(void)
{
    int value = -1, mine;
    MPI_Request requests[2];
    MPI_Status status;

    for (int i = 0; i < ROUNDS; i++) {
        mine = 1000 * check_rank + i;
        flip();
        MPI_Isend(&mine, 1, MPI_INT, check_rank, 61, MPI_COMM_WORLD, &requests[0]);
        flip();
        MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 61, MPI_COMM_WORLD, &requests[1]);
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(value == mine);
        flip();
        if (check_rank == 0)
            MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 62, MPI_COMM_WORLD, &requests[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == check_size - 1) {
            CHECK_OK(MPI_Rsend(&mine, 1, MPI_INT, 0, 62, MPI_COMM_WORLD));
            flip();
            CHECK_OK(MPI_Ssend(&mine, 1, MPI_INT, 0, 63, MPI_COMM_WORLD));
        } else if (check_rank == 0) {
            CHECK_OK(MPI_Wait(&requests[0], &status));
            CHECK(value == 1000 * (check_size - 1) + i && status.MPI_SOURCE == check_size - 1);
            CHECK(receive(MPI_ANY_SOURCE, MPI_ANY_TAG, &status) == value && status.MPI_TAG == 63);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* What a matched probe takes, no receive gets, and it is received in its own model. */
static void matched(void)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;
    int flag, value, n;

    for (int i = 0; i < ROUNDS; i++) {
        flip();
        if (check_rank == 0) {
            send(i, 1, 71);
            flip();
            send(i + 50, 1, 71);
        } else if (check_rank == 1) {
            if (i % 2)
                CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, 71, MPI_COMM_WORLD, &message, &status));
            else
                for (flag = 0; !flag;)
                    CHECK_OK(MPI_Improbe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status));
            MPI_Get_count(&status, MPI_INT, &n);
            CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 71 && n == 1);
            flip();
            CHECK(receive(0, 71, &status) == i + 50);
            flip();
            memset(&status, 0, sizeof(status));
            if (i % 4 < 2) {
                CHECK_OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
            } else {
                CHECK_OK(MPI_Imrecv(&value, 1, MPI_INT, &message, &request));
                CHECK_OK(MPI_Wait(&request, &status));
            }
            CHECK(value == i && status.MPI_SOURCE == 0 && status.MPI_TAG == 71);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm early;

    check_begin(&argc, &argv);
    dice = 17u + 1000u * (unsigned)check_rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &early);
    leftovers(early);
    TIME("plain");
    order_of_messages(0);
    order_of_messages(1);
    server(0);
    server(1);
    TIME("server");
    probes();
    progress_in_probes();
    cancels();
    TIME("probes");
    started_again();
    buffered();
    TIME("buffered");
    if (argc > 1)
        matched();
    else
        other_sends();
    MPI_Comm_free(&early);
    TIME("end");
    return check_end("follow");
}
