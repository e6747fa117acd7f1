/* SPDX-License-Identifier: BSD-3-Clause */
/* The past of critical paths: adding up parts that only one path needs changes no sum. */
#include "lowlevel/engine/history.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STEM = 100000, BRANCH = 20000, RANKS = 7, PHASES = 3, SITES = 5, WAITS = 7 };

/* Part number `i` of a path, on ranks and in phases that change; some are much longer than the others. */
static struct pf_chain_part part(int i, int64_t *end)
{
    struct pf_chain_part one = {.rank = i % RANKS, .phase = i % PHASES, .site = i % SITES, .call = 1};
    one.message = (struct pf_chain_message){.from = i % 4,
                                            .to = i % 4 + 1,
                                            .link = i % WAITS,
                                            .routes = PF_CHAIN_BY_PLATFORM,
                                            .protocol = PF_CHAIN_EAGER,
                                            .size = (uint8_t)(i % 2)};
    one.spent[i % PF_CHAIN_CLASSES] = i % 9973 == 5 ? 1000000 + i : 1 + i % 11;
    one.spent[PF_CHAIN_COMPUTATION] += 3;
    one.spent[PF_CHAIN_LATENCY] *= 10001; /* a unit is a small part of it */
    for (int what = 0; what < PF_CHAIN_CLASSES; what++)
        *end += one.spent[what];
    one.end = *end;
    return one;
}

static struct pf_chain_node *grow(struct pf_chain_node *node, int first, int count, int64_t *end)
{
    for (int i = first; i < first + count; i++) {
        struct pf_chain_part one = part(i, end);
        node = pf_chain_node_new(node, &one);
    }
    return node;
}

static void report_of(struct pf_chain_node *node, struct pf_chain_report *report)
{
    memset(report, 0, sizeof *report);
    pf_chain_node_report(node, RANKS, report);
}

static void forget(struct pf_chain_report *report)
{
    free(report->of_rank);
    free(report->phase);
    free(report->site);
    free(report->link);
    free(report->message);
}

/* The links of a message: one has a quarter of its latency, the other three quarters and the transfer. */
static int cross(const struct pf_chain_message *message, const struct pf_chain_link **links, int *transfer)
{
    static const struct pf_chain_link both[] = {{PF_CHAIN_LINK_PLATFORM, 5, 1e-6},
                                                {PF_CHAIN_LINK_PLATFORM, 3, 3e-6}};
    assert_int_equal(message->to, message->from + 1);
    *links = both;
    *transfer = 1;
    return 2;
}

/* They sum up to the path exactly, and each is what it is by hand. */
static void assert_shares(const struct pf_chain_report *path)
{
    double latency = path->sum[PF_CHAIN_LATENCY], transfer = path->sum[PF_CHAIN_TRANSFER];
    double of_messages = 0, of_ranks = path->sum[PF_CHAIN_COMPUTATION] + path->sum[PF_CHAIN_SOFTWARE] +
                                       path->sum[PF_CHAIN_FILES];
    assert_int_equal(path->links, 2);
    assert_int_equal(path->link[0].number, 3);
    assert_true(path->link[0].transfer == transfer && path->link[1].transfer == 0);
    assert_true(path->link[0].latency + path->link[1].latency == latency);
    assert_true(fabs(path->link[1].latency / latency - 0.25) < 1e-3);
    assert_int_equal(path->messages, 1 + 2); /* ranks' own, and two sizes */
    for (int i = 1; i < path->messages; i++)
        for (int what = 0; what < PF_CHAIN_CLASSES; what++)
            of_messages += path->message[i].spent[what];
    assert_true(path->message[0].spent[PF_CHAIN_COMPUTATION] == path->sum[PF_CHAIN_COMPUTATION]);
    for (int what = 0; what < PF_CHAIN_CLASSES; what++)
        of_ranks -= path->sum[what];
    assert_true(of_messages == -of_ranks);
}

static void assert_same(const struct pf_chain_report *a, const struct pf_chain_report *b)
{
    double pieces = 0, sum = 0;
    assert_int_equal(a->hops, b->hops);
    assert_int_equal(a->phases, b->phases);
    assert_memory_equal(a->sum, b->sum, sizeof a->sum);
    assert_memory_equal(a->of_rank, b->of_rank, RANKS * sizeof *a->of_rank);
    assert_memory_equal(a->phase, b->phase, PHASES * sizeof *a->phase);
    assert_memory_equal(a->site, b->site, SITES * sizeof *a->site);
    /* To the last unit, whenever they were added up: else runs would differ in it. */
    assert_int_equal(a->links, b->links);
    assert_memory_equal(a->link, b->link, (size_t)a->links * sizeof *a->link);
    assert_int_equal(a->messages, b->messages);
    assert_memory_equal(a->message, b->message, (size_t)a->messages * sizeof *a->message);
    assert_int_equal(b->longest_count, PF_CHAIN_LONGEST);
    for (int i = 0; i < PF_CHAIN_LONGEST; i++) {
        assert_true(a->longest[i].begin == b->longest[i].begin && a->longest[i].spent == b->longest[i].spent);
        assert_int_equal(a->longest[i].rank, b->longest[i].rank);
        assert_int_equal(a->longest[i].what, b->longest[i].what);
    }
    for (int what = 0; what < PF_CHAIN_CLASSES; what++) {
        sum += b->sum[what];
        for (int i = 0; i < b->pieces; i++)
            pieces += b->piece[i].spent[what];
    }
    assert_true(pieces == sum); /* numbers of units, which are exact */
    assert_shares(b);
}

static void test_sums_stay(void **state)
{
    (void)state;
    int64_t trunk = 0, end[2];
    pf_chain_node_cross = cross;
    struct pf_chain_node *stem = grow(NULL, 0, STEM, &trunk), *tip[2];
    struct pf_chain_report before[2], after;
    end[0] = end[1] = trunk;
    tip[0] = grow(pf_chain_node_keep(stem), STEM, BRANCH, &end[0]);
    tip[1] = grow(stem, 7, BRANCH, &end[1]);
    assert_true(pf_chain_nodes_are_many());
    for (int i = 0; i < 2; i++) {
        report_of(tip[i], &before[i]);
        assert_int_equal(before[i].hops, STEM + BRANCH - 1);
    }
    for (int i = 0; i < 2; i++)
        pf_chain_nodes_add_up(tip[i]);
    pf_chain_nodes_added_up();
    assert_false(pf_chain_nodes_are_many());
    for (int i = 0; i < 2; i++) {
        report_of(tip[i], &after);
        assert_same(&before[i], &after);
        forget(&before[i]);
        forget(&after);
    }
    /* What follows is added to the sums as well. */
    tip[0] = grow(tip[0], 3, BRANCH, &end[0]);
    report_of(tip[0], &before[0]);
    pf_chain_nodes_add_up(tip[0]);
    report_of(tip[0], &after);
    assert_same(&before[0], &after);
    forget(&before[0]);
    forget(&after);
    pf_chain_node_drop(tip[0]);
    pf_chain_node_drop(tip[1]);
}

/* A place whose number has no room in the keys of the sums is none, and changes no phase. */
static void test_many_sites(void **state)
{
    (void)state;
    struct pf_chain_part one = {.phase = 1, .site = (1 << 22) + 3, .call = 1, .end = 5};
    one.spent[PF_CHAIN_COMPUTATION] = 5;
    struct pf_chain_node *node = pf_chain_node_new(NULL, &one);
    struct pf_chain_report report;
    report_of(node, &report);
    assert_int_equal(report.phases, 2);
    assert_int_equal(report.sites, 1);
    assert_true(report.site[0][PF_CHAIN_COMPUTATION] > 0);
    forget(&report);
    pf_chain_node_drop(node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums_stay), cmocka_unit_test(test_many_sites)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
