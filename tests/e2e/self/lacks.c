/* SPDX-License-Identifier: BSD-3-Clause */
/* What the implementation `self` lacks gives an error, what is too long is one, a message may end inside an
 * item of a datatype (as it may not in stock SMPI), and a wait without a partner is reported. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Win window;
    MPI_Datatype column;
    int word = 0, code, class, pair[2] = {1, 2}, gaps[5] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Error_class(code, &class);
    printf("window %s\n", class == MPI_ERR_UNSUPPORTED_OPERATION ? "unsupported" : "other");
    MPI_Send(pair, 2, MPI_INT, 0, 0, MPI_COMM_WORLD);
    code = MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &class);
    printf("long %s %d\n", class == MPI_ERR_TRUNCATE ? "truncated" : "other", word);
    MPI_Type_vector(3, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(pair, 2, MPI_INT, 0, 0, gaps, 1, column, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    printf("part %d %d %d %d %d\n", gaps[0], gaps[1], gaps[2], gaps[3], gaps[4]);
    fflush(stdout);
    if (argc > 1)
        MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
