/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records how long each rank computes between its MPI calls on a real machine, in the form that
 * PARFOCAL_COMPUTATION_REPLAY reads: a library between a program and its MPI (pfinfo --record-program).
 *
 *   mpicc -O2 -shared -fPIC record.c -o record.so
 *   mpirun -np 2 -x LD_PRELOAD=./record.so -x PARFOCAL_COMPUTATION_RECORD=app.computation ./app
 *
 * A stretch lasts from the return of a call to the beginning of the next, less what looking at the clock
 * takes. What MPI and its callbacks call themselves counts as part of the call.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define OMPI_OMIT_MPI1_COMPAT_DECLS     1
#define OMPI_WANT_MPI_INTERFACE_WARNING 0
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct {
    unsigned long *ns;
    size_t count, room;
    long since, cost;
    int depth, on;
} record;

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void add(long ns)
{
    if (record.count == record.room) {
        record.room = record.room ? 2 * record.room : 4096;
        record.ns = realloc(record.ns, record.room * sizeof *record.ns);
        if (!record.ns)
            PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    record.ns[record.count++] = (unsigned long)(ns > record.cost ? ns - record.cost : 0);
}

static void call_begins(void)
{
    if (record.on && record.depth++ == 0)
        add(now() - record.since);
}

static void call_ends(void)
{
    if (record.on && --record.depth == 0)
        record.since = now();
}

static void begin(void)
{
    record.cost = 1000000;
    for (int i = 0; i < 1000; i++) {
        long first = now(), took = now() - first;
        record.cost = took < record.cost ? took : record.cost;
    }
    record.on = 1;
    record.since = now();
}

static void write_rank(FILE *out, int rank, const unsigned long *ns, unsigned long count)
{
    fprintf(out, "rank %d intervals %lu\n", rank, count);
    for (unsigned long i = 0; i < count; i++)
        fprintf(out, "%lu%c", ns[i], i % 16 == 15 || i + 1 == count ? '\n' : ' ');
}

static void receive_and_write(FILE *out, int ranks)
{
    write_rank(out, 0, record.ns, record.count);
    for (int rank = 1; rank < ranks; rank++) {
        unsigned long count, *ns;
        PMPI_Recv(&count, 1, MPI_UNSIGNED_LONG, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ns = malloc((count + 1) * sizeof *ns);
        if (!ns)
            PMPI_Abort(MPI_COMM_WORLD, 1);
        PMPI_Recv(ns, (int)count, MPI_UNSIGNED_LONG, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        write_rank(out, rank, ns, count);
        free(ns);
    }
}

static void end(void)
{
    const char *name = getenv("PARFOCAL_COMPUTATION_RECORD");
    unsigned long count = record.count;
    int rank, ranks;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank > 0) {
        PMPI_Send(&count, 1, MPI_UNSIGNED_LONG, 0, 0, MPI_COMM_WORLD);
        PMPI_Send(record.ns, (int)count, MPI_UNSIGNED_LONG, 0, 1, MPI_COMM_WORLD);
        return;
    }
    FILE *out = fopen(name && *name ? name : "record.computation", "w");
    if (!out) {
        perror("record: PARFOCAL_COMPUTATION_RECORD");
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    /* The replay's hosts compute 1 Gf per second, so that a recorded second is one there. */
    fprintf(out, "parfocal-computation 1\nranks %d\nspeed 1000000000\n", ranks);
    receive_and_write(out, ranks);
    if (fclose(out) != 0)
        PMPI_Abort(MPI_COMM_WORLD, 1);
}

int MPI_Init(int *argc, char ***argv)
{
    int result = PMPI_Init(argc, argv);
    begin();
    return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int result = PMPI_Init_thread(argc, argv, required, provided);
    begin();
    return result;
}

int MPI_Finalize(void)
{
    call_begins();
    record.on = 0;
    end();
    return PMPI_Finalize();
}
