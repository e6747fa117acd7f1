/* SPDX-License-Identifier: BSD-3-Clause */
/* One way to end per word of the command line, see ends.bats. */
#include <mpi.h>
#include <parfocal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, data[4], flag;

static void phases(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    pf_phase("solve");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 has received its message, and waits for its send. */
static void wait_in_part(void)
{
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Irecv(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Issend(&flag, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Send(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(data, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* A message that tests wait for. */
static void send_and_test(bool say_data)
{
    MPI_Request request;
    if (rank == 0) {
        int seven = 7;
        for (int i = 0; i < 20; i++)
            MPI_Send(&seven, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        return;
    }
    for (int i = 0; i < 20; i++) {
        flag = 0;
        MPI_Irecv(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        while (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    if (say_data)
        printf("received %d\n", data[0]);
    else
        printf("ended at %.12g\n", MPI_Wtime());
}

static void win_test(void)
{
    MPI_Win window;
    MPI_Group all, other;
    int peer = 1 - rank;
    MPI_Win_create(data, sizeof data, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    MPI_Win_post(other, 0, window);
    while (!flag)
        MPI_Win_test(window, &flag);
}

static void get_status(void)
{
    MPI_Request request;
    MPI_Irecv(data, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* Objects that are made in one model and used in another. */
static void shadows(void)
{
    MPI_Comm comm;
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(data, data + 2, 1, MPI_INT, op, comm);
    MPI_Bcast(data, 1, pair, 0, comm);
    pf_phase("shadows");
    for (int i = 0; i < 3; i++) {
        MPI_Bcast(data, 1, pair, 0, comm);
        MPI_Allreduce(data, data + 2, 1, MPI_INT, op, comm);
    }
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
    MPI_Comm_free(&comm);
}

/* A message to a rank that has ended. */
static void send_late(void)
{
    MPI_Request request;
    usleep(1000);
    MPI_Isend(data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    MPI_Message message;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "phases") == 0)
        phases();
    if (strcmp(argv[1], "lost") == 0 && rank == 1)
        exit(atoi(argv[2]));
    if (strcmp(argv[1], "left") == 0)
        return 3;
    if (strcmp(argv[1], "partly") == 0)
        wait_in_part();
    if (strcmp(argv[1], "lost") == 0 && argc > 3)
        MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "deadlock") == 0 || strcmp(argv[1], "lost") == 0)
        MPI_Recv(data, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "Win_test") == 0)
        win_test();
    if (strcmp(argv[1], "Request_get_status") == 0)
        get_status();
    if (strcmp(argv[1], "Probe") == 0)
        MPI_Probe(1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "Mprobe") == 0 && rank == 0)
        MPI_Mprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "data") == 0 || strcmp(argv[1], "tests") == 0)
        send_and_test(argv[1][0] == 'd');
    if (strcmp(argv[1], "late") == 0 && rank == 0)
        send_late();
    if (strcmp(argv[1], "shadows") == 0)
        shadows();
    MPI_Finalize();
    return strcmp(argv[1], "failed") == 0 ? 3 : 0;
}
