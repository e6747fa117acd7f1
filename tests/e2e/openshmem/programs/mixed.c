/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI and OpenSHMEM in one program, in turn: each sees the other's data. The argument names the first. */
#include "check.h"

#include <mpi.h>

static long mailbox, flag, sync[SHMEM_SYNC_SIZE];

/* PE 0 asks again and again for what comes when the others, which only call MPI, are done. */
static void test_alone(int rank)
{
    MPI_Comm others;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &others);
    for (int i = 0; rank > 0 && i < 3000; i++)
        MPI_Barrier(others);
    if (rank == 1)
        shmem_long_p(&flag, 1, 0);
    while (rank == 0 && !shmem_long_test(&flag, SHMEM_CMP_EQ, 1))
        ;
    MPI_Comm_free(&others);
}

int main(int argc, char **argv)
{
    int shmem_first = argc > 1, rank, size, level;
    if (shmem_first)
        shmem_init();
    MPI_Init(&argc, &argv);
    if (!shmem_first)
        shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(rank == shmem_my_pe() && size == shmem_n_pes());
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < 10; i++) {
        shmem_long_p(&mailbox, 100L * rank + i, right);
        shmem_quiet();
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(mailbox == 100L * left + i);
        long got = -1, *both = shmem_ptr(&mailbox, rank);
        CHECK(both == &mailbox);
        MPI_Sendrecv(&mailbox, 1, MPI_LONG, left, i, &got, 1, MPI_LONG, right, i, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(got == 100L * rank + i);
        shmem_barrier(0, 0, size, sync);
    }
    if (shmem_first && size > 1)
        test_alone(rank);
    shmem_query_thread(&level);
    CHECK(level == SHMEM_THREAD_FUNNELED);
    shmem_barrier_all();
    if (rank == 0)
        printf("PASS\n");
    if (shmem_first)
        MPI_Finalize();
    shmem_finalize();
    if (!shmem_first)
        MPI_Finalize();
    return 0;
}
