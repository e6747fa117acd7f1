/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the rank pays for its sends and receives. Each operation stands alone: the sender's is over before the
 * receiver begins. Prints per operation the simulated time of its call on each side in units of argv[1]
 * seconds. With a second argument the other rank computes meanwhile, which must not count.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int rank, buffer, other;
static double unit, began;
static MPI_Status status;
static MPI_Request request;

static void begin(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    began = MPI_Wtime();
}

/* The time of this side since begin(), in whole units. */
static void end(const char *name)
{
    int paid = (int)((MPI_Wtime() - began) / unit + 0.5), all[2];
    MPI_Gather(&paid, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %d %d\n", name, all[0], all[1]);
}

static void compute(void)
{
    clock_t start = clock();
    while (clock() - start < CLOCKS_PER_SEC / 10)
        ;
}

static void sends(void)
{
    int peer = 1 - rank;
    begin();
    if (rank == 0)
        MPI_Send(&buffer, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    end("send");
    begin();
    if (rank == 1)
        MPI_Recv(&buffer, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &status);
    end("recv");
    begin();
    if (rank == 0)
        MPI_Isend(&buffer, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    end("isend");
    begin();
    if (rank == 1)
        MPI_Irecv(&buffer, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    end("irecv");
    begin();
    MPI_Wait(&request, &status);
    end("wait");
    begin();
    MPI_Sendrecv(&buffer, 1, MPI_INT, peer, 2, &other, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &status);
    end("sendrecv");
    begin();
    MPI_Sendrecv_replace(&buffer, 1, MPI_INT, peer, 2, peer, 2, MPI_COMM_WORLD, &status);
    end("replace");
}

static void rarer(void)
{
    MPI_Message message;
    char *room = malloc(1000 + MPI_BSEND_OVERHEAD);
    int size = 1000 + MPI_BSEND_OVERHEAD;
    MPI_Buffer_attach(room, size);
    begin();
    if (rank == 0)
        MPI_Bsend(&buffer, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    end("bsend");
    begin();
    if (rank == 1) {
        MPI_Mprobe(0, 3, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(&buffer, 1, MPI_INT, &message, &status);
    }
    end("mrecv");
    if (rank == 0)
        MPI_Send_init(&buffer, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &request);
    else
        MPI_Recv_init(&buffer, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &request);
    begin();
    MPI_Start(&request);
    end("start");
    MPI_Wait(&request, &status);
    MPI_Request_free(&request);
    MPI_Buffer_detach(&room, &size);
    free(room);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unit = atof(argv[1]);
    sends();
    rarer();
    if (argc > 2) {
        begin();
        if (rank == 0)
            MPI_Send(&buffer, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        else
            compute();
        double took = MPI_Wtime() - began;
        if (rank == 1)
            MPI_Recv(&buffer, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &status);
        else
            printf("beside a computation %d\n", (int)(took / unit + 0.5));
    }
    MPI_Finalize();
    return 0;
}
