/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages in which every rank sends in every round: barriers, allgathers, all-to-alls. */
#include "adapters/analytic/coll/algorithms/schedule.h"

static int around(int rank, int n)
{
    return rank >= n ? rank - n : rank < 0 ? rank + n : rank;
}

/* In round k a message goes 2^k ranks up. */
int pf_at_dissemination(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                        struct pf_round *out)
{
    if (round >= stage->rounds)
        return round;
    pf_round_send(out, around(rank + (1 << round), plan->call.n), PF_TOKEN, 0, 0, 0);
    out->receives = 1;
    return round;
}

/* Round k of either ring: rank k sends to the next one. In the second ring the messages are synchronous. */
int pf_at_double_ring(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                      struct pf_round *out)
{
    int n = plan->call.n;
    for (int ring = 0; ring < 2; ring++) {
        int send = ring * n + rank, receive = ring * n + (rank ? rank - 1 : n - 1);
        int first = send < receive ? send : receive, second = send < receive ? receive : send;
        if (round > second)
            continue;
        round = round <= first ? first : second;
        out->receives = round == receive;
        out->mode = ring ? PF_COST_SYNCHRONOUS : PF_COST_STANDARD;
        if (round == send)
            pf_round_send(out, around(rank + 1, n), PF_TOKEN, 0, 0, 0);
        return round;
    }
    return stage->rounds;
}

/* The ranks beyond the power of two are paired with the first ones, before and after. */
int pf_at_barrier_doubling(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                           struct pf_round *out)
{
    int last = stage->rounds - 1;
    if (round >= stage->rounds)
        return round;
    if (rank >= stage->power) {
        if (round == 0)
            pf_round_send(out, rank - stage->power, PF_TOKEN, 0, 0, 0);
        else
            out->receives = 1;
        return round ? last : 0;
    }
    if (round == 0) {
        if (rank < stage->extra) {
            out->receives = 1;
            return 0;
        }
        round = 1;
    }
    if (round < last) {
        pf_round_send(out, rank ^ (1 << (round - 1)), PF_TOKEN, 0, 0, 0);
        out->receives = 1;
        return round;
    }
    if (rank >= stage->extra)
        return stage->rounds;
    pf_round_send(out, rank + stage->power, PF_TOKEN, 0, 0, 0);
    out->mode = PF_COST_SYNCHRONOUS;
    return last;
}

static int pass_blocks(const struct pf_plan *plan, int to, int first, int count, int round,
                       struct pf_round *out)
{
    pf_round_send(out, to, PF_BLOCKS, pf_plan_blocks(plan, first, count), (size_t)first, (size_t)count);
    out->receives = 1;
    return round;
}

/* Open MPI's MPI_Allgatherv makes types of the blocks that it sends and receives; one is in one piece from
 * the first block only. */
static int pass_typed(const struct pf_plan *plan, int to, int first, int count, int round,
                      struct pf_round *out)
{
    pass_blocks(plan, to, first, count, round, out);
    bool typed = plan->call.kind == PF_COLL_ALLGATHERV && !plan->call.mpich;
    out->step[0].gaps = typed && first != 0;
    out->types = typed ? 2 : 0;
    return round;
}

/* Round k: the blocks gathered so far, from the own one upwards, go 2^k ranks down. */
int pf_at_allgather_bruck(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                          struct pf_round *out)
{
    if (round >= stage->rounds)
        return round;
    int n = plan->call.n, distance = 1 << round, count = distance <= n / 2 ? distance : n - distance;
    return pass_typed(plan, around(rank - distance, n), rank, count, round, out);
}

int pf_at_allgather_doubling(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                             struct pf_round *out)
{
    if (round >= stage->rounds)
        return round;
    int distance = 1 << round;
    return pass_blocks(plan, rank ^ distance, rank & ~(distance - 1), distance, round, out);
}

int pf_at_allgather_ring(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                         struct pf_round *out)
{
    int n = plan->call.n;
    if (round >= stage->rounds)
        return round;
    return pass_blocks(plan, around(rank + 1, n), around(rank - round, n), 1, round, out);
}

int pf_pieces(const struct pf_plan *plan, size_t piece, int block)
{
    size_t bytes = pf_plan_blocks(plan, block, 1);
    return bytes ? (int)((bytes + piece - 1) / piece) : 1;
}

/* Piece number `round` of the n - 1 blocks from `block` down: where it begins and its bytes; 0: there are not
 * so many. */
static size_t nth_piece(const struct pf_plan *plan, const struct pf_stage *stage, int block, int round,
                        size_t *first)
{
    int n = plan->call.n;
    for (int i = 1; i < n; i++, block = around(block - 1, n)) {
        int pieces = pf_pieces(plan, stage->segment, block);
        size_t before = (size_t)round * stage->segment;
        *first = pf_plan_start(plan, block) + before;
        if (round < pieces) {
            size_t left = pf_plan_blocks(plan, block, 1) - before;
            return left < stage->segment ? left : stage->segment;
        }
        round -= pieces;
    }
    return 0;
}

/* The same with blocks in pieces: one after the other, whosever they are. An empty block takes a round, too.
 */
int pf_at_allgather_pieces(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                           struct pf_round *out)
{
    int n = plan->call.n;
    for (; round < stage->rounds; round++) {
        size_t first, bytes = nth_piece(plan, stage, around(rank - 1, n), round, &first);
        out->receives = bytes > 0;
        bytes = nth_piece(plan, stage, rank, round, &first);
        if (bytes > 0)
            pf_round_send(out, around(rank + 1, n), PF_PUT, bytes, first, 0);
        if (bytes > 0 || out->receives)
            break;
    }
    return round;
}

/* Where the pair of blocks begins that a rank receives in round k: of its pair in round 0, then alternately
 * from either side, two further each time. */
static int neighbor_blocks(int rank, int round, int n)
{
    int pair = rank & ~1, step = round + round % 2;
    bool up = (rank % 2 == 0) == (round % 2 == 0);
    return around(up ? pair + step : pair - step, n);
}

/* The neighbour exchange, for an even number of ranks. */
int pf_at_allgather_neighbor(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                             struct pf_round *out)
{
    int n = plan->call.n;
    if (round >= stage->rounds)
        return round;
    int to = (rank % 2 == 0) == (round % 2 == 0) ? rank + 1 : rank - 1;
    if (round == 0)
        return pass_blocks(plan, around(to, n), rank, 1, round, out);
    return pass_typed(plan, around(to, n), neighbor_blocks(rank, round - 1, n), 2, round, out);
}

/* Number i of the other ranks, in the order of ranks. */
static int nth_other(int rank, int i)
{
    return i - (i <= rank);
}

/* libnbc goes from rank to rank, but with MPI_Iallgatherv around. */
bool pf_nth_allgather(const struct pf_plan *plan, int rank, int i, struct pf_step *step)
{
    bool goes_around = !plan->call.nonblocking || plan->call.kind == PF_COLL_ALLGATHERV;
    int to = goes_around ? around(rank + i, plan->call.n) : nth_other(rank, i);
    *step = (struct pf_step){to, PF_BLOCKS, pf_plan_blocks(plan, rank, 1), (size_t)rank, 1, false};
    return true;
}

/* All messages at once. */
int pf_at_allgather_direct(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                           struct pf_round *out)
{
    int n = plan->call.n;
    if (round > 0)
        return stage->rounds;
    out->mode = PF_COST_STANDARD;
    for (int i = 1; i < n; i++)
        out->sends += pf_nth_allgather(plan, rank, i, &out->step[out->sends]);
    out->receives = n - 1;
    return 0;
}

/* Part i of a vector that has been spread: by shifted rank, those at the end may be short or empty. */
static void send_parts(const struct pf_plan *plan, const struct pf_stage *stage, int first, int count, int to,
                       enum pf_action action, struct pf_round *out)
{
    size_t from = (size_t)first * stage->segment, end = from + (size_t)count * stage->segment;
    from = from < plan->total ? from : plan->total;
    end = end < plan->total ? end : plan->total;
    pf_round_send(out, pf_unshift(to, stage->root, plan->call.n), action, end - from, from, 0);
}

int pf_at_parts_ring(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                     struct pf_round *out)
{
    int n = plan->call.n, v = pf_shift(rank, stage->root, n);
    if (round >= stage->rounds)
        return round;
    send_parts(plan, stage, around(v - round, n), 1, around(v + 1, n), PF_PUT, out);
    out->receives = 1;
    return round;
}

int pf_at_parts_doubling(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                         struct pf_round *out)
{
    int n = plan->call.n;
    struct pf_doubling d = pf_doubling_find(n, pf_shift(rank, stage->root, n), round, stage->rounds);
    if (d.sends)
        send_parts(plan, stage, d.first, d.count, d.peer, PF_PUT, out);
    out->receives = d.receives;
    return d.round;
}

static size_t pair_bytes(const struct pf_plan *plan, int from, int to)
{
    return plan->call.rows ? plan->call.rows[from][to] : plan->call.bytes;
}

/* MPI_Alltoall sends to the rank below first, and receives from the one above; others begin with rank 0. */
bool pf_nth_goes_around(const struct pf_plan *plan)
{
    return plan->call.kind == PF_COLL_ALLTOALL && !plan->call.nonblocking;
}

int pf_nth_receive_from(const struct pf_plan *plan, int from, int to)
{
    int n = plan->call.n;
    if (pf_nth_goes_around(plan))
        return around(from - to, n) - 1;
    if (plan->call.nonblocking && plan->call.kind == PF_COLL_ALLGATHERV)
        return around(to - from, n) - 1;
    return from - (from > to);
}

/* MPI_Alltoallw leaves out what is empty, nonblocking ones and those in place as well. */
static bool is_sent(const struct pf_plan *plan, size_t bytes)
{
    return bytes > 0 || (plan->call.kind != PF_COLL_ALLTOALLW && !plan->call.in_place &&
                         !(plan->call.kind == PF_COLL_ALLTOALLV && plan->call.nonblocking));
}

bool pf_nth_source(const struct pf_plan *plan, int rank, int i, int *from, size_t *bytes)
{
    enum pf_coll_kind kind = plan->call.kind;
    if (kind == PF_COLL_ALLGATHER || kind == PF_COLL_ALLGATHERV) {
        *from = kind == PF_COLL_ALLGATHERV ? around(rank - i, plan->call.n) : nth_other(rank, i);
        *bytes = pf_plan_blocks(plan, *from, 1);
        return true;
    }
    *from = pf_nth_goes_around(plan) ? around(rank + i, plan->call.n) : nth_other(rank, i);
    *bytes = pair_bytes(plan, *from, rank);
    return is_sent(plan, *bytes);
}

/* libnbc sends first where counts differ, and in place. */
bool pf_sends_first(const struct pf_plan *plan)
{
    enum pf_coll_kind kind = plan->call.kind;
    return plan->call.nonblocking && (kind == PF_COLL_ALLTOALLV || kind == PF_COLL_ALLTOALLW ||
                                      (kind == PF_COLL_ALLTOALL && plan->call.in_place));
}

bool pf_nth_alltoall(const struct pf_plan *plan, int rank, int i, struct pf_step *step)
{
    int to = pf_nth_goes_around(plan) ? around(rank - i, plan->call.n) : nth_other(rank, i);
    *step = (struct pf_step){to, PF_PAIR, pair_bytes(plan, rank, to), 0, 0, false};
    return is_sent(plan, step->bytes);
}

int pf_at_alltoall_linear(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                          struct pf_round *out)
{
    int n = plan->call.n;
    if (round > 0)
        return stage->rounds;
    out->mode = PF_COST_STANDARD;
    for (int i = 1; i < n; i++)
        out->sends += pf_nth_alltoall(plan, rank, i, &out->step[out->sends]);
    for (int from = 0; from < n; from++)
        out->receives += from != rank && is_sent(plan, pair_bytes(plan, from, rank));
    return out->sends || out->receives ? 0 : stage->rounds;
}

int pf_at_alltoall_pairwise(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                            struct pf_round *out)
{
    if (round >= stage->rounds)
        return round;
    int to = around(rank + round + 1, plan->call.n);
    pf_round_send(out, to, PF_PAIR, pair_bytes(plan, rank, to), 0, 0);
    out->receives = 1;
    return round;
}

/*
 * With one buffer: at each distance both neighbours exchange with each other, one after the other, and at
 * half of the ranks there is only one. Rounds in which a rank has nothing are none.
 */
int pf_at_alltoall_in_place(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                            struct pf_round *out)
{
    int n = plan->call.n;
    for (; round < stage->rounds; round++) {
        int distance = round / 2 + 1, up = around(rank + distance, n), down = around(rank - distance, n);
        bool sends_up = (round % 2 == 1) != plan->call.nonblocking;
        int to = sends_up ? up : down, from = sends_up ? down : up;
        if (is_sent(plan, pair_bytes(plan, rank, to)))
            pf_round_send(out, to, PF_PAIR, pair_bytes(plan, rank, to), 0, 0);
        out->receives = is_sent(plan, pair_bytes(plan, from, rank));
        if (out->sends || out->receives)
            break;
    }
    return round;
}

/* How many numbers below n have the bit. */
static int with_bit(int n, int bit)
{
    int rest = n % (2 * bit) - bit;
    return n / (2 * bit) * bit + (rest > 0 ? rest : 0);
}

int pf_at_alltoall_bruck(const struct pf_plan *plan, const struct pf_stage *stage, int rank, int round,
                         struct pf_round *out)
{
    int n = plan->call.n, bit = 1 << round;
    if (round >= stage->rounds)
        return round;
    int count = with_bit(n, bit);
    pf_round_send(out, around(rank + bit, n), PF_BRUCK, (size_t)count * plan->call.bytes, (size_t)bit,
                  (size_t)count);
    out->step[0].gaps = !plan->call.mpich;
    out->types = !plan->call.mpich;
    out->receives = 1;
    return round;
}
