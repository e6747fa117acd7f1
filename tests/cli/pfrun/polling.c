/* SPDX-License-Identifier: BSD-3-Clause */
/* polling WHAT: rank 1 looks for messages of rank 0 by WHAT (test, testall, testany, testsome, iprobe), or
 * waits for them (wait). incast: all send to rank 0; ring: each to the next. For agree.bats. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { LARGE = 1 << 20, MESSAGES = 20, MOST = 8 };

static char out[LARGE], in[MOST][LARGE];

static int look(const char *what, MPI_Request *request)
{
    int done = 0, index, count = 0;
    if (strcmp(what, "testall") == 0)
        MPI_Testall(1, request, &done, MPI_STATUSES_IGNORE);
    else if (strcmp(what, "testany") == 0)
        MPI_Testany(1, request, &index, &done, MPI_STATUS_IGNORE);
    else if (strcmp(what, "testsome") == 0)
        MPI_Testsome(1, request, &count, &index, MPI_STATUSES_IGNORE);
    else if (strcmp(what, "wait") == 0)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    else
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
    return done || count || *request == MPI_REQUEST_NULL;
}

static void poll(int rank, const char *what)
{
    int there = 0;
    MPI_Request request;
    for (int i = 0; i < MESSAGES && rank == 0; i++) {
        MPI_Send(out, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(in[0], 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < MESSAGES && rank == 1; i++) {
        for (there = 0; !there && strcmp(what, "iprobe") == 0;)
            MPI_Iprobe(0, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        MPI_Irecv(in[0], 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        while (!look(there ? "wait" : what, &request))
            ;
        MPI_Send(out, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks;
    const char *what = argc > 1 ? argv[1] : "test";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > MOST)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (strcmp(what, "incast") == 0) {
        MPI_Request requests[MOST];
        for (int i = 1; i < ranks && rank == 0; i++)
            MPI_Irecv(in[i], LARGE, MPI_CHAR, i, 0, MPI_COMM_WORLD, &requests[i - 1]);
        if (rank > 0)
            MPI_Send(out, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        else
            MPI_Waitall(ranks - 1, requests, MPI_STATUSES_IGNORE);
    } else if (strcmp(what, "ring") == 0) {
        MPI_Sendrecv(out, LARGE, MPI_CHAR, (rank + 1) % ranks, 0, in[0], LARGE, MPI_CHAR,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        poll(rank, what);
    }
    return MPI_Finalize();
}
