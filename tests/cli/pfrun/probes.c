/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that wait by looking in model analytic: a look in vain takes 100 ns, and the message is found by the
 * first one after its arrival, also by a rank that takes many of them at once. Three ranks, the last two on
 * one node, with the parameters of probes.bats.
 */
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

enum {
    LOOK = 100, /* ns, as all times here */
    ONE_BY_ONE = 16
};

static int rank, wrong;
static double begin;

static void wait_for(double nanoseconds)
{
    struct timespec t = {0, (long)nanoseconds};
    nanosleep(&t, NULL);
}

/* All ranks go on at the next multiple of a millisecond. */
static void together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    begin = (floor(MPI_Wtime() * 1e3) + 2) * 1e-3;
    wait_for((begin - MPI_Wtime()) * 1e9);
    begin = MPI_Wtime();
}

static void expect(const char *what, int vain, int expected)
{
    double passed = (MPI_Wtime() - begin) * 1e9;
    bool few = expected > ONE_BY_ONE + 1 ? vain > ONE_BY_ONE && vain < expected : vain == expected;
    if (few && fabs(passed - (double)LOOK * expected) < 1e-3)
        return;
    printf("rank %d: %s: %d looks in vain and %.4f ns, not %d\n", rank, what, vain, passed, expected);
    wrong = 1;
}

/* Looks until it is there, at most `most` times. Returns how often in vain. */
static int look(int source, int tag, int most)
{
    int vain = 0, flag = 0;
    while (!flag && vain < most) {
        MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        vain += !flag;
    }
    return vain;
}

static void send(int to, int tag, double after)
{
    double number = 1;
    wait_for(after);
    MPI_Send(&number, 1, MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
}

static void receive(int from, int tag)
{
    double number;
    MPI_Recv(&number, 1, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* From another node: there 1058 ns after it was sent. */
static void from_far(const char *what, int source, double after)
{
    together();
    if (rank == 0)
        send(1, 5, after);
    if (rank == 1) {
        expect(what, look(source, 5, 1000), (int)ceil((after + 1058) / LOOK));
        receive(0, 5);
    }
}

/* Two receives, the later one first: each is over at the first look after its message. */
static void two_receives(void)
{
    MPI_Request requests[2];
    double numbers[2];
    int vain = 0, flag = 0;
    together();
    if (rank != 1) {
        send(1, 8, rank == 0 ? 7330 : 5000);
        return;
    }
    for (int from = 0; from < 3; from += 2)
        MPI_Irecv(&numbers[from / 2], 1, MPI_DOUBLE, from, 8, MPI_COMM_WORLD, &requests[from / 2]);
    while (!flag) {
        MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        vain += !flag;
    }
    expect("two receives", vain, 84);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    from_far("from another node", 0, 330);
    from_far("from another node, later", 0, 3330);
    from_far("from another node, late", 0, 53330);
    from_far("from any source", MPI_ANY_SOURCE, 3330);
    from_far("from any source, late", MPI_ANY_SOURCE, 53330);
    two_receives();

    together(); /* what comes from the own node is quicker than what was probed for before */
    if (rank == 2)
        send(1, 6, 500);
    if (rank == 1) {
        expect("nothing from another node", look(0, 5, 9), 9);
        expect("from the own node", 9 + look(2, 6, 1), 9);
        receive(2, 6);
    }

    double number;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 1)
        MPI_Irecv(&number, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
    from_far("with a receive from any source", 0, 3330);
    if (rank == 2)
        send(1, 7, 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    MPI_Finalize();
    if (rank == 1 && !wrong)
        printf("looks: at their dates\n");
    return wrong;
}
