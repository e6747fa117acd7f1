/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 gives its exclusive lock of rank 1's memory back only when the others have called MPI_Win_lock and
 * started their accesses: neither may wait for the lock (MPI 3.1 section 11.5.3). What they ask for waits,
 * and the holders come one after the other.
 */
#include <mpi.h>
#include <stdio.h>

enum { N = 1000 };

static int memory[N], mine[N], got[N];

static void late(int rank, MPI_Win win)
{
    MPI_Request requests[2];
    int one = 1, old = -1, flag;
    for (int i = 0; i < N; i++)
        mine[i] = rank;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Rget(got, N, MPI_INT, 1, 0, N, MPI_INT, win, &requests[0]);
    MPI_Rput(mine + 1, N - 1, MPI_INT, 1, 1, N - 1, MPI_INT, win, &requests[1]);
    MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    if (flag)
        printf("rank %d: accesses without a lock\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Fetch_and_op(&one, &old, MPI_INT, 1, 0, MPI_SUM, win);
    MPI_Win_flush(1, win);
    if (old < 100 || old != got[0])
        printf("rank %d: %d lock holders, then %d\n", rank, got[0], old);
    for (int i = 2; i < N; i++)
        if (got[i] != got[1])
            printf("rank %d: the epochs of others are mixed: %d and %d\n", rank, got[1], got[i]);
    MPI_Win_unlock(1, win);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < N; i++)
        mine[i] = 100;
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Put(mine, N, MPI_INT, 1, 0, N, MPI_INT, win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_unlock(1, win);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Barrier(MPI_COMM_WORLD);
        else
            late(rank, win);
    }
    /* A lock without an access, and one whose epoch is over before the grant. */
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Win_unlock(1, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        printf(memory[0] == 100 + size - 2 && memory[1] >= 2 ? "late locks: PASS\n" : "late locks: %d, %d\n",
               memory[0], memory[1]);
        MPI_Win_unlock(1, win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
