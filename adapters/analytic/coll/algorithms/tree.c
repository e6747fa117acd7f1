/* SPDX-License-Identifier: BSD-3-Clause */
/* The shapes of trees: binomial, binary, k-ary and chain, as parents and children of a rank. */
#include "adapters/analytic/coll/algorithms/schedule.h"

/* The root is number 0. coll/tuned turns the ranks, libnbc swaps the root with rank 0. */
int pf_tree_number(const struct pf_stage *stage, int n, int rank)
{
    if (stage->swap)
        return rank == stage->root ? 0 : rank == 0 ? stage->root : rank;
    return pf_shift(rank, stage->root, n);
}

int pf_tree_rank(const struct pf_stage *stage, int n, int v)
{
    return stage->swap ? pf_tree_number(stage, n, v) : pf_unshift(v, stage->root, n);
}

/* The value of the lowest digit of v to the base `fan` that is not 0, with its place: v itself for v < fan.
 */
static int lowest_digit(int v, int fan, int *place)
{
    *place = 1;
    while (v % (*place * fan) == 0)
        *place *= fan;
    return v % (*place * fan);
}

/* In the in-order binary tree over ranks 0 ... size - 1 the last rank is the root, the one before it the root
 * of the left subtree, and the right subtree has the lower half of the ranks. Walks down to `rank`. */
struct descent {
    int depth, parent, left, right;
};

static struct descent descend(int size, int rank)
{
    struct descent d = {0, -1, -1, -1};
    int shift = 0;
    for (;;) {
        int top = size - 1, half = size / 2;
        int left = top > 0 ? top - 1 : -1, right = left > 0 ? half - 1 : -1;
        if (rank == top) {
            d.left = left < 0 ? -1 : left + shift;
            d.right = right < 0 ? -1 : right + shift;
            return d;
        }
        d.depth++;
        d.parent = top + shift;
        if (rank > right) {
            size -= half + 1;
            shift += half;
            rank -= half;
        } else {
            size = half;
        }
    }
}

static int shifted_depth(const struct pf_stage *stage, int v)
{
    int depth = 0;
    switch (stage->tree) {
    case PF_TREE_LINEAR:
        return v > 0;
    case PF_TREE_CHAIN:
        return v;
    case PF_TREE_BINARY:
        return pf_log2((unsigned)v + 1);
    case PF_TREE_BINOMIAL:
    case PF_TREE_BINOMIAL_IN_ORDER:
        return __builtin_popcount((unsigned)v);
    default:
        for (; v; v /= stage->fan)
            depth += v % stage->fan != 0;
        return depth;
    }
}

int pf_tree_depth(const struct pf_stage *stage, int n, int rank)
{
    if (stage->tree == PF_TREE_BINARY_IN_ORDER)
        return descend(n, rank).depth;
    return shifted_depth(stage, pf_tree_number(stage, n, rank));
}

int pf_tree_bound(const struct pf_stage *stage, int n)
{
    int bound = 0;
    switch (stage->tree) {
    case PF_TREE_LINEAR:
        return 1;
    case PF_TREE_CHAIN:
        return n - 1;
    case PF_TREE_BINARY:
        return pf_log2((unsigned)n);
    case PF_TREE_BINARY_IN_ORDER: /* the left spine, of the larger parts, is the longest */
        for (int size = n; size > 1; size -= size / 2 + 1)
            bound++;
        return bound + 1;
    case PF_TREE_KNOMIAL:
        for (int v = n - 1; v; v /= stage->fan)
            bound++;
        return bound;
    default:
        return pf_log2_up((unsigned)n);
    }
}

int pf_tree_parent(const struct pf_stage *stage, int n, int rank)
{
    if (stage->tree == PF_TREE_BINARY_IN_ORDER)
        return descend(n, rank).parent;
    int v = pf_tree_number(stage, n, rank), parent = 0, place;
    if (v == 0)
        return -1;
    switch (stage->tree) {
    case PF_TREE_LINEAR:
        break;
    case PF_TREE_CHAIN:
        parent = v - 1;
        break;
    case PF_TREE_BINARY: /* the ranks of a level, twice its parents' level: all first children, then all
                            second */
        place = 1 << (pf_log2((unsigned)v + 1) - 1);
        parent = v - place;
        if (parent > 2 * place - 2)
            parent -= place;
        break;
    case PF_TREE_BINOMIAL:
        parent = v - (1 << pf_log2((unsigned)v));
        break;
    case PF_TREE_BINOMIAL_IN_ORDER:
        parent = v & (v - 1);
        break;
    default:
        parent = v - lowest_digit(v, stage->fan, &place);
        break;
    }
    return pf_tree_rank(stage, n, parent);
}

int pf_tree_children(const struct pf_stage *stage, int n, int rank, int *child, int room)
{
    int count = 0, v = pf_tree_number(stage, n, rank), first = 1, place = 1;
#define CHILD(c)                                                                                             \
    do {                                                                                                     \
        if (count < room)                                                                                    \
            child[count] = pf_tree_rank(stage, n, c);                                                        \
        count++;                                                                                             \
    } while (0)
    switch (stage->tree) {
    case PF_TREE_LINEAR: /* in the order of ranks, whatever the root */
        for (int r = 0; v == 0 && r < n; r++)
            if (r != rank)
                CHILD(pf_tree_number(stage, n, r));
        break;
    case PF_TREE_CHAIN:
        if (v + 1 < n)
            CHILD(v + 1);
        break;
    case PF_TREE_BINARY:
        place = 1 << pf_log2((unsigned)v + 1);
        for (int c = v + place; c <= v + 2 * place && c < n; c += place)
            CHILD(c);
        break;
    case PF_TREE_BINOMIAL:
        if (v)
            first = 2 << pf_log2((unsigned)v);
        for (int bit = first; v + bit < n; bit *= 2)
            CHILD(v + bit);
        break;
    case PF_TREE_BINOMIAL_IN_ORDER:
        for (int bit = 1; !(v & bit) && v + bit < n; bit *= 2)
            CHILD(v + bit);
        break;
    case PF_TREE_KNOMIAL:
        if (v)
            (void)lowest_digit(v, stage->fan, &place);
        else
            while (place < n)
                place *= stage->fan;
        for (place /= stage->fan; place > 0; place /= stage->fan)
            for (int c = v + place, last = v + place * (stage->fan - 1); c <= last && c < n; c += place)
                CHILD(c);
        break;
    case PF_TREE_BINARY_IN_ORDER: {
        struct descent d = descend(n, rank);
        if (d.left >= 0)
            CHILD(pf_tree_number(stage, n, d.left));
        if (d.right >= 0)
            CHILD(pf_tree_number(stage, n, d.right));
        break;
    }
    }
#undef CHILD
    return count;
}
