/* SPDX-License-Identifier: BSD-3-Clause */
/* When ranks leave: closed forms of LogGP, ranks that come late, and both ways of evaluation against each
 * other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "adapters/analytic/coll/algorithms/algorithms.h"
#include "adapters/analytic/coll/choice.h"
#include "adapters/analytic/coll/coll.h"
#include "adapters/analytic/coll/evaluate/evaluate.h"
#include "base/config.h"

enum { RANKS = 64 };

/* One rank per node, 1 us and 1 GB/s between any two, overheads of 0.1 and 0.2 us; no NIC is ever busy. */
#define LATENCY 1e-6
#define BYTE    1e-9
#define SEND    0.1e-6
#define RECEIVE 0.2e-6
#define LOGGP                                                                                                \
    "model = loggp; overhead_send = 0.1 us; overhead_receive = 0.2 us; nic_bandwidth = 1e30 B/s; gap = 0 s;"

static const size_t counts[RANKS] = {3, 0, 12, 6, 9, 0, 3, 30};
static size_t row[RANKS];
static const size_t *rows[RANKS];
static double leaves[RANKS];

static void route(void *context, int src, int dst, double *latency, double *bandwidth)
{
    (void)context;
    *latency = src == dst ? 0 : LATENCY;
    *bandwidth = 1 / BYTE;
}

static struct pf_cost *cost;

static struct pf_colls *make_for(int ranks, const char *parameters, const char *choice)
{
    char why[600], plain[1000]; /* without what is derived from the simulated NIC */
    int nodes[RANKS];
    snprintf(plain, sizeof plain, "defaults = plain; %s", parameters);
    for (int i = 0; i < RANKS; i++) {
        nodes[i] = i;
        rows[i] = row;
        row[i] = (size_t)(i % 5) * 3;
    }
    assert_true(pf_config_set("analytic_set", plain));
    cost = pf_cost_new(ranks, nodes, route, NULL, NULL, why, sizeof why);
    if (!cost)
        fail_msg("%s", why);
    struct pf_colls *colls = pf_colls_new(cost, choice, why, sizeof why);
    if (!colls)
        fail_msg("%s", why);
    return colls;
}

static struct pf_colls *make(const char *parameters, const char *choice)
{
    return make_for(RANKS, parameters, choice);
}

static void drop(struct pf_colls *colls)
{
    assert_int_equal(colls->early.in_use, 0);
    pf_colls_free(colls);
    pf_cost_free(cost);
}

/* Takes what is there. No rank leaves twice, nor before the last arrival. */
static int take(struct pf_coll *coll, double now)
{
    int rank, taken = 0;
    double date;
    for (; pf_coll_next(coll, &rank, &date); taken++) {
        assert_true(isnan(leaves[rank]));
        assert_true(date >= now);
        leaves[rank] = date;
    }
    return taken;
}

static struct pf_coll *begin(struct pf_colls *colls, enum pf_coll_kind kind, int n, size_t bytes)
{
    struct pf_coll_call call = {.kind = kind, .commutative = true, .n = n, .element = 3, .bytes = bytes};
    bool v = kind == PF_COLL_SCATTERV || kind == PF_COLL_GATHERV || kind == PF_COLL_ALLGATHERV ||
             kind == PF_COLL_REDUCE_SCATTER;
    call.counts = v ? counts : NULL;
    call.rows = kind == PF_COLL_ALLTOALLV || kind == PF_COLL_ALLTOALLW ? rows : NULL;
    for (int i = 0; i < n; i++)
        leaves[i] = NAN;
    return pf_coll_open(colls, &call);
}

static void all_at(struct pf_colls *colls, enum pf_coll_kind kind, int n, size_t bytes, double date)
{
    struct pf_coll *coll = begin(colls, kind, n, bytes);
    int taken = 0;
    for (int r = 0; r < n; r++) {
        pf_coll_arrive(coll, r, date);
        taken += take(coll, date);
    }
    assert_int_equal(taken, n);
    pf_coll_close(coll);
}

static void near(double value, double expected, int line)
{
    if (!(fabs(value - expected) <= 1e-14 * fmax(1, fabs(expected))))
        fail_msg("line %d: %.17g, expected %.17g", line, value, expected);
}
#define NEAR(value, expected) near(value, expected, __LINE__)

static double hop(size_t bytes)
{
    return SEND + LATENCY + (double)bytes * BYTE + RECEIVE;
}

static double binomial_bcast(int v, size_t bytes)
{
    if (v == 0)
        return 0;
    int top = pf_log2((unsigned)v), parent = v - (1 << top);
    int earlier = parent ? top - pf_log2((unsigned)parent) - 1 : top;
    return binomial_bcast(parent, bytes) + earlier * SEND + hop(bytes);
}

static void test_closed_forms(void **state)
{
    (void)state;
    double t = 0; /* NICs know what came before */
    struct pf_colls *colls =
        make(LOGGP, "allreduce:recursive_doubling,barrier:bruck,bcast:binomial,allgather:ring,"
                    "alltoall:linear,gather:basic_linear,scan:linear");
    for (int n = 2, steps = 1; n <= RANKS; n *= 2, steps++) {
        size_t bytes = 3000;
        all_at(colls, PF_COLL_ALLREDUCE, n, bytes, ++t);
        for (int r = 0; r < n; r++)
            NEAR(leaves[r], t + steps * hop(bytes));
        all_at(colls, PF_COLL_BARRIER, n, 0, ++t);
        NEAR(leaves[n - 1], t + steps * hop(0));
        all_at(colls, PF_COLL_ALLGATHER, n, bytes, ++t);
        NEAR(leaves[n / 2], t + (n - 1) * hop(bytes));
        all_at(colls, PF_COLL_BCAST, n, bytes, ++t);
        NEAR(leaves[0], t + steps * SEND);
        for (int r = 1; r < n; r++)
            if (2 * r >= n) /* a leaf of the tree */
                NEAR(leaves[r], t + binomial_bcast(r, bytes));
        all_at(colls, PF_COLL_GATHER, n, bytes, ++t);
        NEAR(leaves[0], t + hop(bytes) + (n - 2) * RECEIVE);
        NEAR(leaves[1], t + SEND);
        /* The messages to one rank leave one SEND after the other; the first is there while it still sends.
         */
        all_at(colls, PF_COLL_ALLTOALL, n, 3, ++t);
        double first = t + SEND + LATENCY + 3 * BYTE, busy = (n - 1) * RECEIVE, sends = t + (n - 1) * SEND;
        double last = sends + LATENCY + 3 * BYTE + RECEIVE;
        NEAR(leaves[0], fmax(last, fmax(first, sends) + busy));
        all_at(colls, PF_COLL_SCAN, n, bytes, ++t);
        NEAR(leaves[n - 1], t + (n - 1) * hop(bytes));
    }
    drop(colls);
}

/* Recursive doubling: rank 0 combines what comes once, the last one always twice; MPI_Exscan copies the first
 * of these. */
static void test_scans(void **state)
{
    (void)state;
    struct pf_colls *colls = make(LOGGP "combine_bandwidth = 1 GB/s; own_bandwidth = 2 GB/s;",
                                  "scan:recursive_doubling,exscan:recursive_doubling");
    double combine = 3e-6, copy = 1.5e-6, steps = 3 * hop(3000);
    all_at(colls, PF_COLL_SCAN, 8, 3000, 1);
    NEAR(leaves[0], 1 + 2 * copy + steps + 3 * combine);
    NEAR(leaves[7], 1 + 2 * copy + steps + 6 * combine);
    all_at(colls, PF_COLL_EXSCAN, 8, 3000, 2);
    NEAR(leaves[0], 2 + copy + steps + 3 * combine);
    NEAR(leaves[7], 2 + copy + steps + copy + 5 * combine);
    drop(colls);
}

/* A chain of d ranks takes segments in turn: the last one comes after d - 1 + segments - 1 steps. A rank
 * sends one segment while it waits for the next. */
static void test_pipeline(void **state)
{
    (void)state;
    struct pf_colls *colls = make(LOGGP, "bcast:pipeline:300");
    all_at(colls, PF_COLL_BCAST, 8, 3000, 1);
    /* The root sends 10 segments, one SEND apart; receivers are busy for longer than that. */
    NEAR(leaves[0], 1 + 10 * SEND);
    assert_true(leaves[7] < 1 + 7 * hop(300) + 9 * hop(300));
    assert_true(leaves[7] > 1 + 7 * hop(300));
    double whole = leaves[7];
    drop(colls);
    colls = make(LOGGP, "bcast:pipeline");
    all_at(colls, PF_COLL_BCAST, 8, 3000, 1);
    NEAR(leaves[7], 1 + 7 * hop(3000));
    assert_true(whole < leaves[7]);
    drop(colls);
}

/* A late rank delays those that need its data, and no others. */
static void test_skew(void **state)
{
    (void)state;
    struct pf_colls *colls = make(LOGGP, "bcast:binomial,reduce:binomial,scatter:binomial,gather:binomial");
    struct pf_coll *coll = begin(colls, PF_COLL_BCAST, 8, 300);
    pf_coll_arrive(coll, 0, 1);
    assert_int_equal(take(coll, 1), 1); /* the root has sent, and leaves */
    NEAR(leaves[0], 1 + 3 * SEND);
    for (int r = 1; r < 7; r++)
        pf_coll_arrive(coll, r, 1);
    assert_int_equal(take(coll, 1), 6);
    NEAR(leaves[6], 1 + binomial_bcast(6, 300));
    pf_coll_arrive(coll, 7, 5);
    assert_int_equal(take(coll, 5), 1);
    NEAR(leaves[7], 5 + RECEIVE);
    pf_coll_close(coll);

    /* A late inner rank delays its subtree alone: 3 sends to 7. */
    coll = begin(colls, PF_COLL_BCAST, 8, 300);
    for (int r = 0; r < 8; r++)
        if (r != 3)
            pf_coll_arrive(coll, r, 1);
    assert_int_equal(take(coll, 1), 6);
    pf_coll_arrive(coll, 3, 2);
    assert_int_equal(take(coll, 2), 2);
    NEAR(leaves[7], 2 + RECEIVE + hop(300));
    pf_coll_close(coll);

    coll = begin(colls, PF_COLL_REDUCE, 8, 300);
    for (int r = 7; r >= 0; r--)
        if (r != 5)
            pf_coll_arrive(coll, r, 1);
    assert_int_equal(take(coll, 1), 5); /* 1, 2, 3, 6 and 7; 4 waits for 5, and the root for 4 */
    NEAR(leaves[7], 1 + SEND);
    NEAR(leaves[6], 1 + hop(300) + SEND);
    pf_coll_arrive(coll, 5, 3);
    assert_int_equal(take(coll, 3), 3);
    NEAR(leaves[0], 3 + 2 * hop(300)); /* 5, 4, 0 */
    pf_coll_close(coll);

    coll = begin(colls, PF_COLL_SCAN, 8, 300);
    for (int r = 0; r < 8; r++)
        if (r != 4)
            pf_coll_arrive(coll, r, 1);
    assert_int_equal(take(coll, 1), 4);
    pf_coll_arrive(coll, 4, 2);
    assert_int_equal(take(coll, 2), 4);
    pf_coll_close(coll);
    drop(colls);
}

/* A message above the threshold keeps its sender until the receiver comes. */
static void test_rendezvous(void **state)
{
    (void)state;
    struct pf_colls *colls =
        make("model = loggps; eager_max = 100 B;", "bcast:basic_linear,gather:basic_linear");
    struct pf_coll *coll = begin(colls, PF_COLL_BCAST, 4, 300);
    for (int r = 0; r < 3; r++)
        pf_coll_arrive(coll, r, 1);
    assert_int_equal(take(coll, 1), 2);
    pf_coll_arrive(coll, 3, 2);
    assert_int_equal(take(coll, 2), 2);
    assert_true(leaves[0] > 2 && leaves[3] > 2 && leaves[1] < 2);
    pf_coll_close(coll);
    coll = begin(colls, PF_COLL_GATHER, 4, 300);
    for (int r = 1; r < 4; r++)
        pf_coll_arrive(coll, r, 1);
    assert_int_equal(take(coll, 1), 0);
    pf_coll_arrive(coll, 0, 2);
    assert_int_equal(take(coll, 2), 4);
    pf_coll_close(coll);
    drop(colls);
}

/* One call with dates of arrival, rank after rank in their order, in one of the two ways. */
static void evaluate(struct pf_colls *colls, enum pf_coll_kind kind, int n, size_t bytes, const double *dates,
                     bool together)
{
    bool arrived[RANKS] = {false};
    struct pf_coll *coll = begin(colls, kind, n, bytes);
    coll->together = together && coll->plan.stages;
    int taken = 0;
    for (int i = 0; i < n; i++) {
        int first = -1;
        for (int r = 0; r < n; r++)
            if (!arrived[r] && (first < 0 || dates[r] < dates[first]))
                first = r;
        arrived[first] = true;
        pf_coll_arrive(coll, first, dates[first]);
        taken += take(coll, together ? 0 : dates[first]);
    }
    assert_int_equal(taken, n);
    pf_coll_close(coll);
}

/* Every algorithm: round by round over all ranks, and rank by rank as they come. Eager messages alone: the
 * data of a rendezvous wait for the NIC in the order in which the prices are asked. */
static void compare(const char *parameters)
{
    static const int sizes[] = {2, 3, 7, 8, 13, 16, 29};
    for (int kind = 0; kind < PF_COLL_KINDS; kind++)
        for (int a = 0; a < PF_ALGORITHMS_MAX && pf_kinds[kind].algorithm[a].name; a++) {
            char choice[100];
            snprintf(choice, sizeof choice, "%s:%s:6", pf_kinds[kind].name, pf_kinds[kind].algorithm[a].name);
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                double dates[RANKS], before[RANKS], last = 0;
                int n = sizes[s];
                srand((unsigned)(kind * 1000 + a * 100 + n));
                for (int r = 0; r < n; r++) {
                    dates[r] = 1 + 1e-6 * (rand() % 20);
                    last = fmax(last, dates[r]);
                }
                struct pf_colls *colls = make(parameters, choice);
                evaluate(colls, (enum pf_coll_kind)kind, n, 96, dates, true);
                drop(colls);
                memcpy(before, leaves, sizeof before);
                colls = make(parameters, choice);
                evaluate(colls, (enum pf_coll_kind)kind, n, 96, dates, false);
                drop(colls);
                for (int r = 0; r < n; r++)
                    /* When all are evaluated together, no rank leaves before the last arrival. */
                    if (!(fabs(fmax(leaves[r], last) - before[r]) <= 1e-13))
                        fail_msg("%s, %d ranks: rank %d leaves at %.17g or %.17g", choice, n, r, before[r],
                                 leaves[r]);
            }
        }
}

/* All ranks enter a nonblocking call at once. */
static void enter(struct pf_colls *colls, enum pf_coll_kind kind, int n, size_t bytes)
{
    struct pf_coll_call call = {.kind = kind, .nonblocking = true, .n = n, .bytes = bytes};
    int taken = 0;
    for (int r = 0; r < n; r++)
        leaves[r] = NAN;
    struct pf_coll *coll = pf_coll_open(colls, &call);
    for (int r = 0; r < n; r++) {
        pf_coll_arrive(coll, r, 0);
        taken += take(coll, 0);
    }
    assert_int_equal(taken, n);
    pf_coll_close(coll);
}

/* Receives that take time to post are posted one after the other: by libnbc from rank to rank, in
 * MPI_Ialltoall each before the send to the same rank. Data whose head comes before their receive have come
 * in vain, and are fetched. */
static void test_posts(void **state)
{
    enum { N = 8, BYTES = 1000 };
    const double post = 3e-6, data = LATENCY + BYTES * BYTE;
    struct pf_colls *colls =
        make("eager_max = 1; protocol = get; post = 3 us; nic_bandwidth = 1e30 B/s; gap = 0 s", "");
    (void)state;
    enter(colls, PF_COLL_GATHER, N, BYTES);
    NEAR(leaves[0], (N - 1) * post + LATENCY + data);
    enter(colls, PF_COLL_ALLTOALL, N, BYTES);
    for (int r = 0; r < N; r++) {
        double last = 0;
        for (int s = 0; s < N; s++) {
            double sent = (r - (r > s) + 1) * post, posted = (s - (s > r) + 1) * post;
            double there = sent + data;
            if (posted > sent + LATENCY)
                there = fmax(there, posted) + LATENCY + data;
            last = s == r ? last : fmax(last, there);
        }
        NEAR(leaves[r], last);
    }
    drop(colls);
}

static void test_both_ways(void **state)
{
    (void)state;
    compare(LOGGP);
    compare("model = loggps; overhead_send = 0.3 us; overhead_receive = 0.1 us; gap = 0.2 us;");
    compare(LOGGP "type = 0.7 us; combine_bandwidth = 100 MB/s; own_bandwidth = 50 MB/s;");
}

/* In which order ranks of one date come does not matter. */
static void test_order_of_arrival(void **state)
{
    (void)state;
    for (int kind = 0; kind < PF_COLL_KINDS; kind++) {
        double up[RANKS];
        struct pf_colls *colls = make(LOGGP, "");
        all_at(colls, (enum pf_coll_kind)kind, 13, 300, 1);
        drop(colls);
        memcpy(up, leaves, sizeof up);
        colls = make(LOGGP, "");
        struct pf_coll *coll = begin(colls, (enum pf_coll_kind)kind, 13, 300);
        for (int r = 12; r >= 0; r--)
            pf_coll_arrive(coll, r, 1);
        assert_int_equal(take(coll, 1), 13);
        pf_coll_close(coll);
        drop(colls);
        for (int r = 0; r < 13; r++)
            NEAR(leaves[r], up[r]);
    }
}

/* Where NICs take what comes in one after the other: 15 messages come in at each rank. Priced rank after
 * rank, the last message of one rank would stand before the first of the next. */
static void test_all_to_all_fills_the_nics(void **state)
{
    (void)state;
    struct pf_colls *colls = make("model = loggp; contention = nic;", "alltoall:linear");
    all_at(colls, PF_COLL_ALLTOALL, 16, 30000, 1);
    for (int r = 0; r < 16; r++)
        NEAR(leaves[r], 1 + LATENCY + 15 * 30000 * BYTE);
    drop(colls);
    colls = make("model = loggp; contention = nic;", "allgather:linear");
    struct pf_coll_call call = {
        .kind = PF_COLL_ALLGATHER, .nonblocking = true, .n = 16, .element = 1, .bytes = 30000};
    struct pf_coll *coll = pf_coll_open(colls, &call);
    for (int r = 0; r < 16; r++) {
        leaves[r] = NAN;
        pf_coll_arrive(coll, r, 1);
    }
    assert_int_equal(take(coll, 1), 16);
    /* All of libnbc's ranks begin with rank 0: those that come late there come late everywhere. */
    double full = LATENCY + 15 * 30000 * BYTE;
    assert_true(leaves[3] >= 1 + full - 1e-12 && leaves[3] < 1 + 1.2 * full);
    pf_coll_close(coll);
    drop(colls);
}

/* Long blocks of different lengths share links all the time, each as much as it can have. Rank 0 sends 30,000
 * B to rank 1, each rank 3,000 B to every other one; receives take 0.1 us to post, acknowledgements 1 us. */
static void exchange_blocks(const double *dates)
{
    enum { N = 4 };
    static const size_t usual[N] = {3000, 3000, 3000, 3000}, first[N] = {3000, 30000, 3000, 3000};
    static const size_t *const blocks[N] = {first, usual, usual, usual};
    struct pf_colls *colls = make_for(
        N, "eager_max = 1000; protocol = portals; together = share; contention = nic; post = 0.1 us", "");
    struct pf_coll_call call = {.kind = PF_COLL_ALLTOALLV, .n = N, .element = 1, .rows = blocks};
    struct pf_coll *coll = pf_coll_open(colls, &call);
    for (int r = 0; r < N; r++) {
        leaves[r] = NAN;
        pf_coll_arrive(coll, r, dates[r]);
    }
    assert_int_equal(take(coll, dates[N - 1]), N);
    pf_coll_close(coll);
    drop(colls);
}

static void test_flows(void **state)
{
    (void)state;
    exchange_blocks((double[]){0, 0, 0, 0});
    /* Three flows on each link, until all but one have ended; sends wait for the acknowledgement. */
    double equal = 0.3e-6 + 3 * 3e-6 + LATENCY, last = equal + 27e-6;
    const double in_step[] = {last + LATENCY, last, equal + LATENCY, equal + LATENCY};
    for (int r = 0; r < 4; r++)
        NEAR(leaves[r], in_step[r]);
    /* Rank 3 is late: what was sent to it has come in vain, and is fetched while it sends itself. */
    exchange_blocks((double[]){0, 0, 0, 50e-6});
    double sent = 50.3e-6 + 3 * 3e-6 + LATENCY, fetched = 50e-6 + LATENCY + 3 * 3e-6 + LATENCY;
    assert_true(fetched < sent + LATENCY);
    for (int r = 0; r < 4; r++)
        NEAR(leaves[r], r == 3 ? sent + LATENCY : sent);
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    struct pf_colls *colls = make(LOGGP "call = 3 us;", "");
    all_at(colls, PF_COLL_ALLREDUCE, 1, 300, 1);
    NEAR(leaves[0], 1 + 3e-6);
    all_at(colls, PF_COLL_BCAST, 8, 0, 1);
    NEAR(leaves[7], 1 + 3e-6);
    drop(colls);
}

static void refused(const char *choice, const char *part)
{
    char why[600] = "";
    int algorithm[PF_COLL_KINDS];
    size_t segment[PF_COLL_KINDS];
    if (pf_choice_parse(choice, algorithm, segment, why, sizeof why))
        fail_msg("'%s' was accepted", choice);
    if (!strstr(why, part))
        fail_msg("'%s': '%s' does not say '%s'", choice, why, part);
}

static void test_choice(void **state)
{
    (void)state;
    char why[600] = "";
    int algorithm[PF_COLL_KINDS];
    size_t segment[PF_COLL_KINDS];
    assert_true(pf_choice_parse("allreduce:ring,bcast:chain:8k", algorithm, segment, why, sizeof why));
    assert_int_equal(algorithm[PF_COLL_ALLREDUCE], ALLREDUCE_RING);
    assert_int_equal(segment[PF_COLL_BCAST], 8192);
    assert_int_equal(algorithm[PF_COLL_REDUCE], -1);
    refused("allreduce", "COLLECTIVE:ALGORITHM");
    refused("allredouce:ring", "no collective 'allredouce'; there are barrier, bcast");
    refused("bcast:rings", "bcast has no algorithm 'rings'; there are basic_linear, chain");
    refused("bcast:", "has no algorithm ''");
    refused("bcast:chain:-1", "'-1' is not the bytes");
    refused("bcast:chain:0", "'0' is not the bytes");
    refused("bcast:chain:8x", "'8x' is not the bytes");
    refused("bcast:chain:8,reduce:none", "reduce has no algorithm 'none'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_scans),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_skew),
        cmocka_unit_test(test_rendezvous),
        cmocka_unit_test(test_posts),
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_order_of_arrival),
        cmocka_unit_test(test_all_to_all_fills_the_nics),
        cmocka_unit_test(test_flows),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
