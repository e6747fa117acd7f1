/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own */
/* e2e: switch=own stock=no args=testany */
/*
 * Arrays of requests with mixed owners: half of them start in one model, half in the other, and every wait
 * and test call must complete them, with the right statuses, whichever model is in force by then. Testany is
 * on its own, because stock SMPI's says "nothing is active" while sends still are.
 */
#include "check.h"

enum { N = 12, MOST = 50000 };

static int in[N][MOST], out[N][MOST];
static int right, left;

/* Message i has its own length; some need a rendezvous. */
static int length(int i)
{
    static const int lengths[4] = {1, 300, 9000, MOST};

    return lengths[i % 4];
}

/* Requests i and N + i are a receive and its neighbour's send. Both sides start pair i in the same model. */
static void start(MPI_Request *q, int round, MPI_Comm comm)
{
    for (int i = 0; i < N; i++) {
        int n = length(i);

        if ((i + round) % 2)
            SWITCH_A();
        else
            SWITCH_B();
        check_fill(out[i], n, check_rank, i + round);
        memset(in[i], 0, n * sizeof(int));
        CHECK_OK(MPI_Irecv(in[i], MOST, MPI_INT, i % 3 ? left : MPI_ANY_SOURCE, i, comm, &q[i]));
        CHECK_OK(MPI_Isend(out[i], n, MPI_INT, right, i, comm, &q[N + i]));
    }
}

static void status_of(const MPI_Status *status, int i)
{
    int count;

    if (i >= N) /* the status of a send has no source and tag */
        return;
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK(status->MPI_SOURCE == left && status->MPI_TAG == i && count == length(i));
}

static void with_waitany(MPI_Request *q)
{
    MPI_Status status;
    int index, seen = 0;

    for (int k = 0; k < 2 * N; k++) {
        CHECK_OK(MPI_Waitany(2 * N, q, &index, &status));
        CHECK(index >= 0 && index < 2 * N && !(seen & 1 << index));
        if (index < 0 || index >= 2 * N)
            return;
        seen |= 1 << index;
        CHECK(q[index] == MPI_REQUEST_NULL);
        status_of(&status, index);
    }
    CHECK_OK(MPI_Waitany(2 * N, q, &index, &status));
    CHECK(index == MPI_UNDEFINED);
}

/* Waitsome and Testsome. */
static void with_some(MPI_Request *q, int test)
{
    MPI_Status status[2 * N];
    int indices[2 * N], n, total = 0;

    while (total < 2 * N) {
        if (test)
            CHECK_OK(MPI_Testsome(2 * N, q, &n, indices, status));
        else
            CHECK_OK(MPI_Waitsome(2 * N, q, &n, indices, status));
        CHECK(n >= !test && n <= 2 * N - total);
        if (n < 0 || n > 2 * N - total)
            return;
        for (int k = 0; k < n; k++) {
            CHECK(q[indices[k]] == MPI_REQUEST_NULL);
            status_of(&status[k], indices[k]);
        }
        total += n;
    }
}

static void with_waitall(MPI_Request *q)
{
    MPI_Status status[2 * N];

    CHECK_OK(MPI_Waitall(2 * N, q, status));
    for (int i = 0; i < 2 * N; i++)
        status_of(&status[i], i);
}

/* Testall leaves all or takes all. */
static void with_testall(MPI_Request *q)
{
    MPI_Status status[2 * N];
    int flag;

    for (;;) {
        CHECK_OK(MPI_Testall(2 * N, q, &flag, status));
        if (flag)
            break;
        for (int i = 0; i < 2 * N; i++)
            CHECK(q[i] != MPI_REQUEST_NULL);
    }
    for (int i = 0; i < 2 * N; i++)
        status_of(&status[i], i);
}

static void with_testany(MPI_Request *q)
{
    MPI_Status status;
    int index, flag;

    for (int done = 0; done < 2 * N;) {
        CHECK_OK(MPI_Testany(2 * N, q, &index, &flag, &status));
        if (!flag)
            continue;
        CHECK(index != MPI_UNDEFINED);
        if (index == MPI_UNDEFINED)
            return;
        status_of(&status, index);
        done++;
    }
}

static void one_by_one(MPI_Request *q)
{
    MPI_Status status;
    int flag;

    for (int i = 2 * N - 1; i >= 0; i--) {
        if (i % 2) {
            CHECK_OK(MPI_Wait(&q[i], &status));
        } else {
            do
                CHECK_OK(MPI_Test(&q[i], &flag, &status));
            while (!flag);
        }
        status_of(&status, i);
    }
}

int main(int argc, char **argv)
{
    MPI_Request q[2 * N];
    MPI_Comm comm;

    check_begin(&argc, &argv);
    right = (check_rank + 1) % check_size;
    left = (check_rank + check_size - 1) % check_size;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int round = 0; round < 12; round++) {
        start(q, round, comm);
        switch (argc > 1 ? 5 : round % 6) {
        case 0:
            with_waitany(q);
            break;
        case 1:
            with_some(q, 0);
            break;
        case 2:
            with_some(q, 1);
            break;
        case 3:
            with_waitall(q);
            break;
        case 4:
            with_testall(q);
            break;
        case 5:
            if (argc > 1)
                with_testany(q);
            else
                one_by_one(q);
        }
        for (int i = 0; i < N; i++)
            CHECK(check_filled(in[i], length(i), left, i + round));
        for (int i = 0; i < 2 * N; i++)
            CHECK(q[i] == MPI_REQUEST_NULL);
        MPI_Barrier(comm);
        TIME("round");
    }
    MPI_Comm_free(&comm);
    return check_end("mixed");
}
