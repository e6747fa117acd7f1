/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Micro-benchmarks in the manner of OSU's: one operation again and again, each message checked.
 *
 *   micro [-n ITERATIONS] [-w WARMUP] [-s BYTES,BYTES,...] all | OPERATION...
 *   micro list
 *
 * Prints for each operation and size the mean time of an iteration over the iterations after the warm-up and
 * over the ranks that take part. MPI_Pcontrol(i) marks iterations 0, 10, 20 ... and the end of the last one:
 * a schedule can switch the model there. The exit status is 1 when a message was wrong.
 */
#include "micro.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct settings {
    int iterations, warmup, sizes, bytes[16];
};

static const struct operation *const tables[] = {p2p_operations, stream_operations, coll_operations,
                                                 rma_operations};

void bench_nothing(struct bench *b)
{
    (void)b;
}

int bench_full(const struct bench *b, int iteration)
{
    return iteration % MARK == 0 || iteration >= b->last;
}

static uint64_t word(int iteration, int source, int target, int place)
{
    return ((uint64_t)iteration << 40) + ((uint64_t)source << 30) + ((uint64_t)target << 20) +
           (uint64_t)place;
}

void bench_fill(struct bench *b, uint64_t *block, int words, int iteration, int source, int target)
{
    int step = bench_full(b, iteration) || words < 2 ? 1 : words - 1;
    for (int i = 0; i < words; i += step)
        block[i] = word(iteration, source, target, i);
}

void bench_expect(struct bench *b, int right)
{
    b->checks++;
    b->wrong += !right;
}

void bench_check(struct bench *b, const uint64_t *block, int words, int iteration, int source, int sources,
                 int target)
{
    int step = bench_full(b, iteration) || words < 2 ? 1 : words - 1, right = 1;
    uint64_t others = ((uint64_t)(sources - 1) * (uint64_t)sources / 2) << 30;
    for (int i = 0; i < words; i += step)
        right &= block[i] == (uint64_t)sources * word(iteration, source, target, i) + others;
    bench_expect(b, right);
}

/* Marks the iteration. A window moves to another model only at a fence, so it has one here. */
static void mark(struct bench *b)
{
    if (b->iteration % MARK)
        return;
    MPI_Pcontrol(b->iteration);
    if (b->window != MPI_WIN_NULL)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, b->window);
}

/* With a barrier after each iteration, the iterations are timed one by one; else all of them together. */
static double iterate(const struct operation *op, struct bench *b, const struct settings *settings)
{
    double seconds = 0, begin = 0;
    for (b->iteration = 0; b->iteration < settings->iterations; b->iteration++) {
        mark(b);
        op->fill(b);
        if (op->together || b->iteration == settings->warmup)
            begin = MPI_Wtime();
        if (!b->idle)
            op->run(b);
        if (b->iteration >= settings->warmup && (op->together || b->iteration == b->last))
            seconds += MPI_Wtime() - begin;
        if (op->together)
            MPI_Barrier(MPI_COMM_WORLD);
        if (!b->idle)
            op->check(b);
    }
    MPI_Pcontrol(settings->iterations);
    return b->idle ? 0 : seconds / (settings->iterations - settings->warmup);
}

/* Irregular blocks: every other one has half of the words. */
static void layout(struct bench *b)
{
    for (int r = 0; r < b->ranks; r++) {
        b->counts[r] = r % 2 ? b->words : (b->words + 1) / 2;
        b->mine[r] = b->rank % 2 ? b->words : (b->words + 1) / 2;
        b->places[r] = r * b->words;
        b->offsets[r] = 8 * b->places[r];
        b->types[r] = MPI_UINT64_T;
    }
}

static int measure(const struct operation *op, struct bench *b, int bytes, const struct settings *settings)
{
    b->words = op->sized ? bytes / 8 : 1;
    b->last = settings->iterations - 1;
    b->idle = 0;
    b->window = MPI_WIN_NULL;
    b->comm = MPI_COMM_WORLD;
    layout(b);
    size_t blocks = (size_t)b->ranks + WINDOW;
    b->send = calloc(2 * blocks * (size_t)b->words, 8);
    b->receive = calloc(2 * blocks * (size_t)b->words, 8);
    if (!b->send || !b->receive)
        MPI_Abort(MPI_COMM_WORLD, 2);
    op->open(b);
    MPI_Barrier(MPI_COMM_WORLD);
    double mine[4] = {iterate(op, b, settings), !b->idle, (double)b->checks, (double)b->wrong}, all[4];
    op->close(b);
    MPI_Allreduce(mine, all, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (b->rank == 0)
        printf("%s,%s,%d,%.12g,%.0f,%.0f\n", op->name, op->kind, op->sized ? bytes : 0, all[0] / all[1],
               all[2], all[3]);
    fflush(stdout);
    free(b->send);
    free(b->receive);
    b->checks = b->wrong = 0;
    return all[3] > 0 || all[2] == 0;
}

static int selected(const struct operation *op, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], op->name) == 0 || strcmp(names[i], "all") == 0)
            return 1;
    return 0;
}

static int run_all(struct bench *b, const struct settings *settings, int count, char **names)
{
    int bad = 0, done = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct operation *op = tables[t]; op->name; op++) {
            if (!selected(op, count, names))
                continue;
            done++;
            for (int s = 0; s < (op->sized ? settings->sizes : 1); s++)
                bad |= measure(op, b, settings->bytes[s], settings);
        }
    return bad || !done;
}

static void list(void)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct operation *op = tables[t]; op->name; op++)
            printf("%s,%s\n", op->name, op->kind);
}

static int usage(const char *why)
{
    fprintf(stderr,
            "micro: %s; usage: micro [-n ITERATIONS] [-w WARMUP] [-s BYTES,...] all | list | OPERATION...\n",
            why);
    return 2;
}

/* Returns what is wrong with the command line, NULL when nothing is. */
static const char *read_settings(struct settings *settings, int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "n:w:s:")) != -1) {
        if (option == 'n')
            settings->iterations = atoi(optarg);
        else if (option == 'w')
            settings->warmup = atoi(optarg);
        else if (option != 's')
            return "unknown option";
        else
            for (char *next = (settings->sizes = 0, optarg); *next && settings->sizes < 16;
                 next += *next == ',')
                settings->bytes[settings->sizes++] = (int)strtol(next, &next, 10);
    }
    for (int i = 0; i < settings->sizes; i++)
        if (settings->bytes[i] < 8 || settings->bytes[i] > 1 << 22 || settings->bytes[i] % 8)
            return "sizes are multiples of 8 up to 4 MiB";
    if (settings->warmup < 0 || settings->iterations <= settings->warmup || settings->iterations > 100000)
        return "more iterations than those of the warm-up are needed";
    return optind < argc ? NULL : "no operation";
}

int main(int argc, char **argv)
{
    struct settings settings = {110, 10, 3, {8, 1024, 32768}};
    struct bench b = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    const char *why = read_settings(&settings, argc, argv);
    if (!why && (b.ranks % 2 || b.ranks > MOST))
        why = "an even number of ranks up to 64 is needed";
    int status = 0;
    if (why) {
        status = b.rank == 0 ? usage(why) : 2;
    } else if (strcmp(argv[optind], "list") == 0) {
        if (b.rank == 0)
            list();
    } else {
        b.first = b.rank < b.ranks / 2;
        b.pair = (b.rank + b.ranks / 2) % b.ranks;
        b.next = (b.rank + 1) % b.ranks;
        b.before = (b.rank + b.ranks - 1) % b.ranks;
        status = run_all(&b, &settings, argc - optind, argv + optind);
    }
    MPI_Finalize();
    return status;
}
