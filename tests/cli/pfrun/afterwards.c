/* SPDX-License-Identifier: BSD-3-Clause */
/* How long each way to exchange a message with both neighbours takes, in simulated time: one line for each.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES  16384
#define ROUNDS 4
#define ALL    MPI_COMM_WORLD

static char out[BYTES], in[BYTES];
static int rank, ranks, left, right, flag;
static MPI_Request both[2];

static void sendrecv(void)
{
    MPI_Sendrecv(out, BYTES, MPI_CHAR, right, 0, in, BYTES, MPI_CHAR, left, 0, ALL, MPI_STATUS_IGNORE);
}

static void any_source(void)
{
    MPI_Sendrecv(out, BYTES, MPI_CHAR, right, 0, in, BYTES, MPI_CHAR, MPI_ANY_SOURCE, 0, ALL,
                 MPI_STATUS_IGNORE);
}

static void open_ends(void)
{
    int to = rank < ranks - 1 ? right : MPI_PROC_NULL, from = rank > 0 ? left : MPI_PROC_NULL;
    MPI_Sendrecv(out, BYTES, MPI_CHAR, to, 0, in, BYTES, MPI_CHAR, from, 0, ALL, MPI_STATUS_IGNORE);
}

static void replace(void)
{
    MPI_Sendrecv_replace(out, BYTES, MPI_CHAR, right, 0, left, 0, ALL, MPI_STATUS_IGNORE);
}

static void receive_first(void)
{
    MPI_Irecv(in, BYTES, MPI_CHAR, left, 0, ALL, &both[0]);
    MPI_Isend(out, BYTES, MPI_CHAR, right, 0, ALL, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

static void send_first(void)
{
    MPI_Isend(out, BYTES, MPI_CHAR, right, 0, ALL, &both[0]);
    MPI_Recv(in, BYTES, MPI_CHAR, left, 0, ALL, MPI_STATUS_IGNORE);
    MPI_Wait(&both[0], MPI_STATUS_IGNORE);
}

static void probe(void)
{
    MPI_Isend(out, BYTES, MPI_CHAR, right, 0, ALL, &both[0]);
    MPI_Probe(left, 0, ALL, MPI_STATUS_IGNORE);
    MPI_Recv(in, BYTES, MPI_CHAR, left, 0, ALL, MPI_STATUS_IGNORE);
    MPI_Wait(&both[0], MPI_STATUS_IGNORE);
}

static void test(void)
{
    MPI_Irecv(in, BYTES, MPI_CHAR, left, 0, ALL, &both[0]);
    MPI_Isend(out, BYTES, MPI_CHAR, right, 0, ALL, &both[1]);
    for (flag = 0; !flag;)
        MPI_Testall(2, both, &flag, MPI_STATUSES_IGNORE);
}

static void measure(const char *name, void (*exchange)(void))
{
    double seconds, sum;
    MPI_Barrier(ALL);
    MPI_Barrier(ALL);
    seconds = -MPI_Wtime();
    for (int i = 0; i < ROUNDS; i++)
        exchange();
    seconds += MPI_Wtime();
    MPI_Reduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, ALL);
    if (rank == 0)
        printf("%s %.4f us\n", name, 1e6 * sum / ranks / ROUNDS);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(ALL, &rank);
    MPI_Comm_size(ALL, &ranks);
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    MPI_Barrier(ALL); /* where the model changes */
    measure("MPI_Sendrecv", sendrecv);
    measure("MPI_Sendrecv from any", any_source);
    measure("MPI_Sendrecv with open ends", open_ends);
    measure("MPI_Sendrecv_replace", replace);
    measure("MPI_Irecv, MPI_Isend", receive_first);
    measure("MPI_Isend, MPI_Recv", send_first);
    measure("MPI_Probe", probe);
    measure("MPI_Testall", test);
    MPI_Finalize();
    return 0;
}
