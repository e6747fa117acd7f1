/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages that combine vectors: allreduce and reduce-scatter by doubling, halving and rings. */
#include "adapters/analytic/coll/algorithms/schedule.h"

static void send_vector(const struct pf_plan *plan, int to, enum pf_action action, struct pf_round *out)
{
    pf_round_send(out, to, action, plan->total, 0, 0);
}

/* Round 0: the even ranks below 2 * extra give their vector to the odd ones, and are out. Returns false when
 * the rank has nothing to do in it. */
static bool fold(const struct pf_plan *plan, const struct pf_stage *stage, int rank, struct pf_round *out)
{
    if (rank >= 2 * stage->extra)
        return false;
    if (rank % 2)
        out->receives = 1;
    else
        send_vector(plan, rank + 1, PF_COMBINE, out);
    return true;
}

/* Rounds: fold, an exchange of vectors for each power of two, the result for those that are out. */
int pf_at_allreduce_doubling(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                             struct pf_round *out)
{
    int last = stage->steps + 1, v = pf_fold(stage, rank);
    if (round == 0 && fold(plan, stage, rank, out))
        return 0;
    if (v >= 0 && round <= stage->steps) {
        round = round ? round : 1;
        send_vector(plan, pf_unfold(stage, v ^ (1 << (round - 1))), PF_COMBINE, out);
        out->receives = 1;
        return round;
    }
    if (round > last || rank >= 2 * stage->extra)
        return stage->rounds;
    if (rank % 2)
        send_vector(plan, rank - 1, PF_PUT, out);
    else
        out->receives = 1;
    return last;
}

int pf_at_fold(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
               struct pf_round *out)
{
    return round == 0 && fold(plan, stage, rank, out) ? 0 : stage->rounds;
}

static void send_elements(const struct pf_plan *plan, int to, enum pf_action action, size_t first,
                          size_t count, struct pf_round *out)
{
    pf_round_send(out, to, action, count * plan->element, first * plan->element, 0);
}

/* Round 0: of the ranks below 2 * extra each pair reduces one half each; round 1: the odd ranks hand theirs
 * over and are out. */
int pf_at_halves(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                 struct pf_round *out)
{
    size_t count = plan->total / plan->element, left = count / 2;
    if (round > 1 || rank >= 2 * stage->extra)
        return stage->rounds;
    bool odd = rank % 2;
    out->receives = round == 0 || !odd;
    if (round == 0)
        send_elements(plan, rank ^ 1, PF_COMBINE, odd ? 0 : left, odd ? left : count - left, out);
    else if (odd)
        send_elements(plan, rank - 1, PF_PUT, left, count - left, out);
    return round;
}

/* The elements that rank v of the power of two works on after `steps` halvings. */
static void window(const struct pf_plan *plan, int v, int steps, size_t *first, size_t *count)
{
    *first = 0;
    *count = plan->total / plan->element;
    for (int i = 0; i < steps; i++) {
        size_t half = *count / 2;
        *first += v >> i & 1 ? half : 0;
        *count = v >> i & 1 ? *count - half : half;
    }
}

static void send_window(const struct pf_plan *plan, int v, int steps, int to, enum pf_action action,
                        struct pf_round *out)
{
    size_t first, count;
    window(plan, v, steps, &first, &count);
    send_elements(plan, to, action, first, count, out);
}

int pf_at_vector_halving(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                         struct pf_round *out)
{
    int v = pf_fold(stage, rank);
    if (v < 0 || round >= stage->rounds)
        return stage->rounds;
    int peer = v ^ (1 << round);
    send_window(plan, peer, round + 1, pf_unfold(stage, peer), PF_COMBINE, out);
    out->receives = 1;
    return round;
}

int pf_at_vector_doubling(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                          struct pf_round *out)
{
    int v = pf_fold(stage, rank), step = stage->steps - 1 - round;
    if (v < 0 || round >= stage->rounds)
        return stage->rounds;
    send_window(plan, v, step + 1, pf_unfold(stage, v ^ (1 << step)), PF_PUT, out);
    out->receives = 1;
    return round;
}

/* Of the ranks below 2 * extra those that stayed in give the result to the others. */
int pf_at_unfold(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                 struct pf_round *out)
{
    if (round > 0 || rank >= 2 * stage->extra)
        return stage->rounds;
    if (pf_fold(stage, rank) < 0)
        out->receives = 1;
    else
        send_vector(plan, rank ^ 1, PF_PUT, out);
    return 0;
}

/* Windows to the root by a binomial tree. A root that is out takes the part of rank 0, which gives it its
 * window in round 0. */
int pf_at_vector_gather(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                        struct pf_round *out)
{
    int root = stage->root, home = pf_fold(stage, root), v = pf_fold(stage, rank);
    if (home < 0) {
        home = 0;
        if (rank == 0 && round == 0)
            send_window(plan, 0, stage->steps, root, PF_PUT, out);
        if (rank == root && round == 0)
            out->receives = 1;
        if (rank == 0 || rank == root)
            v = rank == root ? 0 : -1;
        if (out->sends || out->receives)
            return 0;
    }
    round = round ? round : 1;
    int step = stage->steps - round;
    if (v < 0 || step < 0 || v >> (step + 1) != home >> (step + 1))
        return stage->rounds;
    int peer = v ^ (1 << step);
    if (v >> step == home >> step)
        out->receives = 1;
    else
        send_window(plan, v, step + 1, peer == 0 && home == 0 ? root : pf_unfold(stage, peer), PF_PUT, out);
    return round;
}

/* Where part i begins when the vector is dealt to n parts. */
static size_t dealt(const struct pf_plan *plan, int i)
{
    return pf_plan_even(plan, plan->total, plan->call.n, i);
}

/* The ring over parts of the vector, each in `segments` pieces: piece after piece goes round. Afterwards a
 * rank has the result of the part above its own number; another ring hands the results on (stage->in_turn).
 */
int pf_at_ring_combine(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                       struct pf_round *out)
{
    int n = plan->call.n, step = round % (n - 1), piece = round / (n - 1);
    if (round >= stage->rounds)
        return round;
    int part = (rank - step + stage->in_turn + n) % n;
    size_t first = dealt(plan, part), bytes = dealt(plan, part + 1) - first;
    size_t from = pf_plan_even(plan, bytes, stage->segments, piece);
    size_t to = pf_plan_even(plan, bytes, stage->segments, piece + 1);
    pf_round_send(out, (rank + 1) % n, stage->in_turn ? PF_PUT : PF_COMBINE, to - from, first + from, 0);
    out->receives = 1;
    return round;
}

/* Blocks of reduce_scatter go round once; a rank's own block comes last. */
int pf_at_scatter_ring(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                       struct pf_round *out)
{
    int n = plan->call.n, block = (rank - 1 - round + 2 * n) % n;
    if (round >= stage->rounds)
        return round;
    pf_round_send(out, (rank + 1) % n, PF_COMBINE, pf_plan_blocks(plan, block, 1), pf_plan_start(plan, block),
                  0);
    out->receives = 1;
    return round;
}

/* In round k each rank sends the block of the one k + 1 places up, as it is in its own vector. */
int pf_at_scatter_pairwise(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                           struct pf_round *out)
{
    int n = plan->call.n, to = (rank + round + 1) % n;
    if (round >= stage->rounds)
        return round;
    pf_round_send(out, to, PF_COMBINE, pf_plan_blocks(plan, to, 1), pf_plan_start(plan, to), 0);
    out->receives = 1;
    return round;
}

/* Where the blocks of rank v of the power of two begin: the own one, and that of the rank that is out. */
static size_t folded_start(const struct pf_plan *plan, const struct pf_stage *stage, int v)
{
    return pf_plan_start(plan, v < stage->extra ? 2 * v : v + stage->extra);
}

static size_t send_folded(const struct pf_plan *plan, const struct pf_stage *stage, int first, int count,
                          int to, bool empty_too, struct pf_round *out)
{
    size_t from = folded_start(plan, stage, first), end = folded_start(plan, stage, first + count);
    if (end > from || empty_too)
        pf_round_send(out, pf_unfold(stage, to), PF_COMBINE, end - from, from, 0);
    return end - from;
}

/* Rounds: fold, recursive halving with the farthest first, and the block of those that are out. */
int pf_at_scatter_halving(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                          struct pf_round *out)
{
    int last = stage->steps + 1, v = pf_fold(stage, rank);
    if (round == 0 && fold(plan, stage, rank, out))
        return 0;
    for (round = round ? round : 1; v >= 0 && round <= stage->steps; round++) {
        int half = stage->power >> round, peer = v ^ half, keep = v & ~(half - 1);
        send_folded(plan, stage, keep ^ half, half, peer, false, out);
        out->receives = folded_start(plan, stage, keep + half) > folded_start(plan, stage, keep);
        if (out->sends || out->receives)
            return round;
    }
    int without = rank & ~1; /* the one of the pair that is out */
    size_t bytes = pf_plan_blocks(plan, without, 1);
    if (round > last || rank >= 2 * stage->extra || bytes == 0)
        return stage->rounds;
    if (rank == without)
        out->receives = 1;
    else
        pf_round_send(out, without, PF_PUT, bytes, pf_plan_start(plan, without), 0);
    return last;
}

/* The nearest first, for a power of two of equal blocks: a rank keeps those whose lowest bits are its own. */
int pf_at_scatter_strided(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                          struct pf_round *out)
{
    if (round >= stage->rounds)
        return round;
    int bit = 1 << round, to = rank ^ bit;
    size_t blocks = (size_t)(plan->call.n / (2 * bit));
    pf_round_send(out, to, PF_STRIDED, blocks * plan->call.bytes, (size_t)(to & (2 * bit - 1)),
                  2 * (size_t)bit);
    out->receives = 1;
    return round;
}

static int mirror(int v, int bits)
{
    int m = 0;
    for (int i = 0; i < bits; i++)
        m |= (v >> i & 1) << (bits - 1 - i);
    return m;
}

/* The nearest first, so that a rank ends with the blocks of its mirror image; one more round brings them
 * home. */
int pf_at_scatter_butterfly(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                            struct pf_round *out)
{
    int last = stage->steps + 1, v = pf_fold(stage, rank);
    if (round == 0 && fold(plan, stage, rank, out))
        return 0;
    round = round ? round : 1;
    if (round > last)
        return stage->rounds;
    if (v < 0) {
        out->receives = 1;
        return last;
    }
    if (round < last) {
        int bit = 1 << (round - 1), blocks = stage->power >> round;
        int keep = mirror(v & (2 * bit - 1), stage->steps);
        send_folded(plan, stage, keep ^ blocks, blocks, v ^ bit, true, out);
        out->receives = 1;
        return round;
    }
    int home = mirror(v, stage->steps), to = pf_unfold(stage, home);
    if (home < stage->extra)
        pf_round_send(out, to - 1, PF_PUT, pf_plan_blocks(plan, to - 1, 1), pf_plan_start(plan, to - 1), 0);
    if (home != v) {
        pf_round_send(out, to, PF_PUT, pf_plan_blocks(plan, to, 1), pf_plan_start(plan, to), 0);
        out->receives = 1;
    }
    return out->sends ? last : stage->rounds;
}

/* All blocks but those of the 2^k ranks around oneself, begun above these. */
static void send_others(const struct pf_plan *plan, int own, int mask, int to, enum pf_action action,
                        struct pf_round *out)
{
    int n = plan->call.n, above = own + mask < n ? own + mask : n, count = own + n - above;
    pf_round_send(out, to, action, pf_plan_blocks(plan, above % n, count), pf_plan_start(plan, above % n), 0);
    out->step[out->sends - 1].gaps = !plan->call.mpich && above < n; /* a type of two parts */
}

int pf_at_scatter_doubling(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                           struct pf_round *out)
{
    struct pf_doubling d = pf_doubling_find(plan->call.n, rank, round, stage->rounds);
    if (d.sends)
        send_others(plan, d.first, d.count, d.peer, d.relays ? PF_RELAY : PF_COMBINE, out);
    out->receives = d.receives;
    for (int step = 0, first = 0; first <= d.round && !plan->call.mpich; first += ++step)
        out->types = first == d.round ? 2 : 0; /* in the first round of a step */
    return d.round;
}

int pf_at_scan_linear(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                      struct pf_round *out)
{
    int n = plan->call.n;
    round = round < rank - 1 ? rank - 1 : round;
    if (round > rank || round > n - 2)
        return stage->rounds;
    out->receives = round == rank - 1;
    if (round == rank)
        send_vector(plan, rank + 1, PF_PREFIX, out);
    return round;
}

int pf_at_scan_doubling(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                        struct pf_round *out)
{
    for (; round < stage->rounds; round++) {
        int peer = rank ^ (1 << round);
        if (peer >= plan->call.n)
            continue;
        send_vector(plan, peer, PF_PREFIX, out);
        out->receives = 1;
        return round;
    }
    return stage->rounds;
}
