/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ten cycles of a Monte-Carlo particle code, each a phase cycle-0 ... cycle-9 for the schedule. Prints a line
 * for each cycle: simulated time, traffic, and the physics, which must be the same on any number of ranks in
 * any model. See README.md.
 */
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "particles.h"

enum { MAX_CYCLES = 10000 };

struct options {
    int side, per_cell, cycles, capacity;
    double cost, skew; /* seconds */
    int skewed;        /* before this cycle */
    enum done done;
    enum receives receives;
    unsigned long long expect;
};

/* Of one cycle, on this rank. */
struct result {
    double begin, end, track;
    double processor; /* time of the simulation until the end */
    struct traffic traffic;
    char model[16];
    int64_t count[NCOUNT];
    uint64_t hash;
};

static int rank, ranks;
static struct result results[MAX_CYCLES];

/* The clock of the C library is the simulated one. */
static double processor_time(void)
{
    struct timespec now;

    syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void fail(const char *why)
{
    fprintf(stderr, "particles: rank %d: %s\n", rank, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int choose(const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (!strcmp(word, words[i]))
            return i;
    fail("unknown word in the options");
    return 0;
}

static void read_options(struct options *o, int argc, char **argv)
{
    static const char *const dones[] = {"allreduce", "iallreduce", "rounds", NULL};
    static const char *const fates[] = {"cancel", "keep", "probe", NULL};

    *o = (struct options){
        .side = 12, .per_cell = 2, .cycles = 10, .capacity = 4096, .cost = 50e-9, .skewed = -1};
    o->done = DONE_IALLREDUCE;
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(name, "-side"))
            o->side = atoi(value);
        else if (!strcmp(name, "-per-cell"))
            o->per_cell = atoi(value);
        else if (!strcmp(name, "-cycles"))
            o->cycles = atoi(value);
        else if (!strcmp(name, "-capacity"))
            o->capacity = atoi(value);
        else if (!strcmp(name, "-cost"))
            o->cost = atof(value);
        else if (!strcmp(name, "-skew"))
            o->skew = atof(value);
        else if (!strcmp(name, "-skewed"))
            o->skewed = atoi(value);
        else if (!strcmp(name, "-done"))
            o->done = (enum done)choose(value, dones);
        else if (!strcmp(name, "-receives"))
            o->receives = (enum receives)choose(value, fates);
        else if (!strcmp(name, "-expect"))
            o->expect = strtoull(value, NULL, 16);
        else
            fail("unknown option");
    }
    if (o->side < 1 || o->side > 1000 || o->per_cell < 1 || o->cycles < 1 || o->cycles > MAX_CYCLES ||
        o->capacity < 1 || o->cost < 0 || o->skew < 0)
        fail("an option is out of range");
}

/* Even ranks come late to a cycle: does a difference between ranks outlive it? */
static void be_late(const struct options *o, int cycle)
{
    struct timespec span = {.tv_nsec = (long)(o->skew * 1e9)};

    if (cycle == o->skewed && rank % 2 == 0)
        nanosleep(&span, NULL);
}

static void run_cycle(struct domain *domain, const struct options *o, int cycle, struct result *result)
{
    int64_t cells = (int64_t)o->side * o->side * o->side, total;
    int64_t bins[NBIN];

    be_late(o, cycle);
    MPI_Barrier(MPI_COMM_WORLD);
    physics_source(domain, cycle, o->per_cell);
    total = domain->flying.count;
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    physics_control(domain, total, 4 * cells * o->per_cell);

    double begin = MPI_Wtime();
    result->traffic = exchange_cycle(domain, o->cost);
    result->track = MPI_Wtime() - begin;

    result->hash = physics_hash(domain);
    MPI_Allreduce(MPI_IN_PLACE, &result->hash, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(domain->count, result->count, NCOUNT, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(domain->bins, bins, NBIN, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < NBIN; i++)
        result->hash = result->hash * 31 + (uint64_t)bins[i];

    const int64_t *count = result->count;
    if (count[STARTED] + count[BORN] + count[SPLIT] != count[ROULETTE] + count[ABSORBED] + count[CENSUS])
        fail("particles were lost");
}

/* Every particle must be where it belongs. */
static void check_places(const struct domain *domain)
{
    for (long i = 0; i < domain->census.count; i++) {
        const struct particle *p = &domain->census.p[i];
        for (int d = 0; d < NDIM; d++)
            if (p->cell[d] < domain->first[d] || p->cell[d] >= domain->first[d] + domain->len[d] ||
                p->at[d] < p->cell[d] - 1e-9 || p->at[d] > p->cell[d] + 1 + 1e-9)
                fail("a particle is in the wrong domain");
    }
}

/* Of all cycles, one message: a program that has many would else be known by its report. */
static void over_ranks(double *values, int count, MPI_Op op)
{
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, op, MPI_COMM_WORLD);
}

/* A cycle lasts from the end of the one before on the slowest rank to its own. */
static void report(int cycles, double begin, double processor_begin)
{
    static double first[MAX_CYCLES], last[MAX_CYCLES], track[MAX_CYCLES];
    static struct traffic traffic[MAX_CYCLES];

    for (int i = 0; i < cycles; i++) {
        first[i] = last[i] = results[i].end;
        track[i] = results[i].track;
        traffic[i] = results[i].traffic;
    }
    over_ranks(&begin, 1, MPI_MAX);
    over_ranks(first, cycles, MPI_MIN);
    over_ranks(last, cycles, MPI_MAX);
    over_ranks(track, cycles, MPI_MAX);
    MPI_Allreduce(MPI_IN_PLACE, traffic, 3 * cycles, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < cycles && rank == 0; i++) {
        struct result *r = &results[i];
        printf("cycle %d %s simulated %.12e track %.12e spread %.6e processor %.6f passes %lld tests %lld "
               "messages "
               "%lld segments %lld census %lld hash %016llx\n",
               i, r->model, last[i] - begin, track[i], last[i] - first[i], r->processor - processor_begin,
               (long long)traffic[i].passes, (long long)traffic[i].tests, (long long)traffic[i].messages,
               (long long)r->count[SEGMENTS], (long long)r->count[CENSUS], (unsigned long long)r->hash);
        begin = last[i];
        processor_begin = r->processor;
    }
}

int main(int argc, char **argv)
{
    struct options options;
    struct domain domain;
    int dims[NDIM] = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    read_options(&options, argc, argv);
    MPI_Dims_create(ranks, NDIM, dims);
    for (int d = 0; d < NDIM; d++)
        if (dims[d] > options.side)
            fail("more ranks than cells in a direction");
    domain_place(&domain, options.side, dims, rank);
    exchange_begin(&domain, options.done, options.receives, options.capacity);
    double begin = MPI_Wtime(), processor_begin = processor_time();
    for (int i = 0; i < options.cycles; i++) {
        char name[32];
        snprintf(name, sizeof name, "cycle-%d", i);
        pf_phase(name);
        snprintf(results[i].model, sizeof results[i].model, "%s", pf_model_current());
        run_cycle(&domain, &options, i, &results[i]);
        check_places(&domain);
        results[i].end = MPI_Wtime();
        results[i].processor = processor_time();
    }
    pf_phase("report");
    exchange_end();
    report(options.cycles, begin, processor_begin);
    unsigned long long hash = results[options.cycles - 1].hash;
    if (rank == 0 && options.expect && hash != options.expect)
        fail("the physics is not that of the reference run");
    domain_free(&domain);
    MPI_Finalize();
    return 0;
}
