/* SPDX-License-Identifier: BSD-3-Clause */
/* Every pair of nodes of many shapes: hops against a search of the graph, minimal ways, choices, the shapes'
 * sizes, diameters and bisections against the literature's formulas, and descriptions that must be refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lowlevel/topology/topology.h"
#include "tests/unit/packet/walk.h"

struct shape {
    const char *text;
    int nodes, routers, diameter; /* between routers with nodes */
    int32_t group;                /* dragonfly: routers of a group */
    long bisection; /* directions of links from the first half of the nodes' routers to the other;
                       0: not looked at */
};

static const struct shape shapes[] = {
    {"star:1", 1, 1, 0, 0, 0},
    {"star:17", 17, 1, 0, 0, 0},
    /* k-ary n-cubes: diameter n floor(k/2), bisection 2 k^(n-1) (mesh: n (k-1), k^(n-1)); Dally and Towles,
     * "Principles and practices of interconnection networks", 2004, 5.2 */
    {"ring:1", 1, 1, 0, 0, 0},
    {"ring:2", 2, 2, 1, 0, 2},
    {"ring:3", 3, 3, 1, 0, 0},
    {"ring:7", 7, 7, 3, 0, 0},
    {"ring:8", 8, 8, 4, 0, 2},
    {"torus:8x8", 64, 64, 8, 0, 16},
    {"torus:4x4x4,2", 128, 64, 6, 0, 32},
    {"torus:2x3x4x5", 120, 120, 6, 0, 0},
    {"torus:5x1x3", 15, 15, 3, 0, 0},
    {"mesh:7x1", 7, 7, 6, 0, 0},
    {"mesh:8x8", 64, 64, 14, 0, 8},
    {"mesh:3x4x5,3", 180, 60, 9, 0, 0},
    {"torus:4x3x5,wrap=1x0x1", 60, 60, 6, 0, 0},
    {"ring:9,2", 18, 9, 4, 0, 0},
    {"torus:9", 12, 12, 3, 0, 0}, /* so many hosts or a few more: 3x2x2 */
    /* diameters as those of the search */
    {"twisted:4x4", 16, 16, 3, 0, 0},
    {"twisted:8x4,2,jump=2x4", 64, 32, 5, 0, 0},
    {"twisted:3x3x2,degree=2", 18, 18, 3, 0, 0},
    {"twisted:5x4x3,jump=2x2x3,wrap=1x0x1", 60, 60, 5, 0, 0},
    {"tree:2,4", 16, 15, 6, 0, 0},
    {"twolevels:4,3,2", 12, 5, 2, 0, 0},
    {"fattree:3x4x5", 60, 20 + 15 + 12, 4, 0, 0},
    {"cascade:1,2x3,2", 78, 78, 5, 6, 0},
    /* k-ary n-trees: k^n nodes, n k^(n-1) switches, 2 (n-1) hops between leaves; Petrini and Vanneschi, 1997
     */
    {"fattree:2,1", 2, 1, 0, 0, 0},
    {"fattree:4,2", 16, 8, 2, 0, 0},
    {"fattree:4,3", 64, 48, 4, 0, 0},
    {"fattree:2,5", 32, 80, 8, 0, 0},
    {"fattree:4,3,2", 64, 28, 4, 0, 0},
    {"fattree:2;4,6;1,3;1,2", 24, 9, 2, 0, 0},
    {"fattree:3;3,4,5;1,2,3;1,2,1", 60, 5 * 4 + 5 * 2 + 6, 4, 0, 0},
    /* HyperX: as many hops as dimensions; half of S: S^2 / 4 links in each of the rows that are cut; Ahn et
       al. */
    {"hyperx:1,3", 3, 1, 0, 0, 0},
    {"hyperx:8,8", 64, 8, 1, 0, 16},
    {"hyperx:4x4,4", 64, 16, 2, 0, 16},
    {"hyperx:3x4x6,1", 72, 72, 3, 0, 108},
    /* Dragonfly: a h + 1 groups, 3 hops; half of g groups: g^2 / 4 links between groups; Kim et al. */
    {"dragonfly:1,2,1", 6, 6, 3, 2, 0},
    {"dragonfly:2,4,2", 72, 36, 3, 4, 0},
    {"dragonfly:2,4,2,6", 48, 24, 3, 4, 9},
    {"dragonfly:2,4,2,3", 24, 12, 2, 4, 0}, /* each router has a link to each other group */
    {"dragonfly:2,4,2,1", 8, 4, 1, 4, 4},
    {"dragonfly:1,2x3,2", 78, 78, 5, 6, 0},
    {"dragonfly:2,2x3,2,4", 48, 24, 4, 6, 16}, /* four links between two groups */
    {"dragonfly:1,4x4,1,8,numbered=1", 128, 128, 5, 16, 16},
    /* Dragonfly+: up, over one global link, down; Shpiner et al. */
    {"dragonflyplus:2,2,2,1", 12, 12, 3, 0, 12}, /* three groups, each pair by one link */
    {"dragonflyplus:2,2,2,2,3", 12, 12, 3, 0, 12},
    {"dragonflyplus:1,3,2,4,3,width=2", 9, 15, 3, 0, 0}, /* each spine has two links to each other group */
    {"dragonflyplus:3,4,2,1,1", 12, 6, 2, 0, 0},
};

static int32_t group_of(const struct shape *s)
{
    return s->group;
}

static void check_choices(const struct pf_fabric *f, const struct shape *s, int32_t router, int32_t node,
                          int hops)
{
    int32_t ports[PF_TOPOLOGY_PORTS];
    int count = f->topology->choices(f, router, node, ports);
    if (count < 1)
        fail_msg("%s: router %d to node %d: no choice", s->text, router, node);
    for (int i = 0; i < count; i++) {
        int32_t peer = pf_fabric_port(f, router, ports[i])->peer;
        assert_in_range(peer, 0, f->routers - 1);
        if (f->topology->hops(f, peer, node) != hops - 1)
            fail_msg("%s: router %d to node %d: choice %d does not come nearer", s->text, router, node,
                     ports[i]);
    }
}

static void check_pairs(const struct shape *s, struct pf_fabric *f)
{
    int *distance = calloc((size_t)f->routers, sizeof *distance), diameter = 0;
    struct pf_routing minimal, adaptive;
    walk_open(&minimal, "minimal", f, &walk_settings);
    walk_open(&adaptive, "minimal-adaptive", f, &walk_settings);
    for (int32_t a = 0; a < f->nodes; a++) {
        int32_t router = pf_fabric_router_of(f, a);
        walk_search(f, router, group_of(s), 1, distance);
        for (int32_t b = 0; b < f->nodes; b++) {
            int want = distance[pf_fabric_router_of(f, b)], hops = f->topology->hops(f, router, b);
            if (hops != want)
                fail_msg("%s: %d to %d: %d hops, search says %d", s->text, a, b, hops, want);
            if (want > diameter)
                diameter = want;
            if (want)
                check_choices(f, s, router, b, hops);
            uint64_t id = (uint64_t)a * 1000 + (uint64_t)b;
            assert_int_equal(walk_packet(&minimal, a, b, id, want, NULL, NULL, NULL), want);
            assert_int_equal(walk_packet(&adaptive, a, b, id, want, NULL, NULL, NULL), want);
        }
    }
    if (diameter != s->diameter)
        fail_msg("%s: diameter %d, not %d", s->text, diameter, s->diameter);
    free(distance);
}

/* Links from the lower half of the routers to the upper one. */
static long count_bisection(const struct pf_fabric *f)
{
    long count = 0;
    for (int32_t v = 0; v < f->routers / 2; v++)
        for (int32_t port = 0; port < pf_fabric_port_count(f, v); port++) {
            int32_t peer = pf_fabric_port(f, v, port)->peer;
            count += peer >= f->routers / 2 && peer < f->routers;
        }
    return count;
}

/* Both ends of every link know each other. */
static void check_links(const struct pf_fabric *f)
{
    for (int32_t v = 0; v < f->routers + f->nodes; v++)
        for (int32_t port = 0; port < pf_fabric_port_count(f, v); port++) {
            const struct pf_fabric_port *here = pf_fabric_port(f, v, port);
            if (here->peer < 0)
                continue;
            const struct pf_fabric_port *there = pf_fabric_port(f, here->peer, here->peer_port);
            assert_int_equal(there->peer, v);
            assert_int_equal(there->peer_port, port);
        }
}

static void test_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const struct shape *s = &shapes[i];
        struct pf_fabric *f = walk_fabric(s->text);
        assert_int_equal(f->nodes, s->nodes);
        assert_int_equal(f->routers, s->routers);
        check_links(f);
        check_pairs(s, f);
        if (s->bisection)
            if (count_bisection(f) != s->bisection)
                fail_msg("%s: bisection %ld, not %ld", s->text, count_bisection(f), s->bisection);
        pf_fabric_free(f);
    }
}

static void test_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "taurus:4x4",
        "torus",
        "torus:4x4,wrap=1",
        "torus:4x4,wrap",
        "mesh:4x4,wrap=1x1",
        "ring:4,sideways",
        "ring:4x4",
        "tree:2,23",
        "twolevels:4,4",
        "twisted:4x4,degree=2",
        "twisted:4x4,jump=4x1",
        "twisted:4x4,jump=1",
        "twisted:128x128",
        "hyperx:4x4",
        "dragonfly:2,4,2,99",
        "dragonfly:2,4,2,global=2",
        "cascade:2,4,2,numbered=0",
        "dragonflyplus:2,2,2",
        "dragonflyplus:2,2,2,2,6",
        "dragonflyplus:2,2,2,2,3,1",
        "dragonflyplus:2,2,2,2,width=0",
        "dragonflyplus:2,2,2,2,wide=2",
        "dragonflyplus:500,2,13,1",
        "dragonflyplus:1,500,2,13",
        "dragonflyplus:100,100,100,100",
        "torus:",
        "torus:0x4",
        "torus:4x",
        "torus:4x4y",
        "torus:-4",
        "torus:0",
        "torus: 4",
        "torus:4,0",
        "torus:4,2,2",
        "torus:99999x99999",
        "mesh:4,4,4",
        "star:0",
        "star:x",
        "star:4,4",
        "fattree:4,23",
        "fattree:4,3,3",
        "fattree:0,2",
        "fattree:2;4,4;1,2",
        "fattree:2;4,4;2,2;1,1",
        "fattree:2;4,4;1,2;1,1;",
        "fattree:1000,8",
        "torus:1x1x1x1x1x1x1x1x1",
        "star:99999999999999999999",
    };
    (void)state;
    struct pf_fabric_speeds links;
    pf_fabric_equal_links(&links, 1e9, 0, 0);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char error[300] = "";
        if (pf_fabric_make(texts[i], &links, error, sizeof error))
            fail_msg("'%s' was not refused", texts[i]);
        assert_true(strlen(error) > 10);
        assert_null(strchr(error, '\n'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests_name("packet topologies", tests, NULL, NULL);
}
