/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The communication of an algebraic multigrid solver: a hierarchy of levels, each on a communicator of half
 * the ranks of the one above, with fewer values and more neighbours. Building it asks for partners with
 * probes of any source, as sparse matrix products do; solving it exchanges many small messages, completed by
 * Waitall, Testall or Test in turn, with small reductions between. Usage: multigrid [cycles] [values per
 * rank]
 */
#include "bench.h"

#include <stdlib.h>

#define LEVELS    6
#define PARTNERS  14
#define TAG_ASK   1
#define TAG_REPLY 2
#define TAG_HALO  3
#define TAG_BLOCK 4

struct level {
    MPI_Comm comm;
    int rank, size, values;
    int partners[PARTNERS], count;
    double *in[PARTNERS], *out[PARTNERS];
};

static struct level levels[LEVELS];
static int depth;
static long rounds; /* of tests and probes */

/* Neighbours at distances 1, 2, 4, ...: a coarse matrix is dense. */
static void find_partners(struct level *l)
{
    for (int distance = 1; distance < l->size; distance *= 2)
        for (int sign = -1; sign <= 1; sign += 2) {
            int partner = (l->rank + sign * distance + l->size) % l->size, known = partner == l->rank;
            for (int i = 0; i < l->count; i++)
                known |= l->partners[i] == partner;
            if (!known && l->count < PARTNERS)
                l->partners[l->count++] = partner;
        }
    for (int i = 0; i < l->count; i++) {
        l->in[i] = calloc((size_t)l->values, sizeof(double));
        l->out[i] = calloc((size_t)l->values, sizeof(double));
    }
}

/* Answers the partners that ask, until `missing` partners have asked; returns what is still missing. */
static int answer(const struct level *l, int missing)
{
    MPI_Status status;
    int flag, count;
    long row;
    MPI_Iprobe(MPI_ANY_SOURCE, TAG_ASK, l->comm, &flag, &status);
    rounds++;
    if (!flag)
        return missing;
    MPI_Get_count(&status, MPI_LONG, &count);
    MPI_Recv(&row, count, MPI_LONG, status.MPI_SOURCE, TAG_ASK, l->comm, MPI_STATUS_IGNORE);
    row += l->rank;
    MPI_Send(&row, 1, MPI_LONG, status.MPI_SOURCE, TAG_REPLY, l->comm);
    return missing - 1;
}

/* Each rank asks its partners something and answers them meanwhile. */
static void ask_partners(const struct level *l)
{
    MPI_Request requests[2 * PARTNERS];
    long questions[PARTNERS], replies[PARTNERS];
    int missing = l->count, done = 0;
    for (int i = 0; i < l->count; i++) {
        questions[i] = l->rank;
        MPI_Irecv(&replies[i], 1, MPI_LONG, l->partners[i], TAG_REPLY, l->comm, &requests[2 * i]);
        MPI_Isend(&questions[i], 1, MPI_LONG, l->partners[i], TAG_ASK, l->comm, &requests[2 * i + 1]);
    }
    while (missing > 0 || !done) {
        if (missing > 0)
            missing = answer(l, missing);
        MPI_Testall(2 * l->count, requests, &done, MPI_STATUSES_IGNORE);
    }
}

static void build(int values)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (depth = 0; depth < LEVELS && comm != MPI_COMM_NULL; depth++) {
        struct level *l = &levels[depth];
        *l = (struct level){.comm = comm, .values = values >> depth > 0 ? values >> depth : 1};
        MPI_Comm_rank(comm, &l->rank);
        MPI_Comm_size(comm, &l->size);
        find_partners(l);
        ask_partners(l);
        if (l->size == 1) {
            depth++;
            return;
        }
        MPI_Comm_split(comm, l->rank % 2 == 0 ? 0 : MPI_UNDEFINED, l->rank, &comm);
    }
}

static void tear_down(void)
{
    for (int i = 0; i < depth; i++) {
        for (int k = 0; k < levels[i].count; k++) {
            free(levels[i].in[k]);
            free(levels[i].out[k]);
        }
        MPI_Comm_free(&levels[i].comm);
    }
}

enum completion { WAITALL, TESTALL, TEST };

static void complete(enum completion how, int n, MPI_Request requests[])
{
    int flag = 0;
    if (how == WAITALL) {
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        return;
    }
    for (; how == TESTALL && !flag; rounds++)
        MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE);
    for (int i = 0; how == TEST && i < n; i++)
        for (flag = 0; !flag; rounds++)
            MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
}

static double relax(struct level *l, enum completion how)
{
    MPI_Request requests[2 * PARTNERS];
    double sum = 0;
    for (int i = 0; i < l->count; i++)
        MPI_Irecv(l->in[i], l->values, MPI_DOUBLE, l->partners[i], TAG_HALO, l->comm, &requests[i]);
    for (int i = 0; i < l->count; i++) {
        l->out[i][0] += 1;
        MPI_Isend(l->out[i], l->values, MPI_DOUBLE, l->partners[i], TAG_HALO, l->comm,
                  &requests[l->count + i]);
    }
    complete(how, 2 * l->count, requests);
    for (int i = 0; i < l->count; i++)
        sum += l->in[i][0];
    return sum;
}

/* To the coarser level, or back from it: ranks that are not there hand their values to the neighbour that is.
 */
static void transfer(struct level *l, int down)
{
    int odd = l->rank % 2, other = odd ? l->rank - 1 : l->rank + 1;
    if (other >= l->size || !l->count)
        return;
    if (odd == down)
        MPI_Send(l->out[0], l->values, MPI_DOUBLE, other, TAG_BLOCK, l->comm);
    else
        MPI_Recv(l->in[0], l->values, MPI_DOUBLE, other, TAG_BLOCK, l->comm, MPI_STATUS_IGNORE);
}

static double cycle(enum completion how)
{
    double sum = 0, all;
    for (int i = 0; i < depth; i++) {
        sum += relax(&levels[i], how);
        transfer(&levels[i], 1);
    }
    for (int i = depth - 1; i >= 0; i--) {
        transfer(&levels[i], 0);
        sum += relax(&levels[i], WAITALL);
    }
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, levels[0].comm);
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_MAX, levels[0].comm);
    return all;
}

int main(int argc, char **argv)
{
    int cycles = argc > 1 ? atoi(argv[1]) : 100, values = argc > 2 ? atoi(argv[2]) : 64, rank;
    double result = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = bench_clock(), solving[3] = {0};
    int builds = cycles / 10 + 1;
    for (int i = 0; i < builds; i++) {
        build(values);
        if (i < builds - 1)
            tear_down();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double built = bench_clock();
    for (int how = 0; how < 3; how++) {
        double start = bench_clock();
        for (int i = 0; i < cycles; i++)
            result = cycle((enum completion)how);
        MPI_Barrier(MPI_COMM_WORLD);
        solving[how] = bench_clock() - start;
    }
    tear_down();
    if (rank == 0) {
        printf("result %g, %ld tests and probes\n", result, rounds);
        printf("BENCH simulated s %.9e\n", MPI_Wtime());
        bench_report("build", built - begin, builds);
        bench_report("cycle, Waitall", solving[WAITALL], cycles);
        bench_report("cycle, Testall", solving[TESTALL], cycles);
        bench_report("cycle, Test", solving[TEST], cycles);
    }
    MPI_Finalize();
    return 0;
}
