/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the stack's own work costs where it is configured: four ranks, each operation alone. Prints its
 * simulated time in units of argv[1] seconds, which are much longer than any message: without such costs all
 * are 0. The data are checked.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INTS = 1000, MOST = 10000 };

static int rank, from[MOST], to[MOST];
static double unit, began;

/* All ranks go on at the same date: they leave a barrier one after the other. */
static void begin(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MOST; i++) {
        from[i] = rank == 0 ? i : -1;
        to[i] = -1;
    }
    began = floor(MPI_Wtime()) + 2;
    usleep((useconds_t)((began - MPI_Wtime()) * 1e6));
    began = MPI_Wtime();
}

static void end(const char *name)
{
    double took = MPI_Wtime() - began, longest;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %d\n", name, (int)(longest / unit + 0.5));
}

static void check(const int *data, int n, int step, const char *name)
{
    for (int i = 0; i < n; i++)
        if (data[i] != step * i) {
            printf("%s: element %d is %d\n", name, i, data[i]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

static void message(const char *name, int bytes)
{
    begin();
    if (rank == 0)
        MPI_Send(from, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(to, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    end(name);
    if (rank == 1)
        check(to, bytes / 4, 1, name);
}

static void collectives(void)
{
    begin();
    MPI_Allreduce(from, to, INTS, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    end("allreduce");
    check(to, INTS, 1, "allreduce");
    begin();
    MPI_Bcast(from, INTS, MPI_INT, 0, MPI_COMM_WORLD);
    end("bcast");
    check(from, INTS, 1, "bcast");
    begin();
    MPI_Barrier(MPI_COMM_WORLD);
    end("barrier");
}

/* The sender overwrites its buffer as soon as it may; the receiver comes later. */
static void overwritten(void)
{
    MPI_Request request;
    MPI_Datatype every_second;
    MPI_Type_vector(100, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    begin();
    if (rank == 0) {
        MPI_Isend(from, 1, every_second, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(from, 200, MPI_INT, 1, 1, MPI_COMM_WORLD);
        memset(from, -1, sizeof from);
    }
    if (rank < 2)
        MPI_Barrier(MPI_COMM_SELF);
    if (rank == 1) {
        MPI_Recv(to, 200, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(to, 200, 1, "second");
        MPI_Recv(to, 100, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(to, 100, 2, "every second");
    }
    MPI_Type_free(&every_second);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* How long a send of a rank takes whose receive is not posted before. */
static void send_alone(const char *name, int bytes)
{
    begin();
    if (rank == 0)
        MPI_Send(from, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    if (rank == 0)
        printf("%s %s\n", name, took > 1e-7 ? "waits" : "returns");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(to, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unit = argc > 1 ? atof(argv[1]) : 1;
    message("1000 B", 1000);
    message("1004 B", 1004);
    collectives();
    overwritten();
    send_alone("send of 1000 B", 1000);
    send_alone("send of 1004 B", 1004);
    MPI_Finalize();
    return 0;
}
