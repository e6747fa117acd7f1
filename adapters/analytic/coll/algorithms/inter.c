/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives on intercommunicators, as in Open MPI's coll/inter, coll/basic and libnbc. Ranks are places in
 * the list of both sides; the first of a side is its leader.
 */
#include <limits.h>
#include <string.h>

#include "adapters/analytic/coll/algorithms/schedule.h"

/* In the vector variants, each member of the other side first sends its count. */
#define COUNT_BYTES sizeof(int)

static bool is_leader(const struct pf_plan *plan, int rank)
{
    return rank == pf_coll_leader(&plan->call, pf_coll_side(&plan->call, rank));
}

/* The leader of the other side. */
static int other_leader(const struct pf_plan *plan, int rank)
{
    return pf_coll_leader(&plan->call, !pf_coll_side(&plan->call, rank));
}

static size_t sum_of_counts(const struct pf_plan *plan, int side)
{
    size_t total = 0;
    for (int i = 0; i < pf_coll_side_size(&plan->call, side); i++)
        total += plan->call.counts[pf_coll_leader(&plan->call, side) + i];
    return total;
}

/* All that a side sends as a whole to the other side or to its root. */
static size_t bytes_of_side(const struct pf_plan *plan, int side)
{
    const struct pf_coll_call *call = &plan->call;
    switch (call->kind) {
    case PF_COLL_GATHER:
        return call->bytes * (size_t)pf_coll_side_size(&plan->call, side);
    case PF_COLL_ALLGATHER:
        return call->side[side] * (size_t)pf_coll_side_size(&plan->call, side);
    case PF_COLL_GATHERV:
    case PF_COLL_ALLGATHERV:
        return sum_of_counts(plan, side);
    default:
        return plan->total;
    }
}

/* ---- the collectives inside the sides ---- */

/* Bytes as pf_coll_call has them, of the collective of this kind inside a side. */
static size_t local_bytes(const struct pf_plan *plan, enum pf_coll_kind kind, int side)
{
    const struct pf_coll_call *call = &plan->call;
    bool by_side = call->kind == PF_COLL_ALLGATHER || call->kind == PF_COLL_REDUCE_SCATTER_BLOCK;
    if (kind == PF_COLL_BCAST)
        return bytes_of_side(plan, !side);
    if (kind == PF_COLL_GATHER && call->counts)
        return COUNT_BYTES;
    return by_side ? call->side[side] : call->bytes;
}

static void make_local(const struct pf_plan *plan, int phase, int side)
{
    struct pf_inter *inter = plan->inter;
    enum pf_coll_kind kind = inter->kind[phase];
    struct pf_coll_call call = {.kind = kind,
                                .commutative = plan->call.commutative,
                                .predefined = plan->call.predefined,
                                .mpich = plan->call.mpich,
                                .n = pf_coll_side_size(&plan->call, side),
                                .element = plan->element,
                                .bytes = local_bytes(plan, kind, side)};
    if (kind == PF_COLL_GATHERV || kind == PF_COLL_SCATTERV)
        call.counts = plan->call.counts + pf_coll_leader(&plan->call, side);
    if (plan->call.kind == PF_COLL_ALLGATHERV)
        call.element = call.bytes; /* coll/inter makes one element of what it broadcasts */
    struct pf_plan *local = &inter->local[phase][side];
    pf_plan_make(local, &call, inter->algorithm[kind], inter->segment[kind], NULL);
    for (int i = 0; i < local->stages; i++)
        inter->rounds += (uint64_t)local->stage[i].rounds;
    inter->made[phase][side] = true;
}

/* The rounds of all its stages are numbered through. */
static int at_local(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                    struct pf_round *out)
{
    int side = pf_coll_side(&plan->call, rank), first = pf_coll_leader(&plan->call, side), before = 0;
    bool rooted = plan->call.root >= 0;
    if (rooted && side == pf_coll_side(&plan->call, plan->call.root))
        return stage->rounds;
    if (!plan->inter->made[stage->phase][side])
        make_local(plan, stage->phase, side);
    const struct pf_plan *local = &plan->inter->local[stage->phase][side];
    for (int i = 0; i < local->stages; i++) {
        const struct pf_stage *inner = &local->stage[i];
        int from = round > before ? round - before : 0, found = inner->rounds;
        if (from < inner->rounds)
            found = inner->at(local, inner, rank - first, from, out);
        if (found < inner->rounds) {
            for (int s = 0; s < out->sends; s++)
                out->step[s].peer += first;
            return before + found;
        }
        out->sends = out->receives = 0;
        before += inner->rounds;
    }
    return stage->rounds;
}

static void add_local(struct pf_plan *plan, enum pf_coll_kind kind)
{
    int phase = 0;
    while (plan->inter->kind[phase] != PF_COLL_KINDS)
        phase++;
    plan->inter->kind[phase] = kind;
    pf_plan_add(plan, at_local, INT_MAX)->phase = phase;
}

/* ---- messages between the sides ---- */

/* The leaders exchange what their sides have. */
static int at_leaders(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                      struct pf_round *out)
{
    if (round > 0 || !is_leader(plan, rank))
        return stage->rounds;
    out->receives = 1;
    pf_round_send(out, other_leader(plan, rank), PF_PUT, bytes_of_side(plan, pf_coll_side(&plan->call, rank)),
                  0, 0);
    return 0;
}

/* All ranks send their vector to the leader of the other side. */
static int at_to_leaders(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                         struct pf_round *out)
{
    if (round > 0)
        return stage->rounds;
    out->receives =
        is_leader(plan, rank) ? pf_coll_side_size(&plan->call, !pf_coll_side(&plan->call, rank)) : 0;
    pf_round_send(out, other_leader(plan, rank), is_leader(plan, rank) ? PF_PUT : PF_COMBINE, plan->total, 0,
                  0);
    return 0;
}

/* The leaders send the result to the other ranks of the other side. */
static int at_from_leaders(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                           struct pf_round *out)
{
    int side = pf_coll_side(&plan->call, rank);
    if (round > 0)
        return stage->rounds;
    out->receives = !is_leader(plan, rank);
    for (int i = 1; is_leader(plan, rank) && i < pf_coll_side_size(&plan->call, !side); i++)
        pf_round_send(out, pf_coll_leader(&plan->call, !side) + i, PF_PUT, plan->total, 0, 0);
    return out->receives || out->sends ? 0 : stage->rounds;
}

static bool is_to_root(enum pf_coll_kind kind)
{
    return kind == PF_COLL_GATHER || kind == PF_COLL_GATHERV || kind == PF_COLL_REDUCE;
}

/* Between the root and the leader of the other side; scatterv sends the counts first. */
static int at_root_and_leader(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                              struct pf_round *out)
{
    int root = plan->call.root, side = !pf_coll_side(&plan->call, root),
        leader = pf_coll_leader(&plan->call, side);
    bool gathers = is_to_root(plan->call.kind);
    int from = gathers ? leader : root, to = gathers ? root : leader;
    bool counts_too = plan->call.kind == PF_COLL_SCATTERV;
    if (round > 0 || (rank != from && rank != to))
        return stage->rounds;
    if (rank == to) {
        out->receives = 1 + counts_too;
        return 0;
    }
    if (counts_too)
        pf_round_send(out, to, PF_BLOCKS, COUNT_BYTES * (size_t)pf_coll_side_size(&plan->call, side), 0, 0);
    size_t bytes = plan->call.kind == PF_COLL_SCATTER
                       ? plan->call.bytes * (size_t)pf_coll_side_size(&plan->call, side)
                   : counts_too ? sum_of_counts(plan, side)
                                : bytes_of_side(plan, side);
    pf_round_send(out, to, PF_BLOCKS, bytes, 0, 0);
    return 0;
}

/* Between the root and each rank of the other side. */
static int at_root_and_all(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                           struct pf_round *out)
{
    const struct pf_coll_call *call = &plan->call;
    int side = !pf_coll_side(&plan->call, call->root), first = pf_coll_leader(&plan->call, side),
        n = pf_coll_side_size(&plan->call, side);
    if (round > 0 || (pf_coll_side(&plan->call, rank) != side && rank != call->root))
        return stage->rounds;
    if (is_to_root(call->kind)) {
        out->receives = rank == call->root ? n : 0;
        if (rank != call->root)
            pf_round_send(out, call->root,
                          call->kind == PF_COLL_REDUCE && rank != first ? PF_COMBINE : PF_PUT,
                          call->counts ? call->counts[rank] : call->bytes, 0, 0);
        return 0;
    }
    out->receives = rank != call->root;
    for (int i = 0; rank == call->root && i < n; i++)
        pf_round_send(out, first + i, PF_PUT, call->counts ? call->counts[first + i] : call->bytes, 0, 0);
    return 0;
}

static size_t pair_bytes(const struct pf_plan *plan, int from, int to)
{
    const struct pf_coll_call *call = &plan->call;
    if (call->rows)
        return call->rows[from][to];
    return call->counts ? call->counts[from] : call->side[pf_coll_side(&plan->call, from)];
}

/* Each rank with each on the other side; the vector variants leave out empty messages. */
static int at_all(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                  struct pf_round *out)
{
    int side = !pf_coll_side(&plan->call, rank), first = pf_coll_leader(&plan->call, side),
        n = pf_coll_side_size(&plan->call, side);
    bool all = !plan->call.rows && !plan->call.counts;
    if (round > 0)
        return stage->rounds;
    for (int peer = first; peer < first + n; peer++) {
        out->receives += all || pair_bytes(plan, peer, rank) > 0;
        if (all || pair_bytes(plan, rank, peer) > 0)
            pf_round_send(out, peer, PF_PAIR, pair_bytes(plan, rank, peer), 0, 0);
    }
    return out->receives || out->sends ? 0 : stage->rounds;
}

/* ---- the kinds ---- */

static void build_nonblocking(struct pf_plan *plan)
{
    switch (plan->call.kind) {
    case PF_COLL_BARRIER:
        pf_plan_add(plan, at_to_leaders, 1);
        pf_plan_add(plan, at_from_leaders, 1);
        break;
    case PF_COLL_ALLREDUCE:
        pf_plan_add(plan, at_to_leaders, 1);
        pf_plan_add(plan, at_leaders, 1);
        pf_plan_add(plan, at_from_leaders, 1);
        break;
    case PF_COLL_REDUCE_SCATTER:
    case PF_COLL_REDUCE_SCATTER_BLOCK:
        pf_plan_add(plan, at_to_leaders, 1);
        add_local(plan, plan->call.kind == PF_COLL_REDUCE_SCATTER ? PF_COLL_SCATTERV : PF_COLL_SCATTER);
        break;
    case PF_COLL_ALLGATHER:
    case PF_COLL_ALLGATHERV:
    case PF_COLL_ALLTOALL:
    case PF_COLL_ALLTOALLV:
    case PF_COLL_ALLTOALLW:
        pf_plan_add(plan, at_all, 1);
        break;
    default:
        pf_plan_add(plan, at_root_and_all, 1);
        break;
    }
}

static void build_blocking(struct pf_plan *plan)
{
    switch (plan->call.kind) {
    case PF_COLL_BARRIER:
    case PF_COLL_ALLREDUCE:
        add_local(plan, PF_COLL_REDUCE);
        pf_plan_add(plan, at_leaders, 1);
        add_local(plan, PF_COLL_BCAST);
        break;
    case PF_COLL_ALLGATHERV:
        add_local(plan, PF_COLL_GATHER);
        add_local(plan, PF_COLL_GATHERV);
        pf_plan_add(plan, at_leaders, 1);
        add_local(plan, PF_COLL_BCAST);
        break;
    case PF_COLL_ALLGATHER:
        add_local(plan, PF_COLL_GATHER);
        pf_plan_add(plan, at_leaders, 1);
        add_local(plan, PF_COLL_BCAST);
        break;
    case PF_COLL_GATHERV:
        add_local(plan, PF_COLL_GATHER);
        add_local(plan, PF_COLL_GATHERV);
        pf_plan_add(plan, at_root_and_leader, 1);
        break;
    case PF_COLL_GATHER:
    case PF_COLL_REDUCE:
        add_local(plan, plan->call.kind);
        pf_plan_add(plan, at_root_and_leader, 1);
        break;
    case PF_COLL_BCAST:
    case PF_COLL_SCATTER:
    case PF_COLL_SCATTERV:
        pf_plan_add(plan, at_root_and_leader, 1);
        add_local(plan, plan->call.kind);
        break;
    default: /* coll/basic's, and libnbc's, too */
        build_nonblocking(plan);
        break;
    }
}

const char *pf_inter_name(bool nonblocking)
{
    return nonblocking ? "inter_linear" : "inter_leaders";
}

void pf_inter_make(struct pf_plan *plan, const struct pf_coll_call *call, struct pf_inter *inter)
{
    memset(plan, 0, sizeof *plan);
    memset(inter->made, 0, sizeof inter->made);
    inter->rounds = 0;
    for (int i = 0; i < PF_INTER_PHASES; i++)
        inter->kind[i] = PF_COLL_KINDS;
    plan->call = *call;
    plan->inter = inter;
    plan->sparse = true; /* the sides are not in step */
    plan->element = call->element ? call->element : 1;
    if (!pf_coll_is_rooted(call->kind))
        plan->call.root = -1;
    if (call->kind == PF_COLL_BARRIER && !call->nonblocking)
        plan->call.bytes = plan->element = sizeof(int); /* of an allreduce */
    plan->total =
        call->kind == PF_COLL_REDUCE_SCATTER_BLOCK ? call->side[0] * (size_t)call->cut : plan->call.bytes;
    plan->name = pf_inter_name(call->nonblocking);
    if (call->nonblocking)
        build_nonblocking(plan);
    else
        build_blocking(plan);
}
