/* SPDX-License-Identifier: BSD-3-Clause */
/* What one-sided communication takes besides what experiments/micro measures, for agree.bats: "NAME BYTES
 * TIME" of the slowest rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORDS = 4096, TIMES = 6, WARM = 2 };

static int rank, size, next;
static long memory[2 * WORDS], buffer[WORDS], result[WORDS];
static MPI_Win win;

static void all_flush(int n)
{
    MPI_Win_lock_all(0, win);
    MPI_Put(buffer, n, MPI_LONG, next, 0, n, MPI_LONG, win);
    MPI_Win_flush(next, win);
    MPI_Get(result, n, MPI_LONG, next, 0, n, MPI_LONG, win);
    MPI_Win_flush(next, win);
    MPI_Win_unlock_all(win);
}

static void all_flush_all(int n)
{
    MPI_Win_lock_all(0, win);
    for (int i = 1; i <= 3; i++)
        MPI_Accumulate(buffer, n, MPI_LONG, (rank + i) % size, 0, n, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
}

static void local_flush(int n)
{
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    for (int i = 0; i < 4; i++) {
        MPI_Put(buffer, n, MPI_LONG, next, 0, n, MPI_LONG, win);
        MPI_Win_flush_local(next, win);
    }
    MPI_Win_unlock(next, win);
}

static void requests(int n)
{
    MPI_Request request[3];
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Rget(result, n, MPI_LONG, next, 0, n, MPI_LONG, win, &request[0]);
    MPI_Rput(buffer, n, MPI_LONG, (next + 1) % size, WORDS, n, MPI_LONG, win, &request[1]);
    MPI_Raccumulate(buffer, n, MPI_LONG, (next + 2) % size, WORDS, n, MPI_LONG, MPI_SUM, win, &request[2]);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    MPI_Win_unlock_all(win);
}

static void one_target(int n)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(buffer, n, MPI_LONG, 0, 0, n, MPI_LONG, win);
    MPI_Win_unlock(0, win);
}

/* While all others wait and have nothing to do: long data leave before the lock is there, and the answer
 * behind the receive that fetches them. */
static void one_fetches(int n)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        nanosleep(&(struct timespec){0, 20000}, NULL);
        double begin = MPI_Wtime();
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
        MPI_Get_accumulate(buffer, n, MPI_LONG, result, n, MPI_LONG, next, 0, n, MPI_LONG, MPI_SUM, win);
        MPI_Win_unlock(next, win);
        printf("one-fetches %d %.9g\n", 8 * n, MPI_Wtime() - begin);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void two_neighbours(int n)
{
    MPI_Group world, both;
    int ranks[] = {(rank + 1) % size, (rank + size - 1) % size};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, ranks, &both);
    MPI_Win_post(both, 0, win);
    MPI_Win_start(both, 0, win);
    for (int i = 0; i < 2; i++)
        MPI_Put(buffer, n, MPI_LONG, ranks[i], i * WORDS, n, MPI_LONG, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&both);
    MPI_Group_free(&world);
}

static void measure(const char *name, void (*operation)(int n), int n)
{
    double begin = 0, time, slowest;
    for (int i = 0; i < TIMES; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (i == WARM)
            begin = MPI_Wtime();
        operation(n);
    }
    time = (MPI_Wtime() - begin) / (TIMES - WARM);
    MPI_Reduce(&time, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %d %.9g\n", name, 8 * n, slowest);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 100, WORDS};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < 3; i++) /* Open MPI grants no exclusive lock after `requests` */
        one_fetches(sizes[i]);
    for (int i = 0; i < 3; i++) {
        measure("lock_all-flush", all_flush, sizes[i]);
        measure("lock_all-flush_all", all_flush_all, sizes[i]);
        measure("flush_local", local_flush, sizes[i]);
        measure("requests", requests, sizes[i]);
        measure("one-target", one_target, sizes[i]);
        measure("two-neighbours", two_neighbours, sizes[i]);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
