/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow-control experiment of the S4BXI thesis (section 7.1) as an MPI program: flood.c in other words.
 *
 *     flood_mpi PROCESSES BYTES WATCHED MESSAGES WINDOW
 *
 * A sender has up to WINDOW messages under way: flow control by software, per process.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { DATA, STOP, WARM_UP = 4 };

static char *memory;

static MPI_Request start(int bytes, int partner, int tag, int sending)
{
    MPI_Request request;
    if (sending)
        MPI_Isend(memory, bytes, MPI_CHAR, partner, tag, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(memory, bytes, MPI_CHAR, partner, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    return request;
}

/* Sends until a message says stop; then as many empty messages as the partner has receives. */
static void flood(int partner, int watcher, int bytes, int window, MPI_Request *requests)
{
    long sent = window;
    int which;
    double begin = MPI_Wtime();
    for (int i = 0; i < window; i++)
        requests[i] = start(bytes, partner, DATA, 1);
    MPI_Irecv(NULL, 0, MPI_CHAR, watcher, STOP, MPI_COMM_WORLD, &requests[window]);
    for (;; sent++) {
        MPI_Waitany(window + 1, requests, &which, MPI_STATUS_IGNORE);
        if (which == window)
            break;
        requests[which] = start(bytes, partner, DATA, 1);
    }
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    printf("flood %ld %.9f\n", sent, MPI_Wtime() - begin);
    for (int i = 0; i < window; i++)
        requests[i] = start(0, partner, STOP, 1);
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
}

static void swallow(int partner, int bytes, int window, MPI_Request *requests)
{
    int stopped = 0;
    for (int i = 0; i < window; i++)
        requests[i] = start(bytes, partner, DATA, 0);
    while (stopped < window) {
        int which;
        MPI_Status status;
        MPI_Waitany(window, requests, &which, &status);
        if (status.MPI_TAG == STOP)
            stopped++;
        else
            requests[which] = start(bytes, partner, DATA, 0);
    }
}

/* The partner answers, so that a message is over when it is there. */
static void watch(int sending, int partner, int bytes, long messages)
{
    double begin = 0;
    for (long i = -WARM_UP; i < messages; i++) {
        if (i == 0)
            begin = MPI_Wtime();
        if (sending) {
            MPI_Ssend(memory, bytes, MPI_CHAR, partner, DATA, MPI_COMM_WORLD);
        } else {
            MPI_Recv(memory, bytes, MPI_CHAR, partner, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    if (sending)
        printf("latency %.9f\n", (MPI_Wtime() - begin) / (double)messages);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int processes = argc > 5 ? atoi(argv[1]) : 0, bytes = argc > 5 ? atoi(argv[2]) : 0;
    int watched = argc > 5 ? atoi(argv[3]) : 0, window = argc > 5 ? atoi(argv[5]) : 0;
    long messages = argc > 5 ? atol(argv[4]) : 0;
    if (processes < 1 || bytes < 1 || watched < 1 || messages < 1 || window < 1 || size < 2 ||
        (size - 2) % (2 * processes) != 0) {
        if (rank == 0)
            fprintf(stderr, "usage: flood_mpi PROCESSES BYTES WATCHED MESSAGES WINDOW, with 2 x PAIRS x "
                            "PROCESSES + 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    memory = calloc(1, (size_t)(bytes > watched ? bytes : watched));
    MPI_Request *requests = calloc((size_t)window + 1, sizeof(MPI_Request));
    if (!memory || !requests)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank >= size - 2) {
        watch(rank == size - 2, rank == size - 2 ? size - 1 : size - 2, watched, messages);
        for (int other = 0; rank == size - 2 && other < rank; other++)
            if (other / processes % 2 == 0)
                MPI_Send(NULL, 0, MPI_CHAR, other, STOP, MPI_COMM_WORLD);
    } else if (rank / processes % 2 == 0) {
        flood(rank + processes, size - 2, bytes, window, requests);
    } else {
        swallow(rank - processes, bytes, window, requests);
    }
    free(memory);
    free(requests);
    MPI_Finalize();
    return 0;
}
