/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no */
/* Error handlers: codes that are returned, a handler of the user's own, classes and texts. */
#include "check.h"

static int calls, seen_class;
static MPI_Comm seen_comm;

static void handler(MPI_Comm *comm, int *code, ...)
{
    calls++;
    seen_comm = *comm;
    MPI_Error_class(*code, &seen_class);
}

static int class_of(int code)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(code, &class);
    return class;
}

static void returned(MPI_Comm comm)
{
    int x = 0;

    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK(class_of(MPI_Send(&x, 1, MPI_INT, check_size + 3, 0, comm)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Send(&x, -1, MPI_INT, 0, 0, comm)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Send(&x, 1, MPI_INT, 0, -5, comm)) == MPI_ERR_TAG);
    CHECK(class_of(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, comm)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Bcast(&x, 1, MPI_INT, check_size + 3, comm)) == MPI_ERR_ROOT);
}

static void own_handler(MPI_Comm comm)
{
    MPI_Errhandler h, got;
    int x = 0;

    CHECK_OK(MPI_Comm_create_errhandler(handler, &h));
    CHECK_OK(MPI_Comm_set_errhandler(comm, h));
    CHECK_OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == h);
    MPI_Errhandler_free(&got);
    CHECK_OK(MPI_Errhandler_free(&h));
    CHECK(h == MPI_ERRHANDLER_NULL);
    calls = 0;
    CHECK(class_of(MPI_Send(&x, 1, MPI_INT, check_size + 3, 0, comm)) == MPI_ERR_RANK);
    CHECK(calls == 1 && seen_comm == comm && seen_class == MPI_ERR_RANK);
    CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_TAG));
    CHECK(calls == 2 && seen_class == MPI_ERR_TAG);
}

static void texts(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, class, code;

    CHECK_OK(MPI_Error_string(MPI_ERR_TAG, text, &length));
    CHECK(length > 0 && (int)strlen(text) == length);
    CHECK_OK(MPI_Error_string(MPI_ERR_LASTCODE, text, &length)); /* programs ask for all of them */
    CHECK(length > 0);
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK_OK(MPI_Add_error_string(code, "out of tea"));
    CHECK(class_of(code) == class);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(!strcmp(text, "out of tea"));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    check_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    returned(comm);
    TIME("returned");
    own_handler(comm);
    TIME("own");
    texts();
    MPI_Comm_free(&comm);
    return check_end("errors");
}
