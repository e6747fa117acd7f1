/* SPDX-License-Identifier: BSD-3-Clause */
/* Hop counts against breadth-first search on the graph itself, for every pair of many shapes; mean hops
 * against exact values; descriptions that must be refused. */
#include "adapters/analytic/cost/topology.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A directed graph whose first `leaves` vertices are the topology's positions. */
enum { MAX_VERTICES = 3000, MAX_DEGREE = 64 };
static int degree[MAX_VERTICES], edge[MAX_VERTICES][MAX_DEGREE], vertices;

static void start_graph(int count)
{
    assert_true(count <= MAX_VERTICES);
    vertices = count;
    memset(degree, 0, sizeof degree);
}

static void add_arc(int from, int to)
{
    assert_true(degree[from] < MAX_DEGREE && to < vertices);
    edge[from][degree[from]++] = to;
}

static void add_edge(int a, int b)
{
    add_arc(a, b);
    add_arc(b, a);
}

static void search(int from, int *distance)
{
    static int queue[MAX_VERTICES];
    int head = 0, tail = 0;
    for (int i = 0; i < vertices; i++)
        distance[i] = -1;
    distance[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        int at = queue[head++];
        for (int i = 0; i < degree[at]; i++) {
            if (distance[edge[at][i]] >= 0)
                continue;
            distance[edge[at][i]] = distance[at] + 1;
            queue[tail++] = edge[at][i];
        }
    }
}

/* Returns the mean over all pairs, self included. */
static double check(const char *text, int nodes)
{
    static int distance[MAX_VERTICES];
    struct pf_cost_topology t, again;
    char described[200];
    double sum = 0;
    const char *wrong = pf_cost_topology_parse(&t, text, nodes);
    if (wrong)
        fail_msg("%s: %s", text, wrong);
    pf_cost_topology_describe(&t, described, sizeof described);
    wrong = pf_cost_topology_parse(&again, described, nodes);
    if (wrong)
        fail_msg("%s: described as '%s': %s", text, described, wrong);
    for (int src = 0; src < nodes; src++) {
        search(src, distance);
        for (int dst = 0; dst < nodes; dst++) {
            int hops = pf_cost_topology_hops(&t, src, dst);
            if (hops != distance[dst] || hops != pf_cost_topology_hops(&again, src, dst))
                fail_msg("%s: %d to %d: %d hops, search says %d, '%s' %d", text, src, dst, hops,
                         distance[dst], described, pf_cost_topology_hops(&again, src, dst));
            sum += hops;
        }
    }
    pf_cost_topology_clear(&t);
    pf_cost_topology_clear(&again);
    return sum / nodes / nodes;
}

static void test_star(void **state)
{
    (void)state;
    start_graph(18);
    for (int i = 0; i < 17; i++)
        add_edge(i, 17);
    check("star", 17);
}

static void test_ring(void **state)
{
    (void)state;
    for (int n = 1; n <= 17; n += 4) {
        start_graph(n);
        for (int i = 0; i < n; i++)
            add_arc(i, (i + 1) % n);
        check("ring", n);
        check("ring oneway", n);
        start_graph(n);
        for (int i = 0; i < n; i++)
            add_edge(i, (i + 1) % n);
        check("ring both", n);
    }
    start_graph(1024);
    for (int i = 0; i < 1024; i++)
        add_arc(i, (i + 1) % 1024);
    assert_true(check("ring", 1024) == 511.5);
}

struct grid {
    int dimensions, k[4], wraps[4], jump[4], twist;
    const char *text;
    double mean; /* 0: not known beforehand */
};

/* Independent of the code under test: the first dimension varies slowest, coordinates are kept, not divided.
 */
static void build_grid(const struct grid *g)
{
    int n = 1, stride[4], x[4] = {0};
    for (int i = g->dimensions - 1; i >= 0; i--) {
        stride[i] = n;
        n *= g->k[i];
    }
    start_graph(n);
    for (int at = 0; at < n; at++) {
        for (int i = 0; i < g->dimensions; i++) {
            int other = (i + g->twist) % g->dimensions, to = at + stride[i];
            if (x[i] + 1 == g->k[i]) {
                if (!g->wraps[i])
                    continue;
                to = at - x[i] * stride[i];
                if (other != i)
                    to += ((x[other] + g->jump[i]) % g->k[other] - x[other]) * stride[other];
            }
            add_edge(at, to);
        }
        for (int i = g->dimensions - 1; i >= 0 && ++x[i] == g->k[i]; i--)
            x[i] = 0;
    }
}

static void test_grids(void **state)
{
    static const struct grid grids[] = {
        {2, {8, 16}, {0}, {0}, 0, "mesh 8x16", 7.9375},
        {2, {16, 16}, {0}, {0}, 0, "mesh 16x16", 10.6250},
        {3, {4, 4, 8}, {0}, {0}, 0, "mesh 4x4x8", 5.1250},
        {3, {8, 8, 8}, {0}, {0}, 0, "mesh 8x8x8", 7.8750},
        {2, {8, 16}, {1, 1}, {0}, 0, "torus 8x16", 6},
        {2, {16, 16}, {1, 1}, {0}, 0, "torus 16x16", 8},
        {3, {4, 4, 8}, {1, 1, 1}, {0}, 0, "torus 4x4x8", 4},
        {3, {8, 8, 8}, {1, 1, 1}, {0}, 0, "torus 8x8x8", 6},
        {2, {8, 16}, {1, 1}, {1, 1}, 1, "twisted 8x16", 5.8879},
        {2, {16, 16}, {1, 1}, {1, 1}, 1, "twisted 16x16", 7.9200},
        {3, {4, 4, 8}, {1, 1, 1}, {1, 1, 1}, 1, "twisted 4x4x8", 3.6431},
        {3, {8, 8, 8}, {1, 1, 1}, {1, 1, 1}, 1, "twisted 8x8x8 degree 1 jump 1,1,1 wrap 1,1,1", 5.7252},
        {1, {7}, {0}, {0}, 0, "mesh 7", 0},
        {1, {7}, {1}, {0}, 0, "torus 7", 0},
        {1, {7}, {1}, {0}, 0, "twisted 7", 0},
        {3, {2, 1, 3}, {1, 1, 1}, {0}, 0, "torus 2x1x3", 0},
        {3, {3, 4, 5}, {1, 0, 1}, {0}, 0, "torus 3x4x5 wrap 1,0,1", 0},
        {3, {3, 4, 5}, {0, 0, 0}, {0}, 0, "torus 3x4x5 wrap 0,0,0", 0},
        {4, {3, 4, 2, 5}, {0, 1, 1, 0}, {0}, 0, "torus 3x4x2x5 wrap 0,1,1,0", 0},
        {3, {3, 3, 2}, {1, 1, 1}, {1, 1, 1}, 2, "twisted 3x3x2 degree 2", 0},
        {3, {3, 4, 5}, {1, 0, 1}, {2, 3, 0}, 1, "twisted 3x4x5 jump 2,3,0 wrap 1,0,1", 0},
        {2, {16, 16}, {1, 1}, {8, 8}, 1, "twisted 16x16 jump 8,8", 0},
        {2, {5, 9}, {1, 1}, {0, 0}, 0, "twisted 5x9 degree 0", 0},
        {4, {3, 4, 2, 5}, {1, 1, 1, 1}, {3, 1, 4, 2}, 1, "twisted 3x4x2x5 jump 3,1,4,2", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
        build_grid(&grids[i]);
        double mean = check(grids[i].text, vertices);
        if (grids[i].mean > 0 && fabs(mean - grids[i].mean) > 5e-5)
            fail_msg("%s: mean %.6f, not %.4f", grids[i].text, mean, grids[i].mean);
    }
}

/* Leaves first, then the switches level by level. */
static void build_tree(int leaves, const int *children, int levels)
{
    int total = leaves, count = leaves, first = 0;
    for (int level = 0; level < levels; level++)
        total += count = (count + children[level] - 1) / children[level];
    start_graph(total);
    count = leaves;
    for (int level = 0; level < levels; level++) {
        for (int i = 0; i < count; i++)
            add_edge(first + i, first + count + i / children[level]);
        first += count;
        count = (count + children[level] - 1) / children[level];
    }
}

static double check_tree(const char *text, int leaves, int degree_of_tree)
{
    int children[20], levels = 0;
    for (long reach = 1; reach < leaves; reach *= degree_of_tree)
        children[levels++] = degree_of_tree;
    build_tree(leaves, children, levels);
    return check(text, leaves);
}

static void test_tree(void **state)
{
    static const int pods[] = {4, 3, 5};
    (void)state;
    check_tree("tree 2", 37, 2);
    check_tree("tree 5", 60, 5);
    check_tree("tree 8", 3, 8);
    assert_true(fabs(check_tree("tree 2", 1024, 2) - 18.0020) < 5e-5);
    build_tree(60, pods, 3);
    check("fattree 4x3x5", 60);
}

/* The closed forms of all pairs, because the graph of 2,048 leaves and its switches takes long to search. */
static double mean_hops(const char *text, int nodes)
{
    struct pf_cost_topology t;
    double sum = 0;
    assert_null(pf_cost_topology_parse(&t, text, nodes));
    for (int src = 0; src < nodes; src++)
        for (int dst = 0; dst < nodes; dst++)
            sum += pf_cost_topology_hops(&t, src, dst);
    return sum / nodes / nodes;
}

static void test_tree_means(void **state)
{
    (void)state;
    assert_true(fabs(mean_hops("tree 2", 2048) - 20.0010) < 5e-5);
    assert_true(fabs(mean_hops("tree 4", 2048) - 10.6670) < 5e-5);
}

/* All routers of a group and all pairs of groups are connected; the links of a group to the others, in their
 * order, are dealt to its routers in equal shares. */
static void check_dragonfly(const char *text, int groups, int routers, int nodes)
{
    int leaves = groups * routers * nodes, share = (groups - 2 + routers) / routers;
    start_graph(leaves + groups * routers);
    for (int i = 0; i < leaves; i++)
        add_edge(i, leaves + i / nodes);
    for (int group = 0; group < groups; group++)
        for (int a = 0; a < routers; a++)
            for (int b = a + 1; b < routers; b++)
                add_edge(leaves + group * routers + a, leaves + group * routers + b);
    for (int a = 0; a < groups; a++)
        for (int b = a + 1; b < groups; b++)
            add_edge(leaves + a * routers + (b - 1) / share, leaves + b * routers + a / share);
    check(text, leaves);
}

static void test_dragonfly(void **state)
{
    (void)state;
    check_dragonfly("dragonfly 9x4x2", 9, 4, 2);
    check_dragonfly("dragonfly 17x4x1", 17, 4, 1);
    check_dragonfly("dragonfly 6x4x3", 6, 4, 3);
    check_dragonfly("dragonfly 12x3x1", 12, 3, 1);
    check_dragonfly("dragonfly 2x5x2", 2, 5, 2);
    check_dragonfly("dragonfly 1x3x2", 1, 3, 2);
    check_dragonfly("dragonfly 7x1x2", 7, 1, 2);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "no topology is named"},
        {"stern", "unknown topology 'stern', maybe star?"},
        {"torus", "needs its extents"},
        {"torus 4y4", "up to 8 whole numbers"},
        {"torus 4x0", "up to 8 whole numbers"},
        {"torus 4x-4", "up to 8 whole numbers"},
        {"torus 2x2x2x2x2x2x2x2x2", "up to 8 whole numbers"},
        {"torus 4x3", "12 positions, 16 are needed"},
        {"torus 100000x100000", "too large"},
        {"torus 4x4 wrap 1", "one 0 or 1 per dimension"},
        {"torus 4x4 wrap 1,2", "only 0 and 1"},
        {"torus 4x4 wrap", "wrap needs a value"},
        {"torus 4x4 jump 1,1", "no option 'jump'"},
        {"mesh 4x4 wrap 1,1", "no option 'wrap'"},
        {"twisted 4x4 degree 2", "only 2 dimensions"},
        {"twisted 4x4 jump 4,1", "jump 4 of dimension 0"},
        {"twisted 128x128", "at most 4096"},
        {"ring sideways", "'oneway' or 'both'"},
        {"star 4", "'4' is left over"},
        {"tree", "needs its degree"},
        {"tree 1", "needs its degree"},
        {"fattree 4x2", "8 positions, 16 are needed"},
        {"dragonfly 16", "groups x routers x nodes"},
        {"dragonfly 2x2x2", "8 positions"},
    };
    struct pf_cost_topology t;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *wrong = pf_cost_topology_parse(&t, cases[i].text, 16);
        if (!wrong || !strstr(wrong, cases[i].reason))
            fail_msg("'%s': %s", cases[i].text, wrong ? wrong : "accepted");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_star),    cmocka_unit_test(test_ring),       cmocka_unit_test(test_grids),
        cmocka_unit_test(test_tree),    cmocka_unit_test(test_tree_means), cmocka_unit_test(test_dragonfly),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
