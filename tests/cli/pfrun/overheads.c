/* SPDX-License-Identifier: BSD-3-Clause */
/* What processors pay in model analytic, in ns: each line names what has taken so long on rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { BYTES = 1000 };

static int rank;
static char out[4 * BYTES], in[4 * BYTES];
static double begin;

static void together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(100);
    begin = MPI_Wtime();
}

static void say(const char *what)
{
    double end = MPI_Wtime();
    if (rank == 0)
        printf("%s %.0f\n", what, (end - begin) * 1e9);
}

int main(int argc, char **argv)
{
    MPI_Request requests[2];
    MPI_Datatype column, row;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int other = 1 - rank;

    together();
    MPI_Irecv(in, BYTES, MPI_CHAR, other, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, BYTES, MPI_CHAR, other, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    say("exchange");

    for (int n = 1; n <= 2; n++) { /* messages that have long been there */
        together();
        for (int i = 0; i < n; i++)
            if (rank == 0)
                MPI_Irecv(in + i * BYTES, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[i]);
            else
                MPI_Send(out, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        usleep(100);
        begin = MPI_Wtime();
        if (rank == 0)
            MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        say(n == 1 ? "wait" : "waitall");
    }

    together(); /* the first look finds both */
    if (rank == 1)
        for (int i = 0; i < 2; i++)
            MPI_Send(out, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    usleep(100);
    for (int i = 0; i < 2; i++) {
        begin = MPI_Wtime();
        if (rank == 0)
            MPI_Recv(in, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        say(i ? "second" : "late");
    }

    together(); /* so does that of MPI_Waitall, which asks for two of the three */
    if (rank == 1)
        for (int i = 0; i < 3; i++)
            MPI_Send(out, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    usleep(100);
    for (int i = 0; i < 2 && rank == 0; i++)
        MPI_Irecv(in + i * BYTES, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[i]);
    if (rank == 0)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    begin = MPI_Wtime();
    if (rank == 0)
        MPI_Recv(in, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("third");

    MPI_Type_vector(BYTES, 1, 2, MPI_CHAR, &column);
    MPI_Type_commit(&column);
    MPI_Type_contiguous(BYTES, MPI_CHAR, &row);
    MPI_Type_commit(&row);
    together();
    MPI_Sendrecv(out, 1, column, other, 0, in, 1, row, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("packed");
    together();
    MPI_Sendrecv(out, 1, row, other, 0, in, 1, column, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("unpacked");
    MPI_Type_free(&column);
    MPI_Type_free(&row);

    together();
    MPI_Alltoall(out, BYTES, MPI_CHAR, in, BYTES, MPI_CHAR, MPI_COMM_WORLD);
    say("alltoall");
    return MPI_Finalize();
}
