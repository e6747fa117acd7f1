/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/export.h"
#include "adapters/analytic/replay/graph.h"
#include "base/self.h"

/* A recorded job as arrays, for a replay without ranks. */

enum an_op_kind {
    AN_OP_COMPUTE,    /* flops; mode 1: inside a collective */
    AN_OP_SEND,       /* mode, peer, tag, bytes */
    AN_OP_ISEND,      /* the same, slot */
    AN_OP_RECEIVE,    /* peer, tag, bytes */
    AN_OP_IRECEIVE,   /* the same, slot */
    AN_OP_EXCHANGE,   /* MPI_Sendrecv: the receive; the send is the next operation */
    AN_OP_WAIT,       /* slot; mode 1: MPI_Waitall of that one */
    AN_OP_WAIT_ALL,   /* `count` slots from `numbers[at]` on */
    AN_OP_COLLECTIVE, /* of MPI_COMM_WORLD: `count` numbers from `numbers[at]` on, see below */
};

#define PF_NO_PEER       (-3) /* MPI_PROC_NULL, in an exchange */
#define AN_OP_MOST_SLOTS (1 << 24)

struct an_op {
    union {
        double flops;
        struct {
            int32_t peer, tag; /* or the middleware's wildcards (adapters/envelope.h) */
        };
        struct {
            uint32_t at, count;
        };
    };
    uint32_t kind : 4;
    uint32_t mode : 4;  /* enum pf_cost_mode */
    uint32_t slot : 24; /* where its request is kept */
    uint32_t bytes;
};

/* The numbers of a collective: its kind (enum pf_coll_kind), the root, and how many elements of which size
 * are sent and received; then, where each rank has a count of its own, those sent or received. */
enum {
    AN_COLL_KIND,
    AN_COLL_ROOT,
    AN_COLL_SENT,
    AN_COLL_SENT_SIZE,
    AN_COLL_RECEIVED,
    AN_COLL_RECEIVED_SIZE,
    AN_COLL_COUNTS
};

struct an_rank_program {
    struct an_op *ops;
    int *numbers;
    uint32_t op_count, op_room, slots;
    uint64_t number_count;
    /* What it did, filled in by the replay. */
    uint64_t calls, messages, bytes;
    double end; /* its date at the end */
};

struct an_program {
    int size;
    struct an_rank_program *ranks;
    struct an_graph *graphs;          /* of each rank, which then has no operations above; NULL: none */
    const struct an_loggops *loggops; /* LogGOPSim's rules for graphs; NULL: those of model analytic */
    double scale;                     /* of all computation */
    bool computes;                    /* what is not inside a collective takes time */
    bool works[2];                    /* there is computation, outside and inside of collectives */
    double precision;                 /* s: SimGrid takes dates that are nearer for equal */
    const pf_self_t *selves;          /* the host of each rank */
    void (*failed)(void);             /* an operation cannot be done; does not return */
};

/* Plays it in the calling actor, as the only one of the simulation; returns at the end of the last rank.
 * Returns an enum pf_error, and in `why` one line when it is not PF_SUCCESS. */
PF_EXPORT int an_replay(struct an_program *program, char *why, size_t why_size);
