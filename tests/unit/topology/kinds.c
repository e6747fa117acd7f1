/* SPDX-License-Identifier: BSD-3-Clause */
/* Each kind of topology, and one that the test adds: no empty slot, as many hosts as are asked for, routes
 * as long as hops; and mean hops against exact values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/config.h"
#include "lowlevel/topology/topology.h"

static struct pf_fabric *make(const char *text)
{
    char error[300];
    struct pf_fabric_speeds links;
    pf_fabric_equal_links(&links, 1e9, 1e-6, 0);
    struct pf_fabric *f = pf_fabric_make(text, &links, error, sizeof error);
    if (!f)
        fail_msg("%s", error);
    return f;
}

static void check_full(const char *name, const void *table, size_t size)
{
    const void *const *slots = table;
    for (size_t i = 0; i < size / sizeof *slots; i++)
        if (!slots[i])
            fail_msg("%s: slot %zu is empty", name, i);
}

struct walk {
    int64_t links;
    int count, link[100];
};

static void take(void *context, int32_t port)
{
    struct walk *walk = context;
    assert_true(port < walk->links && walk->count < 100);
    for (int i = 0; i < walk->count; i++)
        assert_true(walk->link[i] != port);
    walk->link[walk->count++] = port;
}

static void check_routes(const struct pf_fabric *f)
{
    for (int32_t a = 0; a < f->nodes; a++)
        for (int32_t b = 0; b < f->nodes; b++) {
            struct walk walk = {.links = pf_fabric_links(f)};
            pf_fabric_route(f, 1, a, b, take, &walk);
            if (walk.count != pf_fabric_hops(f, a, b))
                fail_msg("%s: %d links from %d to %d, and %d hops", f->text, walk.count, a, b,
                         pf_fabric_hops(f, a, b));
        }
}

static void test_every_kind(void **state)
{
    const char *name, *numbers, *help;
    bool added = false;
    (void)state;
    for (int i = 0; pf_fabric_help(i, &name, &numbers, &help); i++) {
        added |= strcmp(name, "cube") == 0;
        assert_true(pf_fabric_is_kind(name));
        for (int hosts = 1; hosts < 80; hosts = 2 * hosts + 1) {
            char text[160], error[300] = "";
            if (!pf_fabric_describe(name, hosts, text, sizeof text, error, sizeof error))
                fail_msg("%s: %s", name, error);
            struct pf_fabric *f = make(text);
            assert_string_equal(f->text, text);
            assert_true(f->nodes >= hosts && f->nodes < 2 * hosts + 64);
            assert_int_equal(f->kind->size, sizeof *f->kind);
            assert_int_equal(f->topology->size, sizeof *f->topology);
            check_full(name, f->kind, sizeof *f->kind);
            check_full(name, f->topology, sizeof *f->topology);
            assert_int_equal(pf_fabric_links(f), f->first_port[f->routers + f->nodes]);
            check_routes(f);
            pf_fabric_free(f);
        }
    }
    assert_true(added);
}

static void test_leaf_of_a_machine(void **state)
{
    static const struct {
        int leaf, hosts;
        const char *text;
    } cases[] = {{0, 32, "fattree:6x6"},     {16, 32, "fattree:16x2"},     {16, 9, "fattree:9x1"},
                 {16, 500, "fattree:16x32"}, {16, 600, "fattree:16x16x3"}, {0, 1153, "fattree:24x24x3"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[160], error[300] = "";
        pf_config.platform_leaf = cases[i].leaf;
        assert_true(pf_fabric_describe("fattree", cases[i].hosts, text, sizeof text, error, sizeof error));
        assert_string_equal(text, cases[i].text);
    }
    pf_config.platform_leaf = 0;
}

/* Shapes that no number of hosts gives. */
static void test_routes(void **state)
{
    static const char *const shapes[] = {"ring:7,oneway",
                                         "ring:5,2",
                                         "torus:4x3x2,wrap=1x0x1",
                                         "twisted:6x4",
                                         "twisted:5x4x3,jump=2x2x3,wrap=1x0x1",
                                         "tree:3,3",
                                         "fattree:4x2x3",
                                         "fattree:2;4,4;1,2;1,2",
                                         "dragonfly:2,3,1,4",
                                         "dragonfly:1,4,2,9",
                                         "cascade:1,2x3,1,4,numbered=2",
                                         "dragonflyplus:2,3,2,1",
                                         "dragonflyplus:2,2,3,4,2,width=2",
                                         "cube:4,2"};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct pf_fabric *f = make(shapes[i]);
        check_routes(f);
        pf_fabric_free(f);
    }
}

/* Three groups of two leaves and two spines, numbered 0 to 5 and 6 to 11: by hand. */
static void test_dragonflyplus(void **state)
{
    static const struct {
        int32_t from, to;
        int count;
        int32_t router[4]; /* that the route enters */
    } routes[] = {{0, 1, 2, {0}},
                  {0, 2, 4, {0, 6, 1}},
                  {0, 3, 4, {0, 7, 1}},
                  {0, 4, 5, {0, 6, 8, 2}},
                  {0, 5, 5, {0, 7, 9, 2}},
                  {3, 10, 5, {1, 6, 10, 5}},
                  {11, 0, 5, {5, 10, 6, 0}},
                  {8, 6, 5, {4, 10, 8, 3}}};
    (void)state;
    struct pf_fabric *f = make("dragonflyplus:2,2,2,2,3,width=4");
    assert_int_equal(f->nodes, 12);
    assert_int_equal(f->routers, 12);
    int64_t plugged = 0;
    double rates = 0;
    for (int32_t port = 0; port < f->first_port[f->routers + f->nodes]; port++) {
        plugged += f->ports[port].peer >= 0;
        rates += f->ports[port].rate;
    }
    assert_int_equal(plugged, 2 * (12 + 3 * 2 * 2 + 3 * 2));
    assert_true(rates == 2 * (12 + 4 * (3 * 2 * 2 + 3 * 2)) * 1e9);
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        struct walk walk = {.links = pf_fabric_links(f)};
        pf_fabric_route(f, 1, routes[i].from, routes[i].to, take, &walk);
        assert_int_equal(walk.count, routes[i].count);
        for (int k = 0; k < walk.count - 1; k++)
            assert_int_equal(f->ports[walk.link[k]].peer, routes[i].router[k]);
        assert_int_equal(f->ports[walk.link[walk.count - 1]].peer, f->routers + routes[i].to);
    }
    pf_fabric_free(f);
}

/* All pairs, that of a node with itself included; grids and trees as in the literature of xSim's model. */
static void test_means(void **state)
{
    static const struct {
        const char *text;
        double mean;
    } cases[] = {
        {"ring:1024,oneway", 511.5}, {"mesh:16x8", 7.9375},     {"mesh:16x16", 10.6250},
        {"mesh:8x4x4", 5.1250},      {"mesh:8x8x8", 7.8750},    {"torus:16x8", 6},
        {"torus:16x16", 8},          {"torus:8x4x4", 4},        {"torus:8x8x8", 6},
        {"twisted:16x8", 5.8879},    {"twisted:16x16", 7.9200}, {"twisted:8x4x4,degree=2", 3.6431},
        {"twisted:8x8x8", 5.7252},   {"tree:2,10", 18.0020},    {"tree:2,11", 20.0010},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pf_fabric *f = make(cases[i].text);
        double sum = 0;
        for (int32_t a = 0; a < f->nodes; a++)
            for (int32_t b = 0; b < f->nodes; b++)
                sum += pf_fabric_hops(f, a, b);
        if (fabs(sum / f->nodes / f->nodes - cases[i].mean) > 5e-5)
            fail_msg("%s: mean %.6f, not %.4f", f->text, sum / f->nodes / f->nodes, cases[i].mean);
        pf_fabric_free(f);
    }
}

static void test_grammar(void **state)
{
    static const struct {
        const char *text;
        int hosts;
        const char *result; /* or a part of the error */
    } cases[] = {
        {"torus", 27, "torus:3x3x3"},
        {"torus:20", 3, "torus:3x3x3"},
        {"torus:4x4", 99, "torus:4x4"},
        {"star", 0, "the number of hosts must be from 1"},
        {"fattree:27649", 1, "at most 27648 (star and torus have more)"},
        {"taurus:4x4", 1, "maybe torus?"},
        {"torus 4x4", 1, "is no topology"},
        {"star:99999999999999999999", 1, "are too many"},
        {"star:4-2", 1, "the number of hosts must be from 1"},
        {"torus:", 1, "the number of hosts must be from 1"},
        {"twisted:8x8,jump="
         "1x1111111111111111111111111111111111111111111111111111111111111111111111111111111111"
         "11111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111",
         1, "too long"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[160], error[300];
        bool good = pf_fabric_describe(cases[i].text, cases[i].hosts, text, sizeof text, error, sizeof error);
        if (!strstr(good ? text : error, cases[i].result))
            fail_msg("%s: %s", cases[i].text, good ? text : error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind), cmocka_unit_test(test_leaf_of_a_machine),
        cmocka_unit_test(test_routes),     cmocka_unit_test(test_means),
        cmocka_unit_test(test_grammar),    cmocka_unit_test(test_dragonflyplus),
    };
    return cmocka_run_group_tests_name("kinds of topologies", tests, NULL, NULL);
}
