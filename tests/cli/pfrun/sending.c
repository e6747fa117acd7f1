/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long rank 0 needs for an epoch of MPI_Win_lock at another one, which meanwhile waits for a receive; is
 * in one blocking send after the other; or is in a barrier, to which rank 0 comes last. Prints name and
 * microseconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { SENDS = 12, BYTES = 1024, LATE = 200, TARGET = 8 };

static int rank;
static char memory[BYTES], data[BYTES];
static MPI_Win window;

static void wait_for(double date)
{
    for (double now; (now = MPI_Wtime()) < date;)
        usleep((useconds_t)((date - now) * 1e6) + 1);
}

static void epoch(const char *name)
{
    double begun = MPI_Wtime();
    MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, window);
    MPI_Put(data, BYTES, MPI_CHAR, TARGET, 0, BYTES, MPI_CHAR, window);
    MPI_Win_unlock(TARGET, window);
    printf("%s %.3f\n", name, 1e6 * (MPI_Wtime() - begun));
}

static void waits(void)
{
    if (rank == TARGET)
        MPI_Recv(data, 1, MPI_CHAR, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 2) {
        usleep(LATE);
        MPI_Send(data, 1, MPI_CHAR, TARGET, 0, MPI_COMM_WORLD);
    }
}

static void sends(void)
{
    MPI_Request requests[SENDS];
    for (int i = 0; i < SENDS && rank == TARGET; i++)
        MPI_Send(data, 1, MPI_CHAR, 2, 0, MPI_COMM_WORLD);
    for (int i = 0; i < SENDS && rank == 2; i++)
        MPI_Irecv(data, 1, MPI_CHAR, TARGET, 0, MPI_COMM_WORLD, &requests[i]);
    if (rank == 2)
        MPI_Waitall(SENDS, requests, MPI_STATUSES_IGNORE);
}

static void nothing(void)
{
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"waits", waits}, {"sends", sends}, {"barrier", nothing}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < 3; i++) {
        wait_for(i + 1);
        cases[i].run();
        if (rank == 0)
            epoch(cases[i].name);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
