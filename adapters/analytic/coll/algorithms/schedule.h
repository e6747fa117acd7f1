/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "adapters/analytic/coll/algorithms/call.h"
#include "adapters/analytic/cost/cost.h"

/*
 * A plan is one call of a collective as messages. It has stages (a reduction and then a broadcast, say), a
 * stage has rounds. In a round a rank starts its sends, waits for its receives and for its sends, and
 * continues with the next round in which it takes part; only messages synchronize the ranks. A message is
 * sent and received in the same round. Nothing is stored per message: a stage is a function that returns what
 * one rank does in one round.
 */

/* What the receiver does with a message; tests use it to follow the data. */
enum pf_action {
    PF_TOKEN,   /* no data: the sender has arrived, and all ranks that it knows of */
    PF_PUT,     /* bytes [first, first + bytes) of the vector replace the receiver's */
    PF_COMBINE, /* the same bytes are combined with the receiver's by the reduction's operation */
    PF_RELAY,   /* the same, but the sender passes on what it has received last, not what it has combined */
    PF_STRIDED, /* the same with every count-th block from block `first` on */
    PF_PREFIX,  /* scans: the vector is combined with the partial result, and also with the result when the
                   sender is a lower rank */
    PF_BLOCKS,  /* blocks first, first + 1, ... (count of them, modulo n) of one block per rank */
    PF_PAIR,    /* all-to-all: the block from the sender to the receiver */
    PF_BRUCK    /* all-to-all: all blocks at the sender that still have to go `first` places and others */
};

struct pf_step {
    int peer;
    enum pf_action action;
    size_t bytes;
    size_t first, count;
    bool gaps; /* sent and received as a type with gaps, or one that does not begin where it is placed */
};

struct pf_round {
    struct pf_step *step; /* room for n of them, 2 at least */
    int *peer;            /* scratch of the same length */
    int sends;
    int receives;
    int types;              /* that the rank makes before it sends and receives */
    enum pf_cost_mode mode; /* blocking sends in a blocking call, unless its algorithm starts several */
};

struct pf_plan;
struct pf_stage;

/* What `rank` does in the first round from `round` on in which it does something. Returns the number of that
 * round and fills `out`; stage->rounds when there is none. `out` is empty before, but may be changed even if
 * there is none. */
typedef int pf_stage_at(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                        struct pf_round *out);

/* In a stage of one round in which all ranks send to nearly all: the message number i (from 1 to n - 1) of
 * `rank`. Returns false when there is none. Messages are priced in the order of these numbers, over all
 * ranks, since NICs serve them in the order in which they are priced. */
typedef bool pf_stage_nth(const struct pf_plan *plan, int rank, int i, struct pf_step *step);

enum pf_tree {
    PF_TREE_LINEAR,
    PF_TREE_CHAIN,
    PF_TREE_BINARY,
    PF_TREE_BINOMIAL,          /* a parent is its child without the highest bit */
    PF_TREE_BINOMIAL_IN_ORDER, /* ... without the lowest bit: a subtree has consecutive ranks */
    PF_TREE_KNOMIAL,           /* the same with digits to the base `fan` */
    PF_TREE_BINARY_IN_ORDER    /* rooted at the last rank; a subtree has consecutive ranks */
};

struct pf_stage {
    pf_stage_at *at;
    pf_stage_nth *nth; /* NULL: few messages per rank and round */
    int rounds;
    enum pf_tree tree;
    int fan;
    int root;
    size_t segment; /* bytes of a full segment of the vector */
    int segments;
    bool swap;           /* trees: the root and rank 0 change places; otherwise ranks are turned */
    bool in_turn;        /* linear: one message after the other, not all at once */
    bool ahead;          /* the receive of a round is posted when the rank enters the round before */
    int power, extra;    /* the largest power of two that is not above n, and what is left */
    int steps;           /* binary logarithm of `power` */
    bool fold_low;       /* of the 2 * extra first ranks the even ones stay in, not the odd ones */
    size_t first, bytes; /* the part of the vector that this stage is about */
    int phase;           /* intercommunicators: number of the collective inside the sides */
};

enum { PF_STAGES_MAX = 6 };

struct pf_inter;

struct pf_plan {
    struct pf_coll_call call;
    size_t element;   /* never 0 */
    size_t total;     /* bytes of the vector, or of all blocks */
    size_t wanted;    /* segment size asked for by the user, 0: none */
    const char *name; /* of the algorithm */
    struct pf_stage stage[PF_STAGES_MAX];
    int stages;
    size_t copied; /* bytes that each rank copies inside its memory before the first round */
    bool typed;    /* some rounds make datatypes */
    int started;   /* persistent requests that each rank starts before the first round */
    bool sparse;   /* few ranks take part in a round: never walk over all ranks per round */
    const size_t
        *start; /* start[r]: bytes of all blocks before r, n + 1 entries; NULL: blocks of call.bytes */
    struct pf_inter *inter; /* of an intercommunicator, else NULL */
};

/* Adds a stage over the whole vector; its fields may be changed afterwards. */
struct pf_stage *pf_plan_add(struct pf_plan *plan, pf_stage_at *at, int rounds);

/* Cuts the stage's part of the vector into segments of about `segment` bytes, 0: one. */
void pf_stage_cut(const struct pf_plan *plan, struct pf_stage *stage, size_t segment);

/* Bytes of the blocks first, ..., first + count - 1, modulo n. */
size_t pf_plan_blocks(const struct pf_plan *plan, int first, int count);

/* Where block `i` begins. */
static inline size_t pf_plan_start(const struct pf_plan *plan, int i)
{
    return plan->start ? plan->start[i] : (size_t)i * plan->call.bytes;
}

/* Where part `i` begins when `bytes` are dealt evenly to so many parts, whole elements and the larger parts
 * first. */
size_t pf_plan_even(const struct pf_plan *plan, size_t bytes, int parts, int i);

static inline void pf_round_send(struct pf_round *out, int peer, enum pf_action action, size_t bytes,
                                 size_t first, size_t count)
{
    out->step[out->sends++] = (struct pf_step){peer, action, bytes, first, count, false};
}

/* Ranks are renumbered so that the root is 0. */
static inline int pf_shift(int rank, int root, int n)
{
    int v = rank - root;
    return v < 0 ? v + n : v;
}

static inline int pf_unshift(int v, int root, int n)
{
    int rank = v + root;
    return rank >= n ? rank - n : rank;
}

static inline int pf_log2(unsigned x) /* floor; x > 0 */
{
    return 31 - __builtin_clz(x);
}

static inline int pf_log2_up(unsigned x) /* ceiling; x > 0 */
{
    return x > 1 ? pf_log2(x - 1) + 1 : 0;
}

/* Trees, in ranks of the communicator. The depth of the root is 0; `bound` is not below any depth. */
int pf_tree_number(const struct pf_stage *stage, int n, int rank); /* the root is number 0 */
int pf_tree_rank(const struct pf_stage *stage, int n, int number);
int pf_tree_depth(const struct pf_stage *stage, int n, int rank);
int pf_tree_bound(const struct pf_stage *stage, int n);
int pf_tree_parent(const struct pf_stage *stage, int n, int rank);
/* The children in the order in which the parent serves them: returns the number of them, and writes the first
 * `room` to `child`. */
int pf_tree_children(const struct pf_stage *stage, int n, int rank, int *child, int room);

/* Reductions fold the ranks to a power of two. The number of a rank among these, -1 for one that is folded;
 * and back. */
static inline int pf_fold(const struct pf_stage *stage, int rank)
{
    if (rank >= 2 * stage->extra)
        return rank - stage->extra;
    return rank % 2 == (stage->fold_low ? 0 : 1) ? rank / 2 : -1;
}

static inline int pf_unfold(const struct pf_stage *stage, int v)
{
    return v < stage->extra ? 2 * v + !stage->fold_low : v + stage->extra;
}

/*
 * Recursive doubling for any number of ranks (plan.c). Step k has k + 1 rounds: the exchange with v ^ 2^k,
 * and then, when only a part of the 2^k ranks around v had a partner, these pass on what they received,
 * halving the distance. Step k begins in round k (k + 1) / 2.
 */
struct pf_doubling {
    int round; /* the first one from the given one on in which number v does something; `rounds`: none */
    bool sends, receives;
    bool relays;            /* it sends what its partner had, not its own data */
    int peer, first, count; /* it sends what the ranks first, ..., first + count - 1 have */
};
struct pf_doubling pf_doubling_find(int n, int v, int round, int rounds);

/* The stages. Rooted ones, in rooted.c: */
pf_stage_at pf_at_tree_bcast, pf_at_tree_reduce; /* a vector in segments along the tree, down and up */
pf_stage_at pf_at_reduce_in_turn; /* up the in-order binomial tree, one child after the other */
pf_stage_at pf_at_reduce_linear;  /* the root receives from the last rank first, one after the other */
pf_stage_at pf_at_split_bcast, pf_at_split_swap; /* halves down two branches; then each gets the other half */
pf_stage_at pf_at_scatter_tree, pf_at_gather_tree, pf_at_scatter_linear, pf_at_gather_linear,
    pf_at_gather_sync;
pf_stage_at pf_at_hand_over; /* the last rank gives the vector to the root */
pf_stage_at pf_at_spread;    /* parts of a vector down the in-order binomial tree */
/* Barriers, gathering to all and all-to-all, in exchange.c: */
pf_stage_at pf_at_dissemination, pf_at_double_ring, pf_at_barrier_doubling;
pf_stage_at pf_at_allgather_bruck, pf_at_allgather_doubling, pf_at_allgather_ring, pf_at_allgather_neighbor;
pf_stage_at pf_at_allgather_pieces;
/* How many rounds a block takes in pieces of so many bytes. */
int pf_pieces(const struct pf_plan *plan, size_t piece, int block);
pf_stage_at pf_at_allgather_direct, pf_at_parts_ring, pf_at_parts_doubling;
pf_stage_at pf_at_alltoall_linear, pf_at_alltoall_pairwise, pf_at_alltoall_in_place, pf_at_alltoall_bruck;
pf_stage_nth pf_nth_alltoall, pf_nth_allgather;
/* Whether ranks send to the one below them first, and so on around; otherwise to rank 0. */
bool pf_nth_goes_around(const struct pf_plan *plan);
/* How many receives rank `to` posts before that of the message which `from` sends to it. */
int pf_nth_receive_from(const struct pf_plan *plan, int from, int to);
/* libnbc's receive number i of `rank`: its source and size. Returns false when there is none. */
bool pf_nth_source(const struct pf_plan *plan, int rank, int i, int *from, size_t *bytes);
/* Whether the sends of a round, or one of a pair of a send and a receive, come before the receives. */
bool pf_sends_first(const struct pf_plan *plan);
/* Reductions to all and scans, in reduce.c: */
pf_stage_at pf_at_allreduce_doubling, pf_at_halves, pf_at_vector_halving, pf_at_vector_doubling, pf_at_unfold,
    pf_at_fold, pf_at_scatter_pairwise;
pf_stage_at pf_at_vector_gather, pf_at_ring_combine, pf_at_scatter_ring, pf_at_scatter_halving;
pf_stage_at pf_at_scatter_strided, pf_at_scatter_butterfly, pf_at_scatter_doubling, pf_at_scan_linear,
    pf_at_scan_doubling;

/* A row of Open MPI's fixed rules: for communicators of fewer than `n` ranks, by bytes. The first row and
 * entry that match apply. 0: no limit. */
struct pf_rule {
    int n;
    struct {
        unsigned below;
        int algorithm; /* place in the list of the kind */
    } by_size[12];
};

struct pf_algorithm {
    const char *name;
    void (*build)(struct pf_plan *plan);
    bool ordered; /* also fit for an operation that does not commute */
};

/* A kind of collective and its algorithms (algorithms.h). */
struct pf_kind {
    const char *name;
    const struct pf_algorithm *algorithm;
};

enum { PF_ALGORITHMS_MAX = 10 }; /* a list ends with a NULL name */

extern const struct pf_kind pf_kinds[PF_COLL_KINDS];

/* Open MPI's rules for a kind. `ordered` are those for operations that do not commute, NULL where that makes
 * no difference. */
struct pf_rules {
    const struct pf_rule *plain, *ordered;
    int (*nonblocking)(const struct pf_coll_call *call);
    const char *nonblocking_rule;
    const char *measure; /* what `bytes` of the rules are */
};

extern const struct pf_rules pf_rules[PF_COLL_KINDS];

/* The index of the algorithm for an all-to-all in place, which has a single buffer and no other algorithm; -1
 * for any other call. */
int pf_rules_in_place(const struct pf_coll_call *call);

/* The index of the algorithm that the rules select; by MPICH's rules. */
int pf_rules_choose(const struct pf_coll_call *call);
int pf_rules_mpich(const struct pf_coll_call *call);
size_t pf_plan_counts(const struct pf_coll_call *call); /* bytes of the blocks of all ranks, by `counts` */

/* Makes the plan of a call: `algorithm` is an index into its kind's, -1: by the rules. `start` has room for
 * n + 1 sizes and stays with the plan. */
void pf_plan_make(struct pf_plan *plan, const struct pf_coll_call *call, int algorithm, size_t segment,
                  size_t *start);

/*
 * Intercommunicators. Blocking calls are made of collectives inside each side and of messages between its
 * first rank and the other side (coll/inter, for some kinds coll/basic), nonblocking ones of messages between
 * the sides (libnbc). A collective inside a side is a plan of its own, made when the first of its ranks gets
 * there: only then are all its sizes known.
 */
enum { PF_INTER_PHASES = 3 };

struct pf_inter {
    const int *algorithm; /* of the collectives inside, by kind; -1: by the rules */
    const size_t *segment;
    enum pf_coll_kind kind[PF_INTER_PHASES];
    bool made[PF_INTER_PHASES][2];
    struct pf_plan local[PF_INTER_PHASES][2];
    uint64_t rounds; /* of those that have been made */
};

/* How the statistics name its algorithms. */
const char *pf_inter_name(bool nonblocking);

/* Makes the plan of a call on an intercommunicator; `inter` stays with it. */
void pf_inter_make(struct pf_plan *plan, const struct pf_coll_call *call, struct pf_inter *inter);
