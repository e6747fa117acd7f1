/* SPDX-License-Identifier: BSD-3-Clause */
/* What a model may take amiss, or not see: two locks, a locked window that is freed, no memory, no datatype.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size, in[2] = {-1, -1}, memory[2], counts[2] = {1, 1}, displs[2] = {0, 1};
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    memory[0] = memory[1] = rank;
    MPI_Win_create(strcmp(argv[1], "memory") ? memory : NULL, sizeof memory, sizeof(int), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
    if (strcmp(argv[1], "locks") == 0 || strcmp(argv[1], "freed") == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
        MPI_Win_lock(MPI_LOCK_SHARED, left, 0, win);
        MPI_Get(&in[0], 1, MPI_INT, right, 0, 1, MPI_INT, win);
        MPI_Get(&in[1], 1, MPI_INT, left, 1, 1, MPI_INT, win);
    }
    if (strcmp(argv[1], "locks") == 0) {
        MPI_Win_unlock(left, win);
        if (in[1] != left)
            puts("wrong");
        MPI_Win_unlock(right, win);
    }
    if (strcmp(argv[1], "type") == 0)
        MPI_Alltoallv(memory, counts, displs, MPI_DATATYPE_NULL, in, counts, displs, MPI_DATATYPE_NULL,
                      MPI_COMM_WORLD);
    MPI_Win_free(&win);
    if (strcmp(argv[1], "memory") && (in[0] != right || in[1] != left))
        puts("wrong");
    MPI_Finalize();
    return 0;
}
