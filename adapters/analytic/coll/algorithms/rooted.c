/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages with a root: broadcast, reduce, gather and scatter along trees and in lines. */
#include "adapters/analytic/coll/algorithms/schedule.h"

static enum pf_action moves(const struct pf_plan *plan, enum pf_action action)
{
    return plan->call.kind == PF_COLL_BARRIER ? PF_TOKEN : action;
}

/* The bytes of segment i of the stage's part of the vector. */
static size_t segment_bytes(const struct pf_stage *stage, int i)
{
    return i < stage->segments - 1 ? stage->segment : stage->bytes - (size_t)i * stage->segment;
}

static void send_segment(const struct pf_stage *stage, int i, int peer, enum pf_action action,
                         struct pf_round *out)
{
    pf_round_send(out, peer, action, segment_bytes(stage, i), stage->first + (size_t)i * stage->segment, 0);
}

/* At depth d: segment i arrives in round d - 1 + i and is sent on in the next one. */
int pf_at_tree_bcast(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                     struct pf_round *out)
{
    int n = plan->call.n, depth = pf_tree_depth(stage, n, rank), start = depth ? depth - 1 : 0, child[2];
    int children = pf_tree_children(stage, n, rank, child, 0);
    int end = depth + stage->segments - (children == 0);
    round = round < start ? start : round;
    if (round >= end)
        return stage->rounds;
    out->receives = depth > 0 && round - depth + 1 < stage->segments;
    if (children == 0 || round < depth)
        return round;
    pf_tree_children(stage, n, rank, out->peer, children);
    out->mode = PF_COST_STANDARD;
    for (int i = 0; i < children; i++)
        send_segment(stage, round - depth, out->peer[i], moves(plan, PF_PUT), out);
    return round;
}

/* The same backwards: the deepest rank begins. */
int pf_at_tree_reduce(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                      struct pf_round *out)
{
    int n = plan->call.n, depth = pf_tree_depth(stage, n, rank), go = pf_tree_bound(stage, n) - depth;
    int children = pf_tree_children(stage, n, rank, NULL, 0);
    int start = children ? go - 1 : go, end = go + stage->segments - (depth == 0);
    round = round < start ? start : round;
    if (round >= end)
        return stage->rounds;
    if (round - go + 1 < stage->segments)
        out->receives = children;
    if (depth > 0 && round >= go)
        send_segment(stage, round - go, pf_tree_parent(stage, n, rank), moves(plan, PF_COMBINE), out);
    return round;
}

/* In round k the children with 2^k ranks below them. A parent asks for the next one when it has combined. */
int pf_at_reduce_in_turn(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                         struct pf_round *out)
{
    int n = plan->call.n, v = pf_tree_number(stage, n, rank);
    int last = v ? __builtin_ctz((unsigned)v) : stage->rounds - 1;
    for (; round <= last; round++) {
        int bit = 1 << round;
        if (v & bit) {
            send_segment(stage, 0, pf_tree_rank(stage, n, v - bit), moves(plan, PF_COMBINE), out);
            return round;
        }
        if (v + bit < n) {
            out->receives = 1;
            return round;
        }
    }
    return stage->rounds;
}

/* In round k that of rank n - 1 - k. */
int pf_at_reduce_linear(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                        struct pf_round *out)
{
    int last = plan->call.n - 1;
    if (rank != stage->root) {
        if (round > last - rank)
            return stage->rounds;
        send_segment(stage, 0, stage->root, moves(plan, PF_COMBINE), out);
        return last - rank;
    }
    round += round == last - rank;
    out->receives = round <= last;
    return round;
}

/* The left subtree of the binary tree has the odd shifted ranks and gets the first part of the vector. The
 * segments of both parts have one size; the first part has at least as many. */
static size_t split_at(const struct pf_plan *plan)
{
    size_t elements = plan->total / plan->element;
    return (elements + 1) / 2 * plan->element;
}

static int part_segments(const struct pf_plan *plan, const struct pf_stage *stage, int right)
{
    size_t bytes = right ? plan->total - split_at(plan) : split_at(plan);
    return (int)((bytes + stage->segment - 1) / stage->segment);
}

static void send_part(const struct pf_plan *plan, const struct pf_stage *stage, int right, int i, int peer,
                      struct pf_round *out)
{
    size_t first = right ? split_at(plan) : 0, end = right ? plan->total : split_at(plan);
    size_t from = first + (size_t)i * stage->segment, to = from + stage->segment;
    pf_round_send(out, peer, PF_PUT, (to < end ? to : end) - from, from, 0);
}

int pf_at_split_bcast(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                      struct pf_round *out)
{
    int n = plan->call.n, depth = pf_tree_depth(stage, n, rank), start = depth ? depth - 1 : 0, child[2];
    int children = pf_tree_children(stage, n, rank, child, 2);
    int right = pf_shift(rank, stage->root, n) % 2 == 0,
        segments = part_segments(plan, stage, depth && right);
    int end = depth + segments - (children == 0);
    round = round < start ? start : round;
    if (round >= end)
        return stage->rounds;
    out->receives = depth > 0 && round - depth + 1 < segments;
    for (int i = 0; round >= depth && i < children; i++) {
        int part = depth ? right : i;
        if (round - depth < part_segments(plan, stage, part))
            send_part(plan, stage, part, round - depth, child[i], out);
    }
    return round;
}

/* Shifted ranks 2 i - 1 and 2 i swap their parts; with an even number of ranks the last gets it from the
 * root. */
int pf_at_split_swap(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                     struct pf_round *out)
{
    int n = plan->call.n, v = pf_shift(rank, stage->root, n), right = v % 2 == 0;
    int pair = v == 0 ? n - 1 : right ? v - 1 : v + 1;
    if (round > 0 || (v == 0 && n % 2))
        return stage->rounds;
    out->receives = v != 0;
    if (pair < n && (v == 0 || pair != 0)) {
        size_t cut = split_at(plan);
        pf_round_send(out, pf_unshift(pair % n, stage->root, n), PF_PUT, right ? plan->total - cut : cut,
                      right ? cut : 0, 0);
    }
    return 0;
}

/* How many ranks the subtree of shifted rank v has in the in-order binomial tree. */
static int subtree(int v, int n)
{
    int size = v ? v & -v : n;
    return size < n - v ? size : n - v;
}

int pf_at_gather_tree(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                      struct pf_round *out)
{
    int n = plan->call.n, v = pf_shift(rank, stage->root, n), bit;
    int last = v ? __builtin_ctz((unsigned)v) : stage->rounds - 1;
    for (; round <= last; round++) {
        bit = 1 << round;
        if (v & bit) {
            int count = subtree(v, n);
            pf_round_send(out, pf_unshift(v - bit, stage->root, n), PF_BLOCKS,
                          pf_plan_blocks(plan, rank, count), (size_t)rank, (size_t)count);
            return round;
        }
        if (v + bit < n) {
            out->receives = 1;
            return round;
        }
    }
    return stage->rounds;
}

/* The largest subtree first. A broadcast gives each the whole vector. */
int pf_at_scatter_tree(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                       struct pf_round *out)
{
    int n = plan->call.n, v = pf_shift(rank, stage->root, n);
    int first = v ? stage->rounds - 1 - __builtin_ctz((unsigned)v) : 0;
    for (round = round < first ? first : round; round < stage->rounds; round++) {
        int bit = 1 << (stage->rounds - 1 - round), child = v + bit;
        if (v & bit) {
            out->receives = 1;
            return round;
        }
        if (child < n) {
            int count = subtree(child, n), to = pf_unshift(child, stage->root, n);
            if (plan->call.kind == PF_COLL_BCAST)
                pf_round_send(out, to, PF_PUT, plan->total, 0, 0);
            else
                pf_round_send(out, to, PF_BLOCKS, pf_plan_blocks(plan, to, count), (size_t)to, (size_t)count);
            return round;
        }
    }
    return stage->rounds;
}

/* v kinds: the bytes of one rank's block, which are known when that rank is (gatherv) or the root (scatterv).
 */
static size_t own_block(const struct pf_plan *plan, int rank)
{
    return plan->call.counts ? plan->call.counts[rank] : plan->call.bytes;
}

/* coll/base sends no empty block, libnbc does. */
static bool left_out(const struct pf_plan *plan, int rank)
{
    return plan->call.kind != PF_COLL_BARRIER && !plan->call.nonblocking && plan->call.counts &&
           plan->call.counts[rank] == 0;
}

/* One message in each round, or all in round 0. */
int pf_at_scatter_linear(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                         struct pf_round *out)
{
    int n = plan->call.n, mine = stage->in_turn ? rank : 0;
    if (rank != stage->root) {
        out->receives = 1;
        return round <= mine && !left_out(plan, rank) ? mine : stage->rounds;
    }
    if (!stage->in_turn)
        out->mode = PF_COST_STANDARD;
    for (int r = stage->in_turn ? round : 0; r < n && (stage->in_turn || round == 0); r++) {
        if (r == rank || left_out(plan, r))
            continue;
        pf_round_send(out, r, moves(plan, PF_BLOCKS), own_block(plan, r), (size_t)r, 1);
        if (stage->in_turn)
            return r;
    }
    return out->sends && !stage->in_turn ? 0 : stage->rounds;
}

/* One receive of the root in each round, or all in round 0; the others send at once. */
int pf_at_gather_linear(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                        struct pf_round *out)
{
    int n = plan->call.n, mine = stage->in_turn ? rank : 0;
    if (rank != stage->root) {
        if (round > mine || left_out(plan, rank))
            return stage->rounds;
        pf_round_send(out, stage->root, PF_BLOCKS, own_block(plan, rank), (size_t)rank, 1);
        return mine;
    }
    for (; stage->in_turn && round < n; round++) {
        if (round == rank || left_out(plan, round))
            continue;
        out->receives = 1;
        return round;
    }
    if (round > 0)
        return stage->rounds;
    for (int r = 0; r < n; r++)
        out->receives += r != rank && !left_out(plan, r);
    return out->receives ? 0 : stage->rounds;
}

/* The root asks one rank after the other: it sends nothing in round 2 r, rank r answers in round 2 r + 1 with
 * its block and with an empty second part. */
int pf_at_gather_sync(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                      struct pf_round *out)
{
    int r = rank == stage->root ? round / 2 : rank, n = plan->call.n;
    if (rank == stage->root) {
        if (r == rank)
            round = 2 * ++r;
        if (r >= n)
            return stage->rounds;
        out->receives = round % 2 ? 2 : 0;
        if (round % 2 == 0)
            pf_round_send(out, r, PF_BLOCKS, 0, (size_t)r, 0);
        return round;
    }
    round = round < 2 * r ? 2 * r : round;
    if (round > 2 * r + 1)
        return stage->rounds;
    out->receives = round == 2 * r;
    if (round % 2) {
        pf_round_send(out, stage->root, PF_BLOCKS, own_block(plan, r), (size_t)r, 1);
        pf_round_send(out, stage->root, PF_BLOCKS, 0, (size_t)r, 0);
    }
    return round;
}

int pf_at_hand_over(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                    struct pf_round *out)
{
    int from = stage->fan, to = plan->call.root;
    if (round > 0 || (rank != from && rank != to))
        return stage->rounds;
    out->receives = rank == to;
    if (rank == from)
        pf_round_send(out, to, PF_PUT, plan->total, 0, 0);
    return 0;
}

/* As pf_at_scatter_tree(), but the blocks are n parts of a vector, numbered by shifted rank; those at the end
 * may be empty, and are not sent then. */
int pf_at_spread(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                 struct pf_round *out)
{
    int n = plan->call.n, v = pf_shift(rank, stage->root, n);
    int first = v ? stage->rounds - 1 - __builtin_ctz((unsigned)v) : 0;
    for (round = round < first ? first : round; round < stage->rounds; round++) {
        int bit = 1 << (stage->rounds - 1 - round), child = v & bit ? v : v + bit;
        if (child >= n)
            continue;
        size_t from = (size_t)child * stage->segment, to = from + (size_t)subtree(child, n) * stage->segment;
        if (from >= plan->total)
            continue;
        if (child == v)
            out->receives = 1;
        else
            pf_round_send(out, pf_unshift(child, stage->root, n), PF_PUT,
                          (to < plan->total ? to : plan->total) - from, from, 0);
        return round;
    }
    return stage->rounds;
}
