/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no np=2 */
/* e2e: switch=none stock=no mpirun=no np=2 exit=nonzero args=forever message=MPI_Wait */
/* Generalized requests: the application says when they are complete; also waited for together with
 * messages. */
#include "../programs/check.h"

struct work {
    int queried, freed, cancelled, complete_when_cancelled;
    int count;
};

static int query(void *state, MPI_Status *status)
{
    struct work *w = state;

    w->queried++;
    MPI_Status_set_elements(status, MPI_INT, w->count);
    MPI_Status_set_cancelled(status, w->cancelled);
    status->MPI_SOURCE = 17;
    status->MPI_TAG = 18;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    ((struct work *)state)->freed++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    ((struct work *)state)->cancelled = 1;
    ((struct work *)state)->complete_when_cancelled = complete;
    return MPI_SUCCESS;
}

static MPI_Request begin(struct work *w, int count)
{
    MPI_Request request;

    *w = (struct work){.count = count};
    CHECK_OK(MPI_Grequest_start(query, release, cancel, w, &request));
    CHECK(request != MPI_REQUEST_NULL);
    return request;
}

static void waited(void)
{
    struct work w;
    MPI_Request request = begin(&w, 5);
    MPI_Status status;
    int flag = 1, n = 0, cancelled = 1;

    CHECK_OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag && request != MPI_REQUEST_NULL && w.queried == 0);
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK(w.freed == 0);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL && w.queried == 1 && w.freed == 1);
    MPI_Get_count(&status, MPI_INT, &n);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(n == 5 && !cancelled && status.MPI_SOURCE == 17 && status.MPI_TAG == 18);
}

static void tested_and_cancelled(void)
{
    struct work w;
    MPI_Request request = begin(&w, 0);
    MPI_Status status;
    int flag = 0, cancelled = 0;

    CHECK_OK(MPI_Cancel(&request));
    CHECK(w.cancelled && !w.complete_when_cancelled);
    CHECK_OK(MPI_Grequest_complete(request));
    while (!flag)
        CHECK_OK(MPI_Test(&request, &flag, &status));
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled && w.freed == 1);
}

static void freed(void)
{
    struct work w;
    MPI_Request request = begin(&w, 0), copy = request;

    CHECK_OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL && w.freed == 0);
    CHECK_OK(MPI_Grequest_complete(copy));
    CHECK(w.freed == 1 && w.queried == 0);
}

/* With messages, in calls over several requests. */
static void mixed(void)
{
    struct work w[2];
    int peer = check_rank ^ 1, out = check_rank + 50, in = 0, index = -1, flag = 0, count = 0, which[4];
    MPI_Request requests[4] = {begin(&w[0], 3), MPI_REQUEST_NULL, MPI_REQUEST_NULL, begin(&w[1], 4)};
    MPI_Status statuses[4];

    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Testany(4, requests, &index, &flag, &statuses[0]));
    CHECK(!flag || index == 1);
    CHECK_OK(MPI_Isend(&out, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[2]));
    while (requests[1] != MPI_REQUEST_NULL) { /* the requests of the application are not complete */
        CHECK_OK(MPI_Waitany(4, requests, &index, &statuses[0]));
        CHECK(index == 1 || index == 2);
    }
    CHECK(in == peer + 50);
    CHECK_OK(MPI_Grequest_complete(requests[3]));
    CHECK_OK(MPI_Testall(4, requests, &flag, statuses));
    CHECK(!flag);
    CHECK_OK(MPI_Waitsome(4, requests, &count, which, statuses));
    CHECK(count >= 1 && requests[0] != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Grequest_complete(requests[0]));
    CHECK_OK(MPI_Waitall(4, requests, statuses));
    MPI_Get_count(&statuses[0], MPI_INT, &count);
    CHECK(count == 3 && w[0].freed == 1 && w[1].freed == 1);
    for (int i = 0; i < 4; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
}

static void wrong(void)
{
    int class = 0, x;
    MPI_Request request;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Irecv(&x, 1, MPI_INT, 0, 44, MPI_COMM_SELF, &request));
    MPI_Error_class(MPI_Grequest_complete(MPI_REQUEST_NULL), &class);
    CHECK(class == MPI_ERR_REQUEST);
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    struct work w;

    check_begin(&argc, &argv);
    if (argc > 1) { /* it is never completed */
        MPI_Request request = begin(&w, 0);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int round = 0; round < 3; round++) {
        waited();
        tested_and_cancelled();
        freed();
        mixed();
        MPI_Barrier(MPI_COMM_WORLD);
        TIME("round");
    }
    wrong();
    return check_end("grequest");
}
