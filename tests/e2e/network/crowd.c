/* SPDX-License-Identifier: BSD-3-Clause */
/* All send to all at once, the first argument says how many bytes, the second how many
 * seconds they pause before; a rank that fails to receive what was sent says
 * so. Prints when each rank was done. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, bytes = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = malloc((size_t)bytes * (size_t)size), *in = calloc((size_t)bytes, (size_t)size);
    for (int to = 0; to < size; to++)
        for (int i = 0; i < bytes; i++)
            out[to * bytes + i] = (char)(rank + 3 * to + i);
    if (argc > 2)
        sleep((unsigned)atoi(argv[2]));
    MPI_Request *requests = malloc(2 * (size_t)size * sizeof *requests);
    for (int other = 0; other < size; other++) {
        MPI_Irecv(in + other * bytes, bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD, &requests[other]);
        MPI_Isend(out + other * bytes, bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD, &requests[size + other]);
    }
    MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
    for (int from = 0; from < size; from++)
        for (int i = 0; i < bytes; i++)
            if (in[from * bytes + i] != (char)(from + 3 * rank + i)) {
                printf("%d: wrong byte %d from %d\n", rank, i, from);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
    printf("%d %.17e\n", rank, MPI_Wtime());
    free(requests);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
