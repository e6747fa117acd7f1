/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns: destinations of each node, and descriptions that must be refused. */
#include "lowlevel/network/packet/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lowlevel/topology/topology.h"

static struct pf_fabric *fabric(const char *text)
{
    char error[300];
    struct pf_fabric_speeds links;
    pf_fabric_equal_links(&links, 1e9, 0, 0);
    struct pf_fabric *f = pf_fabric_make(text, &links, error, sizeof error);
    if (!f)
        fail_msg("%s", error);
    return f;
}

static struct pf_pattern *pattern(const char *text, const struct pf_fabric *f)
{
    char error[300];
    struct pf_pattern *p = pf_pattern_make(text, f, 3, error, sizeof error);
    if (!p)
        fail_msg("%s", error);
    return p;
}

/* How often each node is chosen by `source` in 1000 draws. */
static int *draw(const struct pf_pattern *p, const struct pf_fabric *f, int32_t source)
{
    int *count = calloc((size_t)f->nodes + 1, sizeof *count);
    for (uint64_t i = 0; i < 1000; i++) {
        int32_t to = pf_pattern_destination(p, source, pf_topology_hash(i));
        assert_in_range(to + 1, 0, f->nodes);
        count[to < 0 ? f->nodes : to]++;
    }
    return count;
}

/* One destination for each node, each of them once. */
static void check_map(const char *topology, const char *text, int32_t from, int32_t to)
{
    struct pf_fabric *f = fabric(topology);
    struct pf_pattern *p = pattern(text, f);
    bool *taken = calloc((size_t)f->nodes, sizeof *taken);
    for (int32_t i = 0; i < f->nodes; i++) {
        int32_t d = pf_pattern_destination(p, i, pf_topology_hash((uint64_t)i));
        assert_in_range(d, 0, f->nodes - 1);
        assert_int_equal(d, pf_pattern_destination(p, i, 77));
        assert_false(taken[d]);
        taken[d] = true;
    }
    if (from >= 0)
        assert_int_equal(pf_pattern_destination(p, from, 0), to);
    free(taken);
    pf_pattern_free(p);
    pf_fabric_free(f);
}

static void test_maps(void **state)
{
    (void)state;
    check_map("star:7", "permutation", -1, 0);
    check_map("star:16", "complement", 5, 10);
    check_map("star:16", "reverse", 1, 8);
    check_map("star:16", "shuffle", 9, 3);
    check_map("star:16", "transpose", 6, 9);
    check_map("torus:8x8", "tornado", 0, 3 + 3 * 8);
    check_map("ring:7", "tornado", 6, 2); /* (k - 1) / 2 = 3 further */
    check_map("torus:5x4,2", "tornado", 1, 1 + 2 * 2 + 2 * 5 * 1);
    check_map("mesh:4x4", "neighbour", 15, 0);
    check_map("star:9", "neighbour", 8, 0);
    check_map("star:9", "tornado", 0, 4);
    check_map("dragonfly:1,2,1", "neighbour", 1, 3);
}

static void test_draws(void **state)
{
    (void)state;
    struct pf_fabric *f = fabric("dragonfly:2,4,2");
    struct pf_pattern *p = pattern("uniform", f);
    int *count = draw(p, f, 5);
    assert_int_equal(count[5], 0);
    for (int32_t i = 0; i < f->nodes; i++)
        assert_in_range(count[i], i == 5 ? 0 : 2, 40);
    free(count);
    pf_pattern_free(p);
    p = pattern("uniform:self", f);
    count = draw(p, f, 5);
    assert_true(count[5] > 0);
    free(count);
    pf_pattern_free(p);
    /* Groups have eight nodes. */
    p = pattern("adversarial:2", f);
    count = draw(p, f, 70);
    for (int32_t i = 0; i <= f->nodes; i++)
        assert_int_equal(count[i] > 0, i / 8 == 1);
    free(count);
    pf_pattern_free(p);
    p = pattern("hotspot:3,60:0.5", f);
    count = draw(p, f, 0);
    assert_in_range(count[3] + count[60], 420, 600);
    assert_in_range(count[3], 170, 330);
    free(count);
    pf_pattern_free(p);
    p = pattern("hotspot:3", f);
    assert_int_equal(pf_pattern_destination(p, 3, 9), -1);
    assert_int_equal(pf_pattern_destination(p, 4, 9), 3);
    pf_pattern_free(p);
    pf_fabric_free(f);
}

static void test_file(void **state)
{
    char name[] = "/tmp/pfnet-XXXXXX", text[100];
    int file = mkstemp(name);
    (void)state;
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    fputs("# who sends\n0 1\n\n2 0 1\n2 1 3 # three times as much\n", out);
    fclose(out);
    struct pf_fabric *f = fabric("star:4");
    snprintf(text, sizeof text, "file:%s", name);
    struct pf_pattern *p = pattern(text, f);
    assert_int_equal(pf_pattern_destination(p, 0, 5), 1);
    assert_int_equal(pf_pattern_destination(p, 1, 5), -1);
    assert_int_equal(pf_pattern_destination(p, 3, 5), -1);
    int *count = draw(p, f, 2);
    assert_in_range(count[1], 700, 800);
    assert_int_equal(count[0] + count[1], 1000);
    free(count);
    pf_pattern_free(p);
    pf_fabric_free(f);
    unlink(name);
}

static void test_refused(void **state)
{
    static const char *const texts[] = {"",
                                        "random",
                                        "uniform:3",
                                        "permutation:2",
                                        "complement",
                                        "transpose",
                                        "tornado:1",
                                        "adversarial:",
                                        "adversarial:0",
                                        "adversarial:9",
                                        "adversarial:x",
                                        "hotspot:",
                                        "hotspot:72",
                                        "hotspot:1,",
                                        "hotspot:1:0",
                                        "hotspot:1:2",
                                        "hotspot:1:0.5x",
                                        "file",
                                        "file:/nonexistent"};
    (void)state;
    struct pf_fabric *f = fabric("dragonfly:2,4,2");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char error[300] = "";
        if (pf_pattern_make(texts[i], f, 1, error, sizeof error))
            fail_msg("'%s' was not refused", texts[i]);
        assert_true(strlen(error) > 10);
    }
    pf_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_maps), cmocka_unit_test(test_draws),
                                       cmocka_unit_test(test_file), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests_name("pfnet pattern", tests, NULL, NULL);
}
