/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none stock=no */
/* A message longer than its receive is an error of the receiver, in every model. */
#include "check.h"

static int class_of(int code)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(code, &class);
    return class;
}

/* A message longer than the receive: the receiver gets MPI_ERR_TRUNCATE, and its buffer is not overrun. */
static void truncated(MPI_Comm comm)
{
    int out[4] = {1, 2, 3, 4}, in[4] = {9, 9, 9, 9}, right = (check_rank + 1) % check_size;
    MPI_Request q;
    MPI_Status status;

    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    MPI_Irecv(in, 2, MPI_INT, MPI_ANY_SOURCE, 1, comm, &q);
    CHECK_OK(MPI_Send(out, 4, MPI_INT, right, 1, comm));
    CHECK(class_of(MPI_Wait(&q, &status)) == MPI_ERR_TRUNCATE);
    CHECK(in[2] == 9 && in[3] == 9);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    check_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    truncated(comm);
    MPI_Comm_free(&comm);
    TIME("end");
    return check_end("truncate");
}
