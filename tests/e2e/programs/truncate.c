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

/* Nothing after the first half is overwritten. (Open MPI under mpirun does it when it copies between
 * processes.) */
static int untouched(const int *in, int n)
{
    for (int i = n / 2; i < n && check_simulated(); i++)
        if (in[i] != 0)
            return 0;
    return 1;
}

/* A message longer than the receive: the receiver gets MPI_ERR_TRUNCATE, and its buffer is not overrun. */
static void truncated(MPI_Comm comm, int n)
{
    int *out = calloc(n, sizeof(int)), *in = calloc(n, sizeof(int)), right = (check_rank + 1) % check_size;
    MPI_Request q;
    MPI_Status status;

    check_fill(out, n, check_rank, 1);
    MPI_Irecv(in, n / 2, MPI_INT, MPI_ANY_SOURCE, 1, comm, &q);
    CHECK_OK(MPI_Barrier(comm)); /* it is there before the message */
    CHECK_OK(MPI_Send(out, n, MPI_INT, right, 1, comm));
    CHECK(class_of(MPI_Wait(&q, &status)) == MPI_ERR_TRUNCATE);
    CHECK(untouched(in, n));
    MPI_Isend(out, n, MPI_INT, right, 2, comm, &q);
    CHECK_OK(MPI_Barrier(comm)); /* the message comes first */
    CHECK(class_of(MPI_Recv(in, n / 2, MPI_INT, MPI_ANY_SOURCE, 2, comm, &status)) == MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
    CHECK(untouched(in, n));
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    check_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    truncated(comm, 4);
    truncated(comm, 1000);
    truncated(comm, 100000);
    MPI_Comm_free(&comm);
    TIME("end");
    return check_end("truncate");
}
