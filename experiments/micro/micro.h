/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MICRO_H
#define MICRO_H

/*
 * The benchmark in progress and what its operations share. A block is the message of one operation: `words`
 * words, each of which names its iteration, sender, receiver and place, so that a message that is stale, lost
 * or in the wrong place is seen.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

enum { WINDOW = 16, MARK = 10, MOST = 64 }; /* messages in flight; iterations between two marks; ranks */

struct bench {
    MPI_Comm comm; /* all ranks, or their ring for neighbourhoods */
    int rank, ranks;
    int pair, first;            /* the other rank of my pair, and whether I am the one that begins */
    int next, before;           /* on the ring of all ranks */
    int words, iteration, last; /* `last` iteration */
    int idle;                   /* takes no part: only one pair is busy */
    uint64_t *send, *receive;   /* room for a block of each rank and each message in flight */
    int counts[MOST], mine[MOST], places[MOST],
        offsets[MOST]; /* irregular blocks: words, places in words and in bytes */
    MPI_Datatype types[MOST];
    MPI_Datatype strided; /* each second word */
    MPI_Request requests[2 * WINDOW];
    MPI_Win window;
    MPI_Group to, from; /* the ranks whose windows I use, and that use mine */
    uint64_t *memory;   /* of the window: two slots, for even and odd iterations, so that a fast rank disturbs
                           no check */
    double entered, left; /* a barrier, when */
    long checks, wrong;
};

/* One benchmark. `open` and `close` may be communicating; `fill` and `check` see no messages. */
struct operation {
    const char *name, *kind;
    int sized;    /* 0: has no message, or one of 8 bytes, whatever the size */
    int together; /* a barrier after each iteration, as the OSU benchmarks have it */
    void (*open)(struct bench *b);
    void (*fill)(struct bench *b);
    void (*run)(struct bench *b); /* what is timed */
    void (*check)(struct bench *b);
    void (*close)(struct bench *b);
};

extern const struct operation p2p_operations[], stream_operations[], coll_operations[],
    rma_operations[]; /* the last has no name */

/* Every word at the first iteration after each mark and at the last one; else the first and the last word,
 * because looking at all of them would take longer than the simulation. */
int bench_full(const struct bench *b, int iteration);

/* Writes a block of `words` words, as `source` sends it to `target`. */
void bench_fill(struct bench *b, uint64_t *block, int words, int iteration, int source, int target);

/* Looks at a block: the sum of the blocks of `sources` ranks, of which `source` is the first. */
void bench_check(struct bench *b, const uint64_t *block, int words, int iteration, int source, int sources,
                 int target);

/* Counts one more check, and whether it was right. */
void bench_expect(struct bench *b, int right);

void bench_nothing(struct bench *b);

/* Only the pair of rank 0 takes part. */
void bench_open_pair(struct bench *b);

#endif
