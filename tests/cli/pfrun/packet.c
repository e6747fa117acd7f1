/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages for packet.bats. Usage: packet sizes | rounds | crowd
 *   sizes   64 sizes from 8 B to 8 MiB: with two ranks a message there and one back, else from each rank to
 * the next one; prints each size and the time of the slowest rank rounds  the same, ten times without a
 * barrier, so that many messages come before their receive crowd   all send to all and then to rank 0, which
 * takes what comes first: prints the order and each rank's end
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 64, SMALLEST = 8, LARGEST = 8 << 20, ROUNDS = 4 };

static int rank, ranks;
static char *out, *in;

/* The receives are there before the messages: whether one that comes first has to be fetched is a race. */
static double exchange(int bytes)
{
    int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    MPI_Request receive;
    MPI_Irecv(in, bytes, MPI_CHAR, previous, 0, MPI_COMM_WORLD, &receive);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (ranks == 2 && rank == 1)
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Send(out, bytes, MPI_CHAR, next, 0, MPI_COMM_WORLD);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    return MPI_Wtime() - start;
}

static double exchange_often(int bytes)
{
    enum { TIMES = 10 };
    int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < TIMES; i++)
        MPI_Sendrecv(out, bytes, MPI_CHAR, next, 0, in, bytes, MPI_CHAR, previous, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    return (MPI_Wtime() - start) / TIMES;
}

static void sizes(double (*exchange)(int bytes))
{
    out = calloc(LARGEST, 1);
    in = calloc(LARGEST, 1);
    exchange(SMALLEST); /* the first message finds nothing prepared */
    for (int i = 0; i < SIZES; i++) {
        int bytes = (int)lround(SMALLEST * pow(LARGEST / SMALLEST, i / (SIZES - 1.0)));
        double mine = exchange(bytes), most;
        MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%d %.12g\n", bytes, most);
    }
    free(out);
    free(in);
}

static void crowd(void)
{
    int bytes = 1000 + 37 * rank, room = 1000 + 37 * ranks;
    out = calloc((size_t)room, (size_t)ranks);
    in = calloc((size_t)room, (size_t)ranks);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Alltoall(out, room, MPI_CHAR, in, room, MPI_CHAR, MPI_COMM_WORLD);
        if (rank > 0)
            MPI_Send(out, bytes << 2 * round, MPI_CHAR, 0, round, MPI_COMM_WORLD);
        for (int i = 1; rank == 0 && i < ranks; i++) {
            MPI_Status status;
            MPI_Probe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
            int size;
            MPI_Get_count(&status, MPI_CHAR, &size);
            char *place = calloc((size_t)size, 1);
            MPI_Recv(place, size, MPI_CHAR, status.MPI_SOURCE, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            free(place);
            printf("round %d: rank %d at %.17g\n", round, status.MPI_SOURCE, MPI_Wtime());
        }
    }
    double end = MPI_Wtime(), *ends = calloc((size_t)ranks, sizeof *ends);
    MPI_Gather(&end, 1, MPI_DOUBLE, ends, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; i++)
        printf("end %d %.17g\n", i, ends[i]);
    free(ends);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && strcmp(argv[1], "sizes") == 0)
        sizes(exchange);
    else if (argc > 1 && strcmp(argv[1], "rounds") == 0)
        sizes(exchange_often);
    else
        crowd();
    MPI_Finalize();
    return 0;
}
