/* SPDX-License-Identifier: BSD-3-Clause */
/* Four phases, each with every kind of call that a trace must show well: blocking, nonblocking, collective,
 * one that calls back a function of the application, which calls MPI itself. The argument says how many
 * rounds a phase has. At the end every rank prints its date to the last bit. */
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int drop(MPI_Comm comm, int key, void *value, void *extra)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    (void)key, (void)value, (void)extra;
    return MPI_Comm_get_name(comm, name, &length); /* the only one: not of the application's own */
}

static void round_of_calls(int rank, int size, int i)
{
    static char out[3][4096], in[3][4096];
    int right = (rank + 1) % size, left = (rank + size - 1) % size, bytes = i % 3 ? 8 : 4096;
    double mine = rank, sum;
    MPI_Request requests[2];
    MPI_Irecv(in[0], bytes, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out[0], bytes, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out[1], bytes, MPI_CHAR, right, 1, in[1], bytes, MPI_CHAR, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (rank % 2 == 0 && right != 0)
        MPI_Send(out[2], bytes, MPI_CHAR, right, 2, MPI_COMM_WORLD);
    else if (rank % 2 == 1)
        MPI_Recv(in[2], bytes, MPI_CHAR, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const char *const phases[] = {"one", "two", "three", "rest, \"quoted\""};
    int rank, size, key, rounds = argc > 1 ? atoi(argv[1]) : 2;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &key, NULL);
    for (int phase = 0; phase < 4; phase++) {
        pf_phase(phases[phase]);
        for (int i = 0; i < rounds; i++)
            round_of_calls(rank, size, i);
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_set_attr(copy, key, NULL);
        MPI_Comm_free(&copy);
    }
    MPI_Comm_free_keyval(&key);
    double now = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d: %a %a\n", rank, now, MPI_Wtime());
    MPI_Finalize();
    return 0;
}
