/* SPDX-License-Identifier: BSD-3-Clause */
/* Every pair of ranks talks alone; the first argument says how many bytes. Prints what each exchange took. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void exchange(char *buffer, int bytes, int rank, int other)
{
    double begin = MPI_Wtime();
    MPI_Send(buffer, bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD);
    MPI_Recv(buffer, bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d %d %.17e\n", rank, other, MPI_Wtime() - begin);
}

static void answer(char *buffer, int bytes, int other)
{
    MPI_Recv(buffer, bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(buffer, bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, size, bytes = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *buffer = calloc((size_t)bytes + 1, 1), token = 0;
    for (int turn = 0; turn < rank; turn++)
        answer(buffer, bytes, turn);
    if (rank > 0)
        MPI_Recv(&token, 1, MPI_CHAR, rank - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int other = 0; other < size; other++)
        if (other != rank)
            exchange(buffer, bytes, rank, other);
    if (rank + 1 < size)
        MPI_Send(&token, 1, MPI_CHAR, rank + 1, 2, MPI_COMM_WORLD);
    for (int turn = rank + 1; turn < size; turn++)
        answer(buffer, bytes, turn);
    free(buffer);
    MPI_Finalize();
    return 0;
}
