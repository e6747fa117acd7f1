/* SPDX-License-Identifier: BSD-3-Clause */
/* The collective algorithms by name: which stages each consists of, and the plan of one operation made of
 * them. */
#include "adapters/analytic/coll/algorithms/algorithms.h"
#include "adapters/analytic/coll/algorithms/schedule.h"

#include <string.h>

/* From here on most ranks of a tree are idle in most rounds. */
#define MANY_ROUNDS 64

/* libnbc cuts the chain of MPI_Ireduce. */
#define NONBLOCKING_CHAIN 8192

static int bits(const struct pf_plan *plan)
{
    return pf_log2_up((unsigned)plan->call.n);
}

static size_t elements(const struct pf_plan *plan)
{
    return plan->total / plan->element;
}

static bool power_of_two(int n)
{
    return (n & (n - 1)) == 0;
}

/* A stage along a tree, in either direction, with segments. */
static struct pf_stage *add_tree(struct pf_plan *plan, pf_stage_at *at, enum pf_tree tree, int fan,
                                 size_t segment)
{
    struct pf_stage *stage = pf_plan_add(plan, at, 0);
    stage->tree = tree;
    stage->fan = fan;
    stage->swap = plan->call.nonblocking;
    pf_stage_cut(plan, stage, segment);
    stage->rounds = pf_tree_bound(stage, plan->call.n) + stage->segments + 1;
    plan->sparse |= stage->rounds > MANY_ROUNDS;
    return stage;
}

static void bcast_along(struct pf_plan *plan, enum pf_tree tree, int fan)
{
    add_tree(plan, pf_at_tree_bcast, tree, fan, tree == PF_TREE_LINEAR ? 0 : plan->wanted);
}

static struct pf_stage *reduce_along(struct pf_plan *plan, enum pf_tree tree)
{
    struct pf_stage *stage =
        add_tree(plan, pf_at_tree_reduce, tree, 2, tree == PF_TREE_LINEAR ? 0 : plan->wanted);
    bool in_turn = plan->call.nonblocking || plan->call.kind == PF_COLL_REDUCE;
    bool posts_all = plan->call.nonblocking || plan->call.kind == PF_COLL_BARRIER;
    if (tree == PF_TREE_LINEAR && !posts_all) {
        stage->at = pf_at_reduce_linear;
        stage->rounds = plan->call.n;
        stage->in_turn = plan->sparse = true;
    } else if (in_turn && tree == PF_TREE_BINOMIAL_IN_ORDER && stage->segments == 1) {
        stage->at = pf_at_reduce_in_turn;
        stage->rounds = bits(plan);
        stage->ahead = !plan->call.nonblocking && !plan->call.mpich;
    }
    return stage;
}

static void bcast_linear(struct pf_plan *plan)
{
    bcast_along(plan, PF_TREE_LINEAR, 1);
}

static void bcast_chain(struct pf_plan *plan)
{
    bcast_along(plan, PF_TREE_CHAIN, 1);
}

static void bcast_binary(struct pf_plan *plan)
{
    bcast_along(plan, PF_TREE_BINARY, 2);
}

static void bcast_binomial(struct pf_plan *plan)
{
    bcast_along(plan, PF_TREE_BINOMIAL, 2);
}

static void bcast_in_turn(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_scatter_tree, bits(plan));
}

static void bcast_knomial(struct pf_plan *plan)
{
    enum { RADIX = 4 }; /* coll_tuned_bcast_algorithm_knomial_radix */
    bcast_along(plan, PF_TREE_KNOMIAL, RADIX);
}

static void bcast_split(struct pf_plan *plan)
{
    size_t half = elements(plan) / 2 * plan->element; /* the smaller one */
    if (half == 0 || plan->wanted > half) {
        bcast_chain(plan);
        return;
    }
    struct pf_stage *stage = add_tree(plan, pf_at_split_bcast, PF_TREE_BINARY, 2, plan->wanted);
    if (stage->segments == 1)
        stage->segment = plan->total - half;
    pf_plan_add(plan, pf_at_split_swap, 1);
}

/* Scatter a vector in parts of one size, but for the last ones, and gather it by `at`. */
static void spread(struct pf_plan *plan, pf_stage_at *at, int rounds)
{
    size_t n = (size_t)plan->call.n, part = (elements(plan) + n - 1) / n * plan->element;
    if (elements(plan) < n) {
        bcast_linear(plan);
        return;
    }
    pf_plan_add(plan, pf_at_spread, bits(plan))->segment = part;
    pf_plan_add(plan, at, rounds)->segment = part;
}

static void bcast_scatter_allgather(struct pf_plan *plan)
{
    int steps = bits(plan);
    spread(plan, pf_at_parts_doubling, steps * (steps + 1) / 2);
}

static void bcast_scatter_ring(struct pf_plan *plan)
{
    spread(plan, pf_at_parts_ring, plan->call.n - 1);
}

static void reduce_linear(struct pf_plan *plan)
{
    reduce_along(plan, PF_TREE_LINEAR);
}

static void reduce_chain(struct pf_plan *plan)
{
    size_t segment = plan->wanted ? plan->wanted : plan->call.nonblocking ? NONBLOCKING_CHAIN : 0;
    add_tree(plan, pf_at_tree_reduce, PF_TREE_CHAIN, 1, segment);
}

static void reduce_binary(struct pf_plan *plan)
{
    reduce_along(plan, PF_TREE_BINARY);
}

/* The result of a tree with a root of its own goes to the call's root. */
static void reduce_at(struct pf_plan *plan, enum pf_tree tree, int root)
{
    reduce_along(plan, tree)->root = root;
    if (root != plan->call.root)
        pf_plan_add(plan, pf_at_hand_over, 1)->fan = root;
}

static void reduce_binomial(struct pf_plan *plan)
{
    bool reduction_commutes = plan->call.commutative;
    reduce_at(plan, PF_TREE_BINOMIAL_IN_ORDER, reduction_commutes ? plan->call.root : 0);
}

static void reduce_in_order(struct pf_plan *plan)
{
    reduce_at(plan, PF_TREE_BINARY_IN_ORDER, plan->call.n - 1);
}

/* The first steps of Rabenseifner's algorithm. Where ranks are left out of the power of two, Open MPI shares
 * out their work. */
static void halve(struct pf_plan *plan, bool shares)
{
    if (shares)
        pf_plan_add(plan, pf_at_halves, 2)->fold_low = true;
    else
        pf_plan_add(plan, pf_at_fold, 1);
    struct pf_stage *stage = pf_plan_add(plan, pf_at_vector_halving, 0);
    stage->fold_low = shares;
    stage->rounds = stage->steps;
}

static bool can_halve(const struct pf_plan *plan)
{
    return elements(plan) >= (size_t)1 << pf_log2((unsigned)plan->call.n);
}

static void reduce_rabenseifner(struct pf_plan *plan)
{
    if (!can_halve(plan)) {
        reduce_linear(plan);
        return;
    }
    plan->copied = plan->total;
    halve(plan, true);
    struct pf_stage *stage = pf_plan_add(plan, pf_at_vector_gather, 0);
    stage->fold_low = true;
    stage->rounds = stage->steps + 1;
}

/* The algorithm that the rules give another kind, over the whole vector. */
static void build_other(struct pf_plan *plan, enum pf_coll_kind kind)
{
    struct pf_coll_call call = plan->call;
    call.kind = kind;
    call.bytes = kind == PF_COLL_BCAST || kind == PF_COLL_REDUCE ? plan->total : plan->call.bytes;
    pf_kinds[kind].algorithm[pf_rules_choose(&call)].build(plan);
}

static void allreduce_linear(struct pf_plan *plan)
{
    reduce_linear(plan);
    bcast_linear(plan);
}

static void allreduce_nonoverlapping(struct pf_plan *plan)
{
    build_other(plan, PF_COLL_REDUCE);
    build_other(plan, PF_COLL_BCAST);
}

static void allreduce_doubling(struct pf_plan *plan)
{
    struct pf_stage *stage = pf_plan_add(plan, pf_at_allreduce_doubling, 0);
    stage->rounds = stage->steps + 2;
    plan->copied = 2 * plan->total; /* and from where the last step left it */
}

static void allreduce_pieces(struct pf_plan *plan, int pieces)
{
    int n = plan->call.n;
    if (elements(plan) < (size_t)n) {
        allreduce_doubling(plan);
        return;
    }
    plan->copied = plan->total;
    pf_plan_add(plan, pf_at_ring_combine, pieces * (n - 1))->segments = pieces;
    pf_plan_add(plan, pf_at_ring_combine, n - 1)->in_turn = true;
}

static void allreduce_ring(struct pf_plan *plan)
{
    allreduce_pieces(plan, 1);
}

static void allreduce_segmented_ring(struct pf_plan *plan)
{
    size_t n = (size_t)plan->call.n, segment = plan->wanted / plan->element, count = elements(plan);
    if (segment == 0 || count < n * segment) {
        allreduce_ring(plan);
        return;
    }
    size_t pieces = count / (n * segment), rest = count % (n * segment);
    allreduce_pieces(plan, (int)(pieces + (rest >= n && rest > n * segment / 2)));
}

static void allreduce_rabenseifner(struct pf_plan *plan)
{
    if (!can_halve(plan)) {
        allreduce_linear(plan);
        return;
    }
    bool shares = !plan->call.mpich;
    plan->copied = plan->total;
    halve(plan, shares);
    struct pf_stage *stage = pf_plan_add(plan, pf_at_vector_doubling, 0);
    stage->fold_low = shares;
    stage->rounds = stage->steps;
    pf_plan_add(plan, pf_at_unfold, 1)->fold_low = shares;
}

static void allreduce_binomial(struct pf_plan *plan)
{
    reduce_along(plan, PF_TREE_BINOMIAL_IN_ORDER);
    bcast_binomial(plan);
}

static void scatter_linear(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_scatter_linear, plan->call.n)->in_turn = true;
    plan->sparse = true;
}

static void scatter_linear_at_once(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_scatter_linear, 1);
}

static void scatter_binomial(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_scatter_tree, bits(plan));
}

static void gather_linear(struct pf_plan *plan)
{
    bool in_turn = !plan->call.nonblocking; /* libnbc posts all receives at once */
    pf_plan_add(plan, pf_at_gather_linear, in_turn ? plan->call.n : 1)->in_turn = in_turn;
    plan->sparse |= in_turn;
}

static void gather_linear_at_once(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_gather_linear, 1);
}

static void gather_sync(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_gather_sync, 2 * plan->call.n);
}

static void gather_binomial(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_gather_tree, bits(plan));
}

static void scatter_nonoverlapping(struct pf_plan *plan)
{
    build_other(plan, PF_COLL_REDUCE);
    if (plan->call.kind == PF_COLL_REDUCE_SCATTER)
        scatter_linear(plan);
    else
        build_other(plan, PF_COLL_SCATTER);
}

static void scatter_halving(struct pf_plan *plan)
{
    struct pf_stage *stage = pf_plan_add(plan, pf_at_scatter_halving, 0);
    stage->rounds = stage->steps + 2;
    plan->copied = plan->total;
}

static void scatter_butterfly(struct pf_plan *plan)
{
    plan->copied = plan->total;
    if (plan->call.kind == PF_COLL_REDUCE_SCATTER_BLOCK && power_of_two(plan->call.n)) {
        pf_plan_add(plan, pf_at_scatter_strided, bits(plan));
        return;
    }
    struct pf_stage *stage = pf_plan_add(plan, pf_at_scatter_butterfly, 0);
    stage->rounds = stage->steps + 2;
}

static void scatter_ring(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_scatter_ring, plan->call.n - 1);
    plan->copied = plan->total;
}

static void scatter_pairwise(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_scatter_pairwise, plan->call.n - 1);
}

static void scatter_doubling(struct pf_plan *plan)
{
    int steps = bits(plan);
    pf_plan_add(plan, pf_at_scatter_doubling, steps * (steps + 1) / 2);
    plan->typed = true;
    plan->copied = plan->total + pf_plan_blocks(plan, 0, 1); /* in the end the own block */
}

static void scatter_after_binomial(struct pf_plan *plan)
{
    reduce_along(plan, PF_TREE_BINOMIAL_IN_ORDER);
    scatter_linear_at_once(plan);
}

/* MPI_Allgatherv makes one element of the whole for its broadcast. */
static void allgather_linear(struct pf_plan *plan)
{
    if (plan->call.kind == PF_COLL_ALLGATHERV) {
        gather_linear(plan);
        plan->element = plan->total ? plan->total : 1;
    } else {
        build_other(plan, PF_COLL_GATHER);
    }
    build_other(plan, PF_COLL_BCAST);
}

static void allgather_bruck(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_allgather_bruck, bits(plan));
    plan->typed = plan->call.kind == PF_COLL_ALLGATHERV;
    if (plan->call.kind == PF_COLL_ALLGATHER) /* the blocks are turned afterwards */
        plan->copied = 2 * plan->total;
}

static void allgather_doubling(struct pf_plan *plan)
{
    if (power_of_two(plan->call.n))
        pf_plan_add(plan, pf_at_allgather_doubling, bits(plan));
    else
        allgather_bruck(plan);
}

static void allgather_ring(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_allgather_ring, plan->call.n - 1);
}

/* Of more ranks it would take too long to find the pieces, which matter less there. */
static void allgather_pipelined_ring(struct pf_plan *plan)
{
    enum { PIECE = 32768, RANKS = 256 }; /* MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE */
    int pieces = 0;
    for (int r = 0; r < plan->call.n; r++)
        pieces += pf_pieces(plan, PIECE, r);
    if (plan->call.n > RANKS)
        allgather_ring(plan);
    else
        pf_plan_add(plan, pf_at_allgather_pieces, pieces)->segment = PIECE;
}

static void allgather_neighbor(struct pf_plan *plan)
{
    if (plan->call.n % 2)
        allgather_ring(plan);
    else
        pf_plan_add(plan, pf_at_allgather_neighbor, plan->call.n / 2);
    plan->typed = plan->call.kind == PF_COLL_ALLGATHERV;
}

static void allgather_direct(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_allgather_direct, 1)->nth = pf_nth_allgather;
}

static void alltoall_linear_sync(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_alltoall_linear, 1)->nth = pf_nth_alltoall;
}

/* Open MPI's differs in its requests only. */
static void alltoall_linear(struct pf_plan *plan)
{
    alltoall_linear_sync(plan);
    plan->started = plan->call.nonblocking || plan->call.mpich ? 0 : 2 * (plan->call.n - 1);
}

static void alltoall_pairwise(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_alltoall_pairwise, plan->call.n - 1);
}

static void alltoall_in_place(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_alltoall_in_place, plan->call.n - 1);
}

static void alltoall_bruck(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_alltoall_bruck, bits(plan));
    plan->typed = true;
    /* The blocks are turned before and after, and half of them copied in each step. */
    plan->copied = (size_t)(4 + bits(plan)) * plan->total / 2;
}

/* The root releases one rank after the other, and waits for each send. */
static void barrier_linear(struct pf_plan *plan)
{
    reduce_linear(plan);
    pf_plan_add(plan, pf_at_scatter_linear, plan->call.n)->in_turn = true;
}

static void barrier_ring(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_double_ring, 2 * plan->call.n);
    plan->sparse = true;
}

static void barrier_doubling(struct pf_plan *plan)
{
    struct pf_stage *stage = pf_plan_add(plan, pf_at_barrier_doubling, 0);
    stage->rounds = stage->steps + 2;
}

static void barrier_bruck(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_dissemination, bits(plan));
}

static void barrier_tree(struct pf_plan *plan)
{
    reduce_along(plan, PF_TREE_BINOMIAL_IN_ORDER);
    bcast_along(plan, PF_TREE_BINOMIAL_IN_ORDER, 2);
}

static void scan_linear(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_scan_linear, plan->call.n - 1);
    plan->copied = plan->call.kind == PF_COLL_SCAN ? plan->total : 0; /* the operand is the first result */
}

static void scan_doubling(struct pf_plan *plan)
{
    pf_plan_add(plan, pf_at_scan_doubling, bits(plan));
    plan->copied = plan->call.kind == PF_COLL_SCAN ? 2 * plan->total : plan->total;
}

#define ROW(id, name, build, ordered) {name, build, ordered},
#define LIST(name)                    static const struct pf_algorithm name[PF_ALGORITHMS_MAX]
LIST(barriers) = {PF_BARRIER_ALGORITHMS(ROW)};
LIST(bcasts) = {PF_BCAST_ALGORITHMS(ROW)};
LIST(scatters) = {PF_SCATTER_ALGORITHMS(ROW)};
LIST(scattervs) = {PF_SCATTERV_ALGORITHMS(ROW)};
LIST(gathers) = {PF_GATHER_ALGORITHMS(ROW)};
LIST(gathervs) = {PF_GATHERV_ALGORITHMS(ROW)};
LIST(allgathers) = {PF_ALLGATHER_ALGORITHMS(ROW)};
LIST(allgathervs) = {PF_ALLGATHERV_ALGORITHMS(ROW)};
LIST(alltoalls) = {PF_ALLTOALL_ALGORITHMS(ROW)};
LIST(alltoallvs) = {PF_ALLTOALLV_ALGORITHMS(ROW)};
LIST(alltoallws) = {PF_ALLTOALLW_ALGORITHMS(ROW)};
LIST(reduces) = {PF_REDUCE_ALGORITHMS(ROW)};
LIST(allreduces) = {PF_ALLREDUCE_ALGORITHMS(ROW)};
LIST(reduce_scatters) = {PF_REDUCE_SCATTER_ALGORITHMS(ROW)};
LIST(reduce_scatter_blocks) = {PF_REDUCE_SCATTER_BLOCK_ALGORITHMS(ROW)};
LIST(scans) = {PF_SCAN_ALGORITHMS(ROW)};

const struct pf_kind pf_kinds[PF_COLL_KINDS] = {
    [PF_COLL_BARRIER] = {"barrier", barriers},
    [PF_COLL_BCAST] = {"bcast", bcasts},
    [PF_COLL_SCATTER] = {"scatter", scatters},
    [PF_COLL_SCATTERV] = {"scatterv", scattervs},
    [PF_COLL_GATHER] = {"gather", gathers},
    [PF_COLL_GATHERV] = {"gatherv", gathervs},
    [PF_COLL_ALLGATHER] = {"allgather", allgathers},
    [PF_COLL_ALLGATHERV] = {"allgatherv", allgathervs},
    [PF_COLL_ALLTOALL] = {"alltoall", alltoalls},
    [PF_COLL_ALLTOALLV] = {"alltoallv", alltoallvs},
    [PF_COLL_ALLTOALLW] = {"alltoallw", alltoallws},
    [PF_COLL_REDUCE] = {"reduce", reduces},
    [PF_COLL_ALLREDUCE] = {"allreduce", allreduces},
    [PF_COLL_REDUCE_SCATTER] = {"reduce_scatter", reduce_scatters},
    [PF_COLL_REDUCE_SCATTER_BLOCK] = {"reduce_scatter_block", reduce_scatter_blocks},
    [PF_COLL_SCAN] = {"scan", scans},
    [PF_COLL_EXSCAN] = {"exscan", scans},
};

/* MPI returns at once when there is nothing to move, except where a rank cannot know. */
static bool nothing(const struct pf_plan *plan)
{
    enum pf_coll_kind kind = plan->call.kind;
    bool knows = kind != PF_COLL_BARRIER && kind != PF_COLL_SCATTERV && kind != PF_COLL_GATHERV &&
                 kind != PF_COLL_ALLTOALLV && kind != PF_COLL_ALLTOALLW;
    return plan->call.n == 1 || (knows && plan->total == 0);
}

static bool by_blocks(enum pf_coll_kind kind)
{
    return kind == PF_COLL_SCATTER || kind == PF_COLL_GATHER || kind == PF_COLL_ALLGATHER ||
           kind == PF_COLL_ALLTOALL || kind == PF_COLL_REDUCE_SCATTER_BLOCK;
}

void pf_plan_make(struct pf_plan *plan, const struct pf_coll_call *call, int algorithm, size_t segment,
                  size_t *start)
{
    memset(plan, 0, sizeof *plan);
    plan->call = *call;
    plan->element = call->element ? call->element : 1;
    plan->wanted = segment;
    plan->total = by_blocks(call->kind) ? call->bytes * (size_t)call->n : call->bytes;
    if (call->kind == PF_COLL_BARRIER)
        plan->total = 0;
    if (!pf_coll_is_rooted(call->kind))
        plan->call.root = 0;
    if (call->kind == PF_COLL_ALLGATHERV || call->kind == PF_COLL_REDUCE_SCATTER) {
        start[0] = 0;
        for (int r = 0; r < call->n; r++)
            start[r + 1] = start[r] + call->counts[r];
        plan->start = start;
        plan->total = start[call->n];
    }
    const struct pf_kind *kind = &pf_kinds[call->kind];
    if (algorithm < 0 || pf_rules_in_place(call) >= 0 ||
        (pf_rules[call->kind].ordered && !call->commutative && !kind->algorithm[algorithm].ordered))
        algorithm = pf_rules_choose(&plan->call);
    plan->name = kind->algorithm[algorithm].name;
    if (!nothing(plan))
        kind->algorithm[algorithm].build(plan);
}
