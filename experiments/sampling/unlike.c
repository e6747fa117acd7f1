/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four bodies in which no call is made equally often by all ranks, or nothing comes again, for samples of
 * slices: unlike sweep|deal|pairs|sizes NUMBER. sweep sends wavefronts over a grid of ranks from all four
 * corners, NUMBER times; deal gives NUMBER tasks, of unequal results, to who comes first; pairs exchanges
 * random volumes between NUMBER random pairings, in which a third of the pairs has a rest; sizes measures
 * four operations on growing groups over growing sizes, each NUMBER times.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLANES = 60, PLANE = 6000, RESULT = 65536, VOLUME = 20000, LARGEST = 65536, MOST = 1024 };

static char out[2 * LARGEST], in[2 * LARGEST];
static unsigned state = 1; /* the same for all ranks */
static int rank, ranks;

static unsigned next_random(void)
{
    state = state * 1103515245u + 12345u;
    return state >> 8;
}

static void sweep_from(MPI_Comm grid, int corner)
{
    int west, east, south, north;

    MPI_Cart_shift(grid, 0, corner & 1 ? -1 : 1, &west, &east);
    MPI_Cart_shift(grid, 1, corner & 2 ? -1 : 1, &south, &north);
    for (int i = 0; i < PLANES; i++) {
        if (west != MPI_PROC_NULL)
            MPI_Recv(in, PLANE, MPI_BYTE, west, i, grid, MPI_STATUS_IGNORE);
        if (south != MPI_PROC_NULL)
            MPI_Recv(in, PLANE, MPI_BYTE, south, i, grid, MPI_STATUS_IGNORE);
        if (east != MPI_PROC_NULL)
            MPI_Send(out, PLANE, MPI_BYTE, east, i, grid);
        if (north != MPI_PROC_NULL)
            MPI_Send(out, PLANE, MPI_BYTE, north, i, grid);
    }
}

static void sweep(int number)
{
    int sizes[2] = {0, 0}, periods[2] = {0, 0};
    MPI_Comm grid;

    MPI_Dims_create(ranks, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
    for (int i = 0; i < 4 * number; i++)
        sweep_from(grid, i % 4);
    MPI_Comm_free(&grid);
}

static void deal(int number)
{
    MPI_Status status;
    int task = 0, ended = 0, dealt = 0;

    while (rank > 0 && task >= 0) {
        MPI_Send(out, 64 + task * 7919 % RESULT, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    while (rank == 0 && ended < ranks - 1) {
        MPI_Recv(in, RESULT + 64, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        task = dealt < number ? ++dealt : -1;
        ended += task < 0;
        MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD);
    }
}

static void pair(void)
{
    int order[MOST];

    for (int i = 0; i < ranks; i++)
        order[i] = i;
    for (int i = ranks - 1; i > 0; i--) {
        int other = (int)(next_random() % (unsigned)(i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i + 1 < ranks; i += 2) {
        int bytes = (int)(next_random() % VOLUME);
        int other = order[i] == rank ? order[i + 1] : order[i + 1] == rank ? order[i] : -1;
        if (next_random() % 3 > 0 && other >= 0)
            MPI_Sendrecv(out, bytes, MPI_BYTE, other, 0, in, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    }
}

static void measure(MPI_Comm group, int what, int size, int turn)
{
    int members, me;

    MPI_Comm_size(group, &members);
    MPI_Comm_rank(group, &me);
    if (what == 0)
        MPI_Sendrecv(out, size, MPI_BYTE, (me + 1) % members, 0, in, size, MPI_BYTE,
                     (me + members - 1) % members, 0, group, MPI_STATUS_IGNORE);
    else if (what == 1)
        MPI_Allreduce(out, in, size / 4 + 1, MPI_BYTE, MPI_BOR, group);
    else if (what == 2)
        MPI_Bcast(out, size, MPI_BYTE, turn % members, group);
    else
        MPI_Alltoall(out, size / members + 1, MPI_BYTE, in, size / members + 1, MPI_BYTE, group);
}

static void sizes(int number)
{
    for (int members = 2; members <= ranks; members *= 2) {
        MPI_Comm group;
        MPI_Comm_split(MPI_COMM_WORLD, rank < members ? 0 : MPI_UNDEFINED, rank, &group);
        for (int what = 0; what < 4 && group != MPI_COMM_NULL; what++)
            for (int size = 1; size <= LARGEST; size *= 4)
                for (int turn = 0; turn < number; turn++)
                    measure(group, what, size, turn);
        if (group != MPI_COMM_NULL)
            MPI_Comm_free(&group);
    }
}

int main(int argc, char **argv)
{
    const char *body = argc > 1 ? argv[1] : "";
    int number = argc > 2 ? atoi(argv[2]) : 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (number < 1 || ranks > MOST ||
        (strcmp(body, "sweep") && strcmp(body, "deal") && strcmp(body, "pairs") && strcmp(body, "sizes"))) {
        fprintf(stderr, "usage: unlike sweep|deal|pairs|sizes NUMBER, on %d ranks at most\n", MOST);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (!strcmp(body, "sweep"))
        sweep(number);
    else if (!strcmp(body, "deal"))
        deal(number);
    else if (!strcmp(body, "sizes"))
        sizes(number);
    for (int i = 0; i < number && !strcmp(body, "pairs"); i++)
        pair();
    MPI_Finalize();
    return 0;
}
