/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles that mean nothing any more, and requests that are completed twice. */
#include "faults.h"

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)length, (void)type;
}

static void exchange(const char *which)
{
    int out = 1, in = 0, flag = 0, other = 1 - rank;
    MPI_Request requests[2], copy;

    MPI_Irecv(&in, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &requests[0]);
    copy = requests[0];
    CASE("array")
    {
        requests[1] = wrong && rank == 0 ? requests[0] : MPI_REQUEST_NULL;
        MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        if (flag) /* the message has not been sent */
            printf("wrong answer\n");
    }
    MPI_Send(&out, 1, MPI_INT, other, 3, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CASE("twice")
    {
        /* Another request must not hide that the old one is gone. */
        MPI_Irecv(&in, 1, MPI_INT, other, 4, MPI_COMM_WORLD, &requests[1]);
        if (wrong)
            MPI_Wait(&copy, MPI_STATUS_IGNORE);
        MPI_Send(&out, 1, MPI_INT, other, 4, MPI_COMM_WORLD);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    const char *which = begin(argc, argv);
    int n, one = 1, sum;

    CASE("comm")
    {
        MPI_Comm comm, copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        copy = comm;
        MPI_Comm_free(&comm);
        MPI_Comm_size(wrong ? copy : MPI_COMM_WORLD, &n);
    }
    CASE("fatal")
    {
        MPI_Comm comm, copy;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        copy = comm;
        MPI_Comm_free(&comm);
        MPI_Comm_size(wrong ? copy : MPI_COMM_WORLD, &n);
    }
    CASE("reused")
    {
        MPI_Datatype old, copy, young;
        MPI_Type_contiguous(3, MPI_INT, &old);
        copy = old;
        MPI_Type_free(&old);
        MPI_Type_contiguous(5, MPI_INT, &young);
        MPI_Type_commit(wrong ? &copy : &young);
        MPI_Type_free(&young);
    }
    CASE("group")
    {
        MPI_Group group, copy;
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        copy = group;
        MPI_Group_size(group, &n);
        MPI_Group_free(&group);
        if (wrong)
            MPI_Group_size(copy, &n);
    }
    CASE("op")
    {
        MPI_Op op, copy;
        MPI_Op_create(add, 1, &op);
        copy = op;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
        MPI_Op_free(&op);
        if (wrong)
            MPI_Allreduce(&one, &sum, 1, MPI_INT, copy, MPI_COMM_WORLD);
    }
    CASE("contents")
    {
        /* A type that was freed, and comes back out of another one: it may be used until it is freed again.
         */
        MPI_Datatype inner, outer, again, copy;
        int integers[1];
        MPI_Type_contiguous(3, MPI_INT, &inner);
        MPI_Type_contiguous(2, inner, &outer);
        MPI_Type_free(&inner);
        MPI_Type_get_contents(outer, 1, 0, 1, integers, NULL, &again);
        MPI_Type_size(again, &n);
        copy = again;
        MPI_Type_free(&again);
        if (wrong)
            MPI_Type_size(copy, &n);
        MPI_Type_free(&outer);
    }
    CASE("info")
    {
        MPI_Info info, copy;
        MPI_Info_create(&info);
        copy = info;
        MPI_Info_free(&info);
        if (wrong)
            MPI_Info_set(copy, "key", "value");
    }
    CASE("win")
    {
        MPI_Win win, copy;
        MPI_Win_create(&n, sizeof n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        copy = win;
        MPI_Win_free(&win);
        if (wrong)
            MPI_Win_fence(0, copy);
    }
    CASE("request")
    {
        MPI_Request request, copy;
        MPI_Send_init(&n, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &request);
        copy = request;
        MPI_Request_free(&request);
        if (wrong)
            MPI_Wait(&copy, MPI_STATUS_IGNORE);
    }
    CASE("foreign")
    {
        MPI_Comm_size(wrong ? (MPI_Comm)(void *)((char *)0 + 0x7654320) : MPI_COMM_WORLD, &n);
    }
    CASE("kind")
    {
        MPI_Group group;
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        MPI_Comm_size(wrong ? (MPI_Comm)(void *)group : MPI_COMM_WORLD, &n);
        MPI_Group_free(&group);
    }
    if (strcmp(which, "twice") == 0 || strcmp(which, "array") == 0)
        exchange(which);
    MPI_Finalize();
    return 0;
}
