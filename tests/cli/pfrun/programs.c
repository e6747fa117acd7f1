/* SPDX-License-Identifier: BSD-3-Clause */
/* One of several programs of a job, each with another NAME: what each rank sees of its own program and of the
 * others. With an argument "wait", ranks wait for a message that does not come; with "crash", they end; with
 * "barriers", they do nothing that depends on the program. */
#include <errno.h>
#include <error.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int private_copy;

static void say(int rank, int size, int argc, char **argv)
{
    int *number, known, sum, got, part_size, next = (rank + 1) % size;
    MPI_Comm part;
    private_copy += 100 * NAME[0] + rank;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &known);
    MPI_Comm_split(MPI_COMM_WORLD, *number, rank, &part);
    MPI_Comm_size(part, &part_size);
    MPI_Allreduce(&private_copy, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Sendrecv(&private_copy, 1, MPI_INT, next, 1, &got, 1, MPI_INT, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%s: rank %d of %d, program %d (%d) of %d ranks, sum %d, got %d, arguments", NAME, rank, size,
           *number, known, part_size, sum, got);
    for (int i = 1; i < argc; i++)
        printf(" '%s'", argv[i]);
    printf("\n");
    fflush(stdout);
    argv[0][0] = '!'; /* another rank's is not changed */
    MPI_Comm_free(&part);
}

int main(int argc, char **argv)
{
    int rank, size, x;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && strcmp(argv[1], "crash") == 0)
        *(volatile int *)8 = 1;
    if (argc > 1 && strcmp(argv[1], "wait") == 0)
        MPI_Recv(&x, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    error(0, 0, "%d", rank);
    for (int i = 0; i < 3; i++) /* at each barrier, a schedule may choose another model */
        MPI_Barrier(MPI_COMM_WORLD);
    if (argc < 2 || strcmp(argv[1], "barriers") != 0)
        say(rank, size, argc, argv);
    MPI_Finalize();
    return 0;
}
