/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated times that two models should agree on, in us: "WHAT BYTES TIME". For agree.bats. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LARGEST = 4 << 20, BLOCK = 1 << 16, SENDERS = 7 };

static int rank, ranks;
static char *out, *in;

static void say(const char *what, int bytes, double begin, int times)
{
    double own = MPI_Wtime() - begin, longest;
    MPI_Reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %d %.6f\n", what, bytes, longest * 1e6 / times);
}

static double meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(50);
    return MPI_Wtime();
}

/* With the nearest rank, and with the last. */
static void ping_pong(int peer, int bytes)
{
    double begin = meet();
    for (int i = 0; i < 4 && (rank == 0 || rank == peer); i++) {
        if (rank == 0)
            MPI_Send(out, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_CHAR, rank ? 0 : peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank)
            MPI_Send(out, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    say(peer == 1 ? "pingpong" : "pingpong-far", bytes, rank == 0 ? begin : MPI_Wtime(), 8);
}

/* Posted long before, or after all of it has come. */
static void incast(int bytes, int late)
{
    MPI_Request requests[SENDERS];
    for (int i = 0; i < SENDERS && rank == 0 && !late; i++)
        MPI_Irecv(in + i * (LARGEST / SENDERS), bytes, MPI_CHAR, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
    double begin = meet();
    if (rank > 0 && rank <= SENDERS)
        MPI_Send(out, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    if (rank == 0 && late) {
        usleep(2000);
        begin = MPI_Wtime();
        for (int i = 0; i < SENDERS; i++)
            MPI_Irecv(in + i * (LARGEST / SENDERS), bytes, MPI_CHAR, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
    }
    if (rank == 0)
        MPI_Waitall(SENDERS, requests, MPI_STATUSES_IGNORE);
    say(late ? "incast-late" : "incast", bytes, rank == 0 ? begin : MPI_Wtime(), 1);
}

static void collectives(int bytes)
{
    MPI_Comm all = MPI_COMM_WORLD;
    double begin = meet();
    MPI_Bcast(out, bytes, MPI_CHAR, 0, all);
    say("bcast", bytes, begin, 1);
    begin = meet();
    MPI_Reduce(out, in, bytes / 4, MPI_INT, MPI_SUM, 0, all);
    say("reduce", bytes, begin, 1);
    begin = meet();
    MPI_Allreduce(out, in, bytes / 4, MPI_INT, MPI_SUM, all);
    say("allreduce", bytes, begin, 1);
    begin = meet();
    MPI_Gather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, all);
    say("gather", bytes, begin, 1);
    begin = meet();
    MPI_Allgather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, all);
    say("allgather", bytes, begin, 1);
    begin = meet();
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, all);
    say("alltoall", bytes, begin, 1);
    begin = meet();
    MPI_Scan(out, in, bytes / 4, MPI_INT, MPI_SUM, all);
    say("scan", bytes, begin, 1);
}

/* Where Open MPI does something else than for most calls. */
static void special(void)
{
    int counts[64] = {0}, places[64] = {0}, pairs = 1000, vector = BLOCK;
    MPI_Request request;
    double begin = meet();
    MPI_Iallreduce(MPI_IN_PLACE, in, vector, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("iallreduce-in-place", 8 * vector, begin, 1);
    begin = meet();
    MPI_Allreduce(out, in, pairs, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    say("allreduce-pairs", 12 * pairs, begin, 1);
    counts[ranks / 2] = 8;
    begin = meet();
    MPI_Igatherv(out, rank == ranks / 2 ? 8 : 0, MPI_CHAR, in, counts, places, MPI_CHAR, 0, MPI_COMM_WORLD,
                 &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("igatherv-empty", rank == ranks / 2 ? 8 : 0, begin, 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    out = calloc(1, LARGEST);
    in = calloc(1, LARGEST);
    if (ranks <= SENDERS || ranks > LARGEST / BLOCK || !out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int size = 1; size <= LARGEST; size *= 2)
        for (int third = 0; third < 3 && size + third * size / 3 <= LARGEST; third++)
            ping_pong(1, size + third * size / 3);
    for (int size = 8; size <= LARGEST; size *= 8)
        ping_pong(ranks - 1, size);
    for (int late = 0; late < 2; late++) {
        incast(8, late);
        incast(LARGEST / SENDERS, late);
    }
    for (int size = 8; size <= BLOCK; size *= 8)
        collectives(size);
    special();
    free(in);
    free(out);
    return MPI_Finalize();
}
