/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows the data through the schedule of every algorithm: the contributors to each element at each rank.
 * At the end each rank must have what the standard says, every message must be received in the round of its
 * send, and where the operation does not commute only neighbouring contributions may be combined.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "adapters/analytic/coll/algorithms/schedule.h"
#include "adapters/analytic/coll/coll.h"

enum { RANKS = 40, ELEMENTS = 200, MESSAGES = RANKS * RANKS, POOL = MESSAGES * 8 };

/* A set of ranks. */
typedef uint64_t set;

static set value[RANKS][ELEMENTS];   /* the vector, or all blocks one after the other */
static set partial[RANKS][ELEMENTS]; /* scans: what a rank passes on */
static set got[RANKS][ELEMENTS];     /* what came last */
static set known[RANKS];             /* barriers */
static int place[RANKS][RANKS];      /* all-to-all: which rank has the block of a pair */

struct message {
    int from, to;
    struct pf_step step;
    set *content;
};

static struct message message[MESSAGES];
static set pool[POOL];
static int messages;
static size_t pooled;
static struct pf_plan plan;
static bool mpich; /* whose rules */
static size_t count[RANKS], start[RANKS + 1], row[RANKS][RANKS];
static const size_t *rows[RANKS];
static char context[200];

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fail_msg("%s: %s", context, #condition);                                                         \
    } while (0)

static bool is(enum pf_coll_kind kind)
{
    return plan.call.kind == kind;
}

static bool reduces(void)
{
    return plan.call.kind >= PF_COLL_REDUCE;
}

static bool scans(void)
{
    return is(PF_COLL_SCAN) || is(PF_COLL_EXSCAN);
}

static size_t element(void)
{
    return plan.call.element;
}

/* The first element of a block. */
static size_t first_of_block[RANKS + 1];

static size_t block(int r)
{
    return first_of_block[r];
}

static size_t size_of_vector(void)
{
    return plan.total / element();
}

/* The range of elements of a message: of blocks, or of the vector; both go round at the end. */
static void range(const struct pf_step *step, size_t *first, size_t *length)
{
    *first = step->first / element();
    *length = step->bytes / element();
    if (step->action == PF_BLOCKS)
        *first = block((int)step->first);
    if (step->action == PF_BLOCKS && step->count) {
        size_t bytes = 0;
        for (size_t i = 0; i < step->count; i++) {
            int r = (int)((step->first + i) % (size_t)plan.call.n);
            bytes += (block(r + 1) - block(r)) * element();
        }
        CHECK(bytes == step->bytes);
    }
}

/* The i-th element of a message. */
static size_t element_of(const struct pf_step *step, size_t first, size_t i)
{
    if (step->action == PF_STRIDED) {
        size_t size = block(1);
        CHECK((step->first + i / size * step->count) < (size_t)plan.call.n);
        return (step->first + i / size * step->count) * size + i % size;
    }
    return (first + i) % (step->action == PF_BLOCKS ? block(plan.call.n) : size_of_vector());
}

static void take_content(struct message *m)
{
    size_t first, length;
    if (m->step.action == PF_TOKEN || m->step.action == PF_PAIR || m->step.action == PF_BRUCK) {
        m->content = &pool[pooled++];
        *m->content = known[m->from];
        return;
    }
    range(&m->step, &first, &length);
    CHECK(pooled + length < POOL);
    m->content = &pool[pooled];
    pooled += length;
    for (size_t i = 0; i < length; i++) {
        size_t e = element_of(&m->step, first, i);
        m->content[i] = m->step.action == PF_RELAY    ? got[m->from][e]
                        : m->step.action == PF_PREFIX ? partial[m->from][e]
                                                      : value[m->from][e];
        CHECK(m->content[i] != 0);
    }
}

/* Marks what was combined in a wrong order. Some algorithms do so with elements that are not used. */
#define WRONG ((set)1 << 63)

static void combine(set *into, set more)
{
    CHECK((*into & more & ~WRONG) == 0);
    *into |= more;
}

static void move_bruck(const struct message *m)
{
    size_t moved = 0;
    int n = plan.call.n;
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++)
            if (place[from][to] == m->from && ((size_t)((to - from + n) % n) & m->step.first)) {
                place[from][to] = m->to + RANKS; /* not to be moved again in this round */
                moved++;
            }
    CHECK(moved == m->step.count && moved * plan.call.bytes == m->step.bytes);
}

static void apply(const struct message *m)
{
    size_t first, length;
    switch (m->step.action) {
    case PF_TOKEN:
        known[m->to] |= *m->content;
        return;
    case PF_PAIR:
        CHECK(place[m->from][m->to] == m->from);
        CHECK(m->step.bytes == (plan.call.rows ? row[m->from][m->to] : plan.call.bytes));
        place[m->from][m->to] = m->to;
        return;
    case PF_BRUCK:
        move_bruck(m);
        return;
    default:
        break;
    }
    range(&m->step, &first, &length);
    for (size_t i = 0; i < length; i++) {
        size_t e = element_of(&m->step, first, i);
        if (m->step.action == PF_PUT || m->step.action == PF_BLOCKS)
            value[m->to][e] = m->content[i];
        else if (m->step.action != PF_PREFIX || m->from < m->to)
            combine(&value[m->to][e], m->content[i]);
        if (m->step.action == PF_PREFIX)
            combine(&partial[m->to][e], m->content[i]);
        got[m->to][e] = m->content[i];
    }
}

static set in_order(set s)
{
    set ones = s & ~WRONG;
    if (ones == 0)
        return s;
    ones >>= __builtin_ctzll(ones);
    return ones & (ones + 1) ? s | WRONG : s;
}

static void check_order(void)
{
    for (int r = 0; r < plan.call.n; r++)
        for (size_t e = 0; e < size_of_vector(); e++) {
            value[r][e] = in_order(value[r][e]);
            partial[r][e] = in_order(partial[r][e]);
        }
}

/* One round of all ranks. `next[r]` is where rank r goes on. */
static void play(const struct pf_stage *stage, int k, int *next, int *receives)
{
    static struct pf_step step[RANKS + 2];
    static int peer[RANKS + 2];
    int n = plan.call.n;
    messages = 0;
    pooled = 0;
    for (int r = 0; r < n; r++) {
        receives[r] = 0;
        if (next[r] > k)
            continue;
        struct pf_round out = {.step = step, .peer = peer};
        next[r] = stage->at(&plan, stage, r, k, &out);
        CHECK(next[r] >= k && next[r] <= stage->rounds);
        if (next[r] > k)
            continue;
        next[r] = k + 1;
        receives[r] = out.receives;
        CHECK(out.sends + out.receives > 0 && out.sends <= n);
        for (int i = 0; i < out.sends; i++) {
            CHECK(step[i].peer >= 0 && step[i].peer < n && step[i].peer != r);
            message[messages] = (struct message){r, step[i].peer, step[i], NULL};
            take_content(&message[messages++]);
        }
    }
    for (int i = 0; i < messages; i++) {
        apply(&message[i]);
        receives[message[i].to]--;
    }
    for (int r = 0; r < n; r++)
        CHECK(receives[r] == 0);
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++)
            place[from][to] %= RANKS;
}

static void prepare(void)
{
    int n = plan.call.n, root = plan.call.root;
    for (int r = 0; r < n; r++)
        first_of_block[r + 1] =
            first_of_block[r] + (plan.call.counts ? plan.call.counts[r] : plan.call.bytes) / element();
    memset(value, 0, sizeof value);
    memset(partial, 0, sizeof partial);
    for (int r = 0; r < n; r++) {
        set own = (set)1 << r;
        known[r] = own;
        for (int to = 0; to < n; to++)
            place[r][to] = r;
        if (reduces())
            for (size_t e = 0; e < size_of_vector(); e++) {
                value[r][e] = is(PF_COLL_EXSCAN) ? 0 : own;
                partial[r][e] = scans() ? own : 0;
            }
        else if (is(PF_COLL_BCAST))
            for (size_t e = 0; r == root && e < size_of_vector(); e++)
                value[r][e] = own;
        else if (!is(PF_COLL_BARRIER) && plan.call.kind < PF_COLL_ALLTOALL)
            for (size_t e = block(r); e < block(r + 1); e++)
                value[is(PF_COLL_SCATTER) || is(PF_COLL_SCATTERV) ? root : r][e] = own;
    }
}

/* What element e of rank r must be at the end; 0: of no interest. */
static set expected(int r, size_t e)
{
    int n = plan.call.n, owner = 0;
    set all = ((set)1 << n) - 1;
    switch (plan.call.kind) {
    case PF_COLL_BCAST:
        return (set)1 << plan.call.root;
    case PF_COLL_REDUCE:
        return r == plan.call.root ? all : 0;
    case PF_COLL_ALLREDUCE:
        return all;
    case PF_COLL_SCAN:
        return ((set)2 << r) - 1;
    case PF_COLL_EXSCAN:
        return ((set)1 << r) - 1;
    default:
        while (e >= block(owner + 1))
            owner++;
        break;
    }
    switch (plan.call.kind) {
    case PF_COLL_SCATTER:
    case PF_COLL_SCATTERV:
        return r == owner ? (set)1 << owner : 0;
    case PF_COLL_GATHER:
    case PF_COLL_GATHERV:
        return r == plan.call.root ? (set)1 << owner : 0;
    case PF_COLL_ALLGATHER:
    case PF_COLL_ALLGATHERV:
        return (set)1 << owner;
    default: /* reduce_scatter */
        return r == owner ? all : 0;
    }
}

static bool is_all_to_all(enum pf_coll_kind kind)
{
    return kind >= PF_COLL_ALLTOALL && kind <= PF_COLL_ALLTOALLW;
}

/* Of blocks without a byte, Open MPI sends only those of MPI_Alltoall and MPI_Alltoallv, blocking and with
 * two buffers, and of MPI_Ialltoall. */
static bool leaves_out_empty(void)
{
    return is(PF_COLL_ALLTOALLW) || plan.call.in_place || (is(PF_COLL_ALLTOALLV) && plan.call.nonblocking);
}

static void check_end(void)
{
    int n = plan.call.n;
    set all = ((set)1 << n) - 1;
    size_t length = is(PF_COLL_SCATTERV) || is(PF_COLL_GATHERV) ? block(n) : size_of_vector();
    for (int r = 0; r < n; r++) {
        if (is(PF_COLL_BARRIER))
            CHECK(known[r] == all);
        for (int to = 0; is_all_to_all(plan.call.kind) && to < n; to++)
            CHECK(place[r][to] == to || (leaves_out_empty() && (is(PF_COLL_ALLTOALL) || row[r][to] == 0)));
        if (is(PF_COLL_BARRIER) || is_all_to_all(plan.call.kind))
            continue;
        for (size_t e = 0; e < length; e++)
            if (expected(r, e))
                CHECK(value[r][e] == expected(r, e));
    }
}

static int cases;

static void run(const struct pf_coll_call *call, int algorithm, size_t segment)
{
    int next[RANKS], receives[RANKS];
    pf_plan_make(&plan, call, algorithm, segment, start);
    snprintf(context, sizeof context, "%s %s%s%s%s n=%d root=%d bytes=%zu element=%zu segment=%zu",
             pf_kinds[call->kind].name, plan.name, call->commutative ? "" : " (ordered)",
             call->nonblocking ? " (nonblocking)" : "", call->in_place ? " (in place)" : "", call->n,
             call->root, plan.total, call->element, segment);
    assert_true(plan.stages <= PF_STAGES_MAX);
    prepare();
    for (int s = 0; s < plan.stages; s++) {
        memset(next, 0, sizeof next);
        memset(got, 0, sizeof got);
        for (int k = 0; k < plan.stage[s].rounds; k++) {
            play(&plan.stage[s], k, next, receives);
            /* A linear reduction combines the root's own elements between those of its neighbours. */
            bool in_order = plan.stage[s].at != pf_at_reduce_linear || k + 1 == plan.stage[s].rounds;
            if (reduces() && !call->commutative && in_order)
                check_order();
        }
    }
    if (plan.stages || call->n == 1)
        check_end();
    cases++;
}

/* Blocks of different sizes, some of them empty. */
static void vary(struct pf_coll_call *call, size_t elements)
{
    for (int i = 0; i < call->n; i++) {
        count[i] = (size_t)(i * 7 + 3) % 4 * (elements ? 1 : 0) * call->element;
        for (int j = 0; j < call->n; j++)
            row[i][j] = (size_t)(i * 3 + j) % 4;
        rows[i] = row[i];
    }
    enum pf_coll_kind k = call->kind;
    bool v = k == PF_COLL_SCATTERV || k == PF_COLL_GATHERV || k == PF_COLL_ALLGATHERV ||
             k == PF_COLL_REDUCE_SCATTER;
    call->counts = v ? count : NULL;
    call->rows = k == PF_COLL_ALLTOALLV || k == PF_COLL_ALLTOALLW ? rows : NULL;
}

static bool by_blocks(enum pf_coll_kind kind)
{
    return kind == PF_COLL_SCATTER || kind == PF_COLL_GATHER || kind == PF_COLL_ALLGATHER ||
           kind == PF_COLL_ALLTOALL || kind == PF_COLL_REDUCE_SCATTER_BLOCK;
}

static bool has_root(enum pf_coll_kind kind)
{
    return (kind >= PF_COLL_BCAST && kind <= PF_COLL_GATHERV) || kind == PF_COLL_REDUCE;
}

/* All sizes, roots and segments of one algorithm (-1: what the rules choose) and number of ranks. */
static void run_sizes(enum pf_coll_kind kind, int algorithm, int n, bool commutative, bool nonblocking,
                      bool in_place)
{
    static const size_t vector[] = {0, 1, 2, 5, 17, 41, 66};
    static const size_t segments[] = {0, 2, 7};
    int roots[] = {0, n - 1, n / 2};
    for (size_t s = 0; s<sizeof vector / sizeof vector[0]; s += n> 20 ? 3 : 1)
        for (int which = 0; which < (has_root(kind) ? 3 : 1); which++)
            for (size_t g = 0; g < 3; g++) {
                size_t elements = by_blocks(kind) ? s % 4 : vector[s];
                if (g && (algorithm < 0 || by_blocks(kind) || elements < 17))
                    continue;
                struct pf_coll_call call = {.kind = kind,
                                            .nonblocking = nonblocking,
                                            .in_place = in_place,
                                            .commutative = commutative,
                                            .predefined = commutative,
                                            .mpich = mpich,
                                            .n = n,
                                            .root = roots[which],
                                            .element = s % 2 ? 3 : 1};
                call.bytes = kind == PF_COLL_BARRIER ? 0 : elements * call.element;
                vary(&call, elements);
                run(&call, algorithm, segments[g] * call.element);
            }
}

static void test_every_algorithm(void **state)
{
    (void)state;
    for (int kind = 0; kind < PF_COLL_KINDS; kind++)
        for (int a = 0; a < PF_ALGORITHMS_MAX && pf_kinds[kind].algorithm[a].name; a++)
            for (int n = 1; n <= RANKS; n++) {
                run_sizes((enum pf_coll_kind)kind, a, n, true, false, false);
                if (kind >= PF_COLL_REDUCE && pf_kinds[kind].algorithm[a].ordered)
                    run_sizes((enum pf_coll_kind)kind, a, n, false, false, false);
            }
    print_message("%d schedules\n", cases);
}

static void test_rules(void **state)
{
    (void)state;
    for (int kind = 0; kind < PF_COLL_KINDS; kind++)
        for (int n = 1; n <= RANKS; n++)
            for (int i = 0; i < (is_all_to_all((enum pf_coll_kind)kind) ? 8 : 4); i++) {
                run_sizes((enum pf_coll_kind)kind, -1, n, i % 2, i / 2 % 2, i / 4);
                mpich = true;
                run_sizes((enum pf_coll_kind)kind, -1, n, i % 2, i / 2 % 2, i / 4);
                mpich = false;
            }
}

/* An algorithm that needs an operation that commutes gives way to the rules. */
static void test_order_is_kept(void **state)
{
    (void)state;
    for (int kind = PF_COLL_REDUCE; kind < PF_COLL_KINDS; kind++)
        for (int a = 0; a < PF_ALGORITHMS_MAX && pf_kinds[kind].algorithm[a].name; a++)
            if (!pf_kinds[kind].algorithm[a].ordered)
                for (int n = 2; n <= 17; n++)
                    run_sizes((enum pf_coll_kind)kind, a, n, false, false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_algorithm),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_order_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
