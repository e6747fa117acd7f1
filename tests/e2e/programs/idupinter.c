/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no mpirun=no */
/* MPI_Comm_idup of an intercommunicator is refused: what it would give is no intercommunicator. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm local, inter, copy = MPI_COMM_NULL;
    MPI_Request request;
    int class, code;

    check_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &local));
    CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - check_rank % 2, 7, &inter));
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    code = MPI_Comm_idup(inter, &copy, &request);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_UNSUPPORTED_OPERATION && copy == MPI_COMM_NULL);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
    return check_end("idupinter");
}
