/* SPDX-License-Identifier: BSD-3-Clause */
/* What a model may take amiss, or not see: two locks, crowded accumulates, a locked window that is freed, no
 * memory, no datatype.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Accumulates of one origin at one place keep their order (MPI 3.1 section 11.7.2), also while others crowd.
 */
static void order(int rank)
{
    static int crowd[500], old[500];
    int *memory, one = 1, now = 0;
    MPI_Win win;
    MPI_Win_allocate(501 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, 501 * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 1; i <= 5; i++) {
        for (int k = 0; rank >= 2 && k < 500; k++)
            MPI_Fetch_and_op(&crowd[k], &old[k], MPI_INT, 0, k, MPI_SUM, win);
        if (rank == 1) {
            MPI_Accumulate(&one, 1, MPI_INT, 0, 500, 1, MPI_INT, MPI_SUM, win);
            MPI_Fetch_and_op(&one, &now, MPI_INT, 0, 500, MPI_NO_OP, win);
        }
        MPI_Win_flush_all(win);
        if (rank == 1 && now != i)
            puts("wrong");
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

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
    if (strcmp(argv[1], "order") == 0) {
        order(rank);
        in[0] = right, in[1] = left;
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
