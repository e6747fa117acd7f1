/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated times of small pieces of communication between rank 0 and rank 1, and of ranks 0 and 2 on one
 * host, one line each: name and seconds. tests/cli/pfrun/run_effects.py changes settings and looks what
 * changes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;
static char *buffer;

static void round_trips(const char *name, int peer, int bytes)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (int i = 0; i < 2; i++) {
        if (rank == 0) {
            MPI_Send(buffer, bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
            MPI_Recv(buffer, bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == peer) {
            MPI_Recv(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
    }
    if (rank == 0)
        printf("%s %.12g\n", name, MPI_Wtime() - began);
}

/* The receive comes when the message is there: Open MPI then gets the rest of it. */
static void late(const char *name)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Isend(buffer, 1 << 20, MPI_CHAR, 1, 4, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 20; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    if (rank == 1)
        MPI_Recv(buffer, 1 << 20, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %.12g\n", name, MPI_Wtime() - began);
}

/* Many at once: gaps, not latencies, decide. */
static void stream(const char *name, int bytes)
{
    enum { COUNT = 300 };
    MPI_Request requests[COUNT];
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (int i = 0; i < COUNT && rank == 1; i++)
        MPI_Irecv(buffer + i * bytes, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < COUNT && rank == 0; i++)
        MPI_Isend(buffer + i * bytes, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[i]);
    if (rank < 2)
        MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
    double took = MPI_Wtime() - began, longest;
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %.12g\n", name, longest);
}

/* Tests that find nothing while the message is under way. */
static void polls(const char *name)
{
    MPI_Request request;
    int done = 0, count = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Irecv(buffer, 1 << 20, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(buffer, 1 << 20, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    for (; rank == 1 && !done; count++)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(&count, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Recv(&count, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%s %d\n", name, count);
    }
}

/* All send to rank 0, which takes it as fast as its link can, and to the next rank, where nothing else
 * is in the way. */
static void crowd(const char *name)
{
    enum { BYTES = 1 << 16, COUNT = 4 };
    const char *out = buffer + (COUNT + 1) * BYTES;
    MPI_Request requests[2 * COUNT];
    int size, count = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (int i = 0; i < COUNT; i++) {
        MPI_Irecv(buffer + i * BYTES, BYTES, MPI_CHAR, (rank + size - 1) % size, 5, MPI_COMM_WORLD,
                  &requests[count++]);
        MPI_Isend(out, BYTES, MPI_CHAR, (rank + 1) % size, 5, MPI_COMM_WORLD, &requests[count++]);
        if (rank > 0)
            MPI_Send(out, 1024, MPI_CHAR, 0, 6, MPI_COMM_WORLD);
        for (int from = 1; rank == 0 && from < size; from++)
            MPI_Recv(buffer + COUNT * BYTES, 1024, MPI_CHAR, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    double took = MPI_Wtime() - began, sum;
    MPI_Reduce(&took, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %.12g\n", name, sum);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    buffer = calloc(1, 4 << 20);
    round_trips("8B", 1, 8);
    round_trips("200B", 1, 200);
    round_trips("4KiB", 1, 4096);
    round_trips("1MiB", 1, 1 << 20);
    round_trips("host 8B", 2, 8);
    round_trips("host 1MiB", 2, 1 << 20);
    stream("stream 8B", 8);
    stream("stream 200B", 200);
    late("late 1MiB");
    crowd("crowd");
    if (argc == 1) /* any argument: nothing that polls, which takes long where the network is slow */
        polls("polls");
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    volatile double x = 1;
    for (int i = 0; i < 20000000; i++)
        x = x * 1.0000001;
    if (rank == 0)
        printf("compute %.12g\n", MPI_Wtime() - began);
    free(buffer);
    MPI_Finalize();
    return 0;
}
