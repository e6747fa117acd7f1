/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects that are not freed. */
#include "faults.h"

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)length, (void)type;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

int main(int argc, char **argv)
{
    const char *which = begin(argc, argv);
    int cell = 0;

    CASE("comm")
    {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_name(comm, "halo");
        if (!wrong)
            MPI_Comm_free(&comm);
    }
    CASE("group")
    {
        MPI_Group group;
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        if (!wrong)
            MPI_Group_free(&group);
    }
    CASE("datatype")
    {
        MPI_Datatype type;
        MPI_Type_contiguous(4, MPI_INT, &type);
        MPI_Type_set_name(type, "row");
        if (!wrong)
            MPI_Type_free(&type);
    }
    CASE("many")
    {
        for (int i = 0; i < 10; i++) {
            MPI_Datatype type;
            MPI_Type_contiguous(4, MPI_INT, &type);
            if (!wrong)
                MPI_Type_free(&type);
        }
    }
    CASE("op")
    {
        MPI_Op op;
        MPI_Op_create(add, 1, &op);
        if (!wrong)
            MPI_Op_free(&op);
    }
    CASE("win")
    {
        MPI_Win win;
        MPI_Win_create(&cell, sizeof cell, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_fence(0, win);
        MPI_Win_fence(0, win);
        if (!wrong)
            MPI_Win_free(&win);
    }
    CASE("file")
    {
        MPI_File file;
        MPI_File_open(MPI_COMM_SELF, "check_leaks.tmp",
                      MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
        if (!wrong)
            MPI_File_close(&file);
    }
    CASE("info")
    {
        MPI_Info info;
        MPI_Info_create(&info);
        if (!wrong)
            MPI_Info_free(&info);
    }
    CASE("errhandler")
    {
        MPI_Errhandler errhandler;
        MPI_Comm_create_errhandler(handler, &errhandler);
        if (!wrong)
            MPI_Errhandler_free(&errhandler);
    }
    CASE("keyval")
    {
        int keyval;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
        if (!wrong)
            MPI_Comm_free_keyval(&keyval);
    }
    CASE("request")
    {
        MPI_Request request;
        if (rank == 0)
            MPI_Irecv(&cell, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &request);
        else if (!wrong)
            MPI_Send(&cell, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
        if (!wrong && rank == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CASE("persistent")
    {
        MPI_Request request;
        MPI_Send_init(&cell, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &request);
        if (!wrong)
            MPI_Request_free(&request);
    }
    MPI_Finalize();
    return 0;
}
