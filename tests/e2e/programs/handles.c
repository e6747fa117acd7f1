/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no */
/* Handles as Fortran's integers and back, predefined and made by the program; what comes back still works. */
#include "check.h"

#define SAME(kind, handle) CHECK(MPI_##kind##_f2c(MPI_##kind##_c2f(handle)) == (handle))

static void sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void predefined(void)
{
    SAME(Comm, MPI_COMM_WORLD);
    SAME(Comm, MPI_COMM_SELF);
    SAME(Comm, MPI_COMM_NULL);
    SAME(Type, MPI_INT);
    SAME(Type, MPI_DATATYPE_NULL);
    SAME(Op, MPI_SUM);
    SAME(Op, MPI_OP_NULL);
    SAME(Group, MPI_GROUP_EMPTY);
    SAME(Group, MPI_GROUP_NULL);
    SAME(Info, MPI_INFO_NULL);
    SAME(Request, MPI_REQUEST_NULL);
    SAME(Win, MPI_WIN_NULL);
    SAME(File, MPI_FILE_NULL);
    SAME(Errhandler, MPI_ERRORS_RETURN);
    SAME(Message, MPI_MESSAGE_NULL);
    SAME(Message, MPI_MESSAGE_NO_PROC);
}

/* Only the numbers are kept between making and using. */
static void own(void)
{
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Info info;
    MPI_Fint c, t, o, i;
    int one[2] = {1, 2}, all[2] = {0, 0}, flag;
    char text[8];

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Op_create(sum, 1, &op));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "key", "value"));
    c = MPI_Comm_c2f(comm);
    t = MPI_Type_c2f(type);
    o = MPI_Op_c2f(op);
    i = MPI_Info_c2f(info);
    CHECK(c != MPI_Comm_c2f(MPI_COMM_WORLD) && c == MPI_Comm_c2f(comm));
    CHECK(MPI_Type_f2c(t) == type && MPI_Op_f2c(o) == op && MPI_Info_f2c(i) == info);
    CHECK_OK(MPI_Allreduce(one, all, 2, MPI_INT, MPI_Op_f2c(o), MPI_Comm_f2c(c)));
    CHECK(all[0] == check_size && all[1] == 2 * check_size);
    CHECK_OK(MPI_Bcast(one, 1, MPI_Type_f2c(t), 0, MPI_Comm_f2c(c)));
    CHECK_OK(MPI_Info_get(MPI_Info_f2c(i), "key", 7, text, &flag));
    CHECK(flag && !strcmp(text, "value"));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Comm_free(&comm));
}

static void group_and_errhandler(void)
{
    MPI_Group group;
    MPI_Errhandler handler;
    int size;

    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    CHECK_OK(MPI_Group_size(MPI_Group_f2c(MPI_Group_c2f(group)), &size));
    CHECK(size == check_size);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN))));
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &handler));
    CHECK(handler == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Errhandler_free(&handler));
}

/* A request and a message that are pending, a window; a status in Fortran's form. */
static void pending(void)
{
    MPI_Request send, receive;
    MPI_Message message;
    MPI_Status status, again;
    MPI_Win win;
    MPI_Fint number, fortran[32];
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size,
        got[2] = {0, 0}, count = 0, memory = 0;

    CHECK_OK(MPI_Irecv(&got[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &receive));
    CHECK_OK(MPI_Send(&check_rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD));
    number = MPI_Request_c2f(receive);
    receive = MPI_Request_f2c(number);
    CHECK_OK(MPI_Wait(&receive, &status));
    CHECK(got[0] == left);
    CHECK_OK(MPI_Status_c2f(&status, fortran));
    memset(&again, 0x55, sizeof again);
    CHECK_OK(MPI_Status_f2c(fortran, &again));
    CHECK_OK(MPI_Get_count(&again, MPI_INT, &count));
    CHECK(again.MPI_SOURCE == left && again.MPI_TAG == 1 && count == 1);
#ifndef OPEN_MPI /* whose mpi.h lacks it */
    MPI_F08_status modern;
    memset(&again, 0x55, sizeof again);
    CHECK_OK(MPI_Status_c2f08(&status, &modern));
    CHECK(modern.MPI_SOURCE == left && modern.MPI_TAG == 1);
    CHECK_OK(MPI_Status_f082f(&modern, fortran));
    memset(&modern, 0x55, sizeof modern);
    CHECK_OK(MPI_Status_f2f08(fortran, &modern));
    CHECK_OK(MPI_Status_f082c(&modern, &again));
    CHECK_OK(MPI_Get_count(&again, MPI_INT, &count));
    CHECK(again.MPI_SOURCE == left && again.MPI_TAG == 1 && count == 1);
#endif

    CHECK_OK(MPI_Isend(&check_rank, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &send));
    CHECK_OK(MPI_Mprobe(left, 2, MPI_COMM_WORLD, &message, &status));
    number = MPI_Message_c2f(message);
    message = MPI_Message_f2c(number);
    CHECK_OK(MPI_Mrecv(&got[1], 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK(got[1] == left && message == MPI_MESSAGE_NULL);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));

    CHECK_OK(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    number = MPI_Win_c2f(win);
    CHECK(MPI_Win_f2c(number) == win);
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    predefined();
    own();
    group_and_errhandler();
    pending();
    return check_end("handles");
}
