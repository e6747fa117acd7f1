/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What N of something cost: growth WHAT N. Pairs of neighbouring ranks. Prints the processor time of the
 * whole process in seconds, what its memory has grown for each of the N on each rank, and the simulated time.
 * growth.py runs it with growing N.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"

#include <parfocal.h>

static int me, peer, n;
static MPI_Request *requests;
static char byte[2][8];

/* Messages in flight, in the order of the receives or against it. */
static void exchange(int backwards)
{
    for (int i = 0; i < n; i++)
        MPI_Irecv(byte[0], 1, MPI_CHAR, peer, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        MPI_Isend(byte[1], 1, MPI_CHAR, peer, backwards ? n - 1 - i : i, MPI_COMM_WORLD, &requests[n + i]);
    MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
}

static void in_flight(void)
{
    exchange(0);
}

static void pending(void)
{
    exchange(1);
}

/* Received the last one first, from there (1) or from anywhere. */
static void unexpected_from(int source)
{
    for (int i = 0; i < n; i++)
        MPI_Isend(byte[1], 1, MPI_CHAR, peer, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = n - 1; i >= 0; i--)
        MPI_Recv(byte[0], 1, MPI_CHAR, source, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void unexpected(void)
{
    unexpected_from(peer);
}

static void unexpected_any(void)
{
    unexpected_from(MPI_ANY_SOURCE);
}

static void communicators(void)
{
    MPI_Comm *comms = malloc((size_t)n * sizeof *comms);
    for (int i = 0; i < n; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < n; i++)
        MPI_Barrier(comms[i]);
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&comms[i]);
    free(comms);
}

static void windows(void)
{
    MPI_Win *wins = malloc((size_t)n * sizeof *wins);
    for (int i = 0; i < n; i++) {
        MPI_Win_create(byte[0], 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &wins[i]);
        MPI_Win_fence(0, wins[i]);
        MPI_Put(byte[1], 8, MPI_CHAR, peer, 0, 8, MPI_CHAR, wins[i]);
        MPI_Win_fence(0, wins[i]);
    }
    for (int i = 0; i < n; i++)
        MPI_Win_free(&wins[i]);
    free(wins);
}

static void types(void)
{
    MPI_Datatype *made = malloc((size_t)n * sizeof *made);
    for (int i = 0; i < n; i++) {
        MPI_Type_vector(2, 1, 2 + i % 2, MPI_CHAR, &made[i]);
        MPI_Type_commit(&made[i]);
        MPI_Sendrecv(byte[1], 1, made[i], peer, 0, byte[0], 1, made[i], peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < n; i++)
        MPI_Type_free(&made[i]);
    free(made);
}

/* A type of so many blocks, packed and unpacked. */
static void blocks(void)
{
    MPI_Datatype type;
    size_t span = 3 * (size_t)n;
    char *loose = calloc(span, 1), *packed = malloc((size_t)n);
    int *places = malloc((size_t)n * sizeof *places), position = 0;
    for (int i = 0; i < n; i++)
        places[i] = 3 * i + i % 2;
    MPI_Type_create_indexed_block(n, 1, places, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Pack(loose, 1, type, packed, n, &position, MPI_COMM_WORLD);
    position = 0;
    MPI_Unpack(packed, n, &position, loose, 1, type, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    free(places);
    free(packed);
    free(loose);
}

static void epoch(int swaps)
{
    static long value, one = 1, zero, got;
    MPI_Win win;
    MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; i++)
        if (swaps)
            MPI_Compare_and_swap(&one, &zero, &got, MPI_LONG, 0, 0, win);
        else
            MPI_Put(&one, 1, MPI_LONG, peer, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void puts_of_epoch(void)
{
    epoch(0);
}

static void swaps_of_epoch(void)
{
    epoch(1);
}

/* Names that the schedule may have, too. */
static void phases(void)
{
    char name[32];
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "p%d", i);
        pf_phase(name);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void ranks(void)
{
    MPI_Allreduce(byte[1], byte[0], 1, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD);
    MPI_Sendrecv(byte[1], 1, MPI_CHAR, peer, 0, byte[0], 1, MPI_CHAR, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* All ranks in one communicator with falling keys, and in pairs. */
static void splits(void)
{
    enum { TIMES = 8 };
    for (int i = 0; i < TIMES; i++) {
        MPI_Comm made;
        MPI_Comm_split(MPI_COMM_WORLD, i % 2 ? me / 2 : 0, -me, &made);
        MPI_Comm_free(&made);
    }
}

/* Each rank with each other one. */
static void pairs(void)
{
    int all;
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    for (int i = 1; i < all; i++)
        MPI_Sendrecv(byte[1], 1, MPI_CHAR, (me + i) % all, 0, byte[0], 1, MPI_CHAR, (me - i + all) % all, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Long messages between all at a time, which share the links. */
static void crowded(void)
{
    enum { BYTES = 16384 };
    int all;
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    char *out = calloc(1, BYTES), *in = malloc((size_t)all * BYTES);
    for (int i = 1; i < all; i++)
        MPI_Irecv(in + (size_t)i * BYTES, BYTES, MPI_CHAR, (me - i + all) % all, 0, MPI_COMM_WORLD,
                  &requests[i - 1]);
    for (int i = 1; i < all; i++)
        MPI_Isend(out, BYTES, MPI_CHAR, (me + i) % all, 0, MPI_COMM_WORLD, &requests[all + i - 2]);
    MPI_Waitall(2 * (all - 1), requests, MPI_STATUSES_IGNORE);
    free(in);
    free(out);
}

/* The most that the process has ever had. */
static double memory(void)
{
    struct rusage usage;
    syscall(SYS_getrusage, RUSAGE_SELF, &usage);
    return 1024.0 * (double)usage.ru_maxrss;
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {{"in-flight", in_flight},
             {"pending", pending},
             {"unexpected", unexpected},
             {"unexpected-any", unexpected_any},
             {"communicators", communicators},
             {"windows", windows},
             {"types", types},
             {"blocks", blocks},
             {"puts", puts_of_epoch},
             {"swaps", swaps_of_epoch},
             {"phases", phases},
             {"ranks", ranks},
             {"splits", splits},
             {"pairs", pairs},
             {"crowded", crowded}};

int main(int argc, char **argv)
{
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    peer = me ^ 1;
    n = argc > 2 ? atoi(argv[2]) : 100;
    requests = malloc(2 * (size_t)n * sizeof(MPI_Request));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    double start = bench_clock(), before = memory();
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (argc > 1 && strcmp(argv[1], kinds[i].name) == 0)
            kinds[i].run();
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("%.6f s processor, %.0f B each, %.12g s simulated\n", bench_clock() - start,
               (memory() - before) / n / all, MPI_Wtime());
    free(requests);
    MPI_Finalize();
    return 0;
}
