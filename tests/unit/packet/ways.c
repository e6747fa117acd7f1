/* SPDX-License-Identifier: BSD-3-Clause */
/* What each routing promises of single packets: intermediates are visited and evenly drawn, adaptive choices
 * follow the load, ways go round what is down where there is another, and all of it twice the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lowlevel/topology/topology.h"
#include "tests/unit/packet/walk.h"

static const char *const texts[] = {
    "fattree:3,3",  "fattree:4,2,2",   "torus:5x4",           "mesh:4x4",
    "hyperx:3x4,2", "dragonfly:2,4,2", "dragonfly:1,2x3,1,5", "dragonflyplus:2,2,2,2"};

struct visit {
    const struct pf_fabric *f;
    bool group, is_done;
    int32_t intermediate;
};

static void look(void *context, int32_t router, const struct pf_packet_path *p)
{
    struct visit *v = context;
    if (p->hops == 0)
        v->intermediate = p->intermediate;
    if (v->intermediate < 0)
        v->is_done = true;
    else if (v->group)
        v->is_done |= v->f->topology->in_group(v->f, router, v->intermediate, p);
    else
        v->is_done |= pf_fabric_router_of(v->f, v->intermediate) == router;
}

static void check_valiant(const char *text, bool group)
{
    struct pf_fabric *f = walk_fabric(text);
    struct pf_routing_settings settings = walk_settings;
    struct pf_routing r;
    settings.intermediate_is_group = group;
    walk_open(&r, "valiant", f, &settings);
    int32_t many = group ? f->topology->groups(f) : f->nodes;
    int *drawn = calloc((size_t)many, sizeof *drawn), away = 0;
    for (uint64_t id = 0; id < 4000; id++) {
        int32_t a = (int32_t)(id * 7 % (uint64_t)f->nodes), b = (int32_t)(id * 13 / 5 % (uint64_t)f->nodes);
        struct visit v = {f, group, false, -1};
        if (a == b)
            continue;
        assert_true(walk_packet(&r, a, b, id, 40, NULL, look, &v) >= 0);
        if (!v.is_done)
            fail_msg("%s: packet %d did not visit %d", text, (int)id, v.intermediate);
        if (v.intermediate >= 0) {
            drawn[v.intermediate]++;
            away++;
        }
    }
    assert_true(away > 1000);
    /* Eight standard deviations: chance is no reason for a failure. */
    double mean = (double)away / many;
    for (int32_t i = 0; i < many; i++)
        if ((drawn[i] - mean) * (drawn[i] - mean) > 64 * mean)
            fail_msg("%s: intermediate %d was drawn %d times, the mean is %g", text, i, drawn[i], mean);
    free(drawn);
    pf_fabric_free(f);
}

static void test_valiant(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check_valiant(texts[i], false);
    check_valiant("fattree:3,3", true);
    check_valiant("dragonfly:2,4,2", true);
    check_valiant("dragonfly:1,2x3,1,5", true);
    check_valiant("dragonflyplus:2,2,2,2", true); /* by leaves where a spine has no link */
    check_valiant("dragonflyplus:2,2,2,4", true);
}

/* A router whose one output has a long queue. */
static int64_t one_long(void *of, int32_t port, int vc)
{
    (void)vc;
    return port == *(const int32_t *)of ? 100000 : 100;
}

/* By load: minimal when nothing waits; away when the minimal port is full, and not by a threshold above it.
 */
static void test_ugal(void **state)
{
    static const char *const names[] = {"ugal", "par"};
    (void)state;
    struct pf_fabric *f = walk_fabric("dragonfly:2,4,2");
    for (int i = 0; i < 2; i++) {
        struct pf_routing_settings settings = walk_settings;
        struct pf_routing r;
        struct pf_packet_path p;
        struct pf_packet_hop hop;
        settings.intermediate_is_group = true;
        settings.ugal_candidates = 4;
        for (int run = 0; run < 4; run++) {
            settings.ugal_threshold = run == 2 ? 1e6 : 0;
            settings.ugal_bias = run == 3 ? 1e6 : 1;
            walk_open(&r, names[i], f, &settings);
            pf_routing_start(&p, 0, 30, 5);
            assert_true(f->topology->step(f, 0, 0, 30, 0, &hop));
            int32_t none = -1;
            struct pf_packet_load load = {sizeof load, one_long, run == 0 ? &none : &hop.port};
            r.ops->begin(&r, &load, &p);
            assert_int_equal(p.phase == PF_LEG_AWAY, run == 1);
        }
    }
    pf_fabric_free(f);
}

/* par thinks again at the second router: its queue is another one. */
static void test_par(void **state)
{
    (void)state;
    struct pf_fabric *f = walk_fabric("dragonfly:2,4,2");
    struct pf_routing_settings settings = walk_settings;
    struct pf_routing r;
    struct pf_packet_path p;
    struct pf_packet_hop hop;
    int32_t none = -1;
    struct pf_packet_load load = {sizeof load, one_long, &none};
    settings.intermediate_is_group = true;
    settings.ugal_candidates = 8;
    walk_open(&r, "par", f, &settings);
    pf_routing_start(&p, 0, 70, 5); /* the last group: by the last router of the first one */
    r.ops->begin(&r, &load, &p);
    assert_int_equal(p.phase, PF_LEG_FIRST);
    assert_true(r.ops->next(&r, 0, &load, &p, &hop));
    assert_int_equal(hop.phase, PF_LEG_FIRST);
    int32_t router = pf_fabric_port(f, 0, hop.port)->peer;
    pf_routing_take(&hop, &p);
    assert_true(r.ops->next(&r, router, &load, &p, &hop));
    assert_int_equal(hop.phase, PF_LEG_HOME);
    int32_t port = hop.port;
    load.of = &port;
    assert_true(r.ops->next(&r, router, &load, &p, &hop));
    assert_int_equal(hop.phase, PF_LEG_AWAY);
    assert_int_not_equal(hop.port, port);
    assert_int_equal(p.phase, PF_LEG_FIRST); /* asking changes nothing */
    pf_fabric_free(f);
}

static void test_adaptive_follows_load(void **state)
{
    (void)state;
    struct pf_fabric *f = walk_fabric("fattree:4,2");
    struct pf_routing r;
    struct pf_packet_path p;
    struct pf_packet_hop hop;
    walk_open(&r, "minimal-adaptive", f, &walk_settings);
    assert_true(r.asks_again);
    for (uint64_t id = 0; id < 100; id++) {
        int32_t busy = 4 + (int32_t)(id % 4);
        struct pf_packet_load load = {sizeof load, one_long, &busy};
        pf_routing_start(&p, 0, 15, id);
        r.ops->begin(&r, &load, &p);
        assert_true(r.ops->next(&r, 0, &load, &p, &hop));
        assert_int_not_equal(hop.port, busy);
        assert_in_range(hop.port, 4, 7);
    }
    pf_fabric_free(f);
}

/* Takes down the link, in both directions, that the minimal way from node `a` to `b` takes first. */
static void cut(struct pf_fabric *f, int32_t a, int32_t b)
{
    struct pf_packet_hop hop;
    int32_t router = pf_fabric_router_of(f, a);
    assert_true(f->topology->step(f, 0, router, b, 0, &hop));
    const struct pf_fabric_port *port = pf_fabric_port(f, router, hop.port);
    pf_fabric_set_up(f, f->first_port[router] + hop.port, false);
    pf_fabric_set_up(f, f->first_port[port->peer] + port->peer_port, false);
}

/* How many pairs have no way when a link is down. */
static int lost(const char *text, const char *routing, int32_t a, int32_t b, bool group)
{
    struct pf_fabric *f = walk_fabric(text);
    struct pf_routing_settings settings = walk_settings;
    struct pf_routing r;
    int count = 0;
    settings.intermediate_is_group = group;
    cut(f, a, b);
    walk_open(&r, routing, f, &settings);
    for (int32_t from = 0; from < f->nodes; from++)
        for (int32_t to = 0; to < f->nodes; to++)
            count += walk_packet(&r, from, to, (uint64_t)(from * f->nodes + to), 60, NULL, NULL, NULL) < 0;
    pf_fabric_free(f);
    return count;
}

static void test_faults(void **state)
{
    (void)state;
    /* A tree, a ring and parallel links have another way. */
    assert_int_equal(lost("fattree:4,2", "minimal", 0, 15, false), 0);
    assert_int_equal(lost("fattree:3,3", "minimal", 0, 26, false), 0);
    assert_int_equal(lost("fattree:3,3", "minimal-adaptive", 0, 26, false), 0);
    assert_int_equal(lost("torus:5x4", "minimal", 0, 1, false), 0);
    assert_int_equal(lost("torus:5x4", "minimal", 0, 19, false), 0);
    assert_int_equal(lost("dragonfly:2,4,2,3", "minimal", 0, 16, false), 0);
    assert_int_equal(lost("dragonflyplus:2,2,2,2,3", "minimal", 0, 6, false), 0);
    assert_int_equal(lost("dragonflyplus:2,2,2,2,3", "minimal", 6, 8, false), 0);
    assert_int_equal(lost("dragonflyplus:2,2,2,2,3", "minimal-adaptive", 6, 8, false), 0);
    /* The only minimal way is down; non-minimal ones are not. */
    assert_int_equal(lost("hyperx:4,2", "minimal", 0, 7, false), 2 * 2 * 2);
    assert_int_equal(lost("hyperx:4,2", "ugal", 0, 7, false), 0);
    assert_int_equal(lost("hyperx:4,2", "valiant", 0, 7, false), 0);
    assert_int_equal(lost("hyperx:3x4,2", "minimal-adaptive", 0, 23, false), 2 * 2 * 2);
    assert_int_equal(lost("dragonfly:1,2,1", "minimal", 3, 4, false), 2 * 2 * 2);
    assert_int_equal(lost("dragonfly:1,2,1", "par", 3, 4, true), 0);
    assert_int_equal(lost("dragonfly:2,4,2", "ugal", 0, 8, true), 0);
    assert_int_equal(lost("dragonflyplus:2,2,2,1", "minimal", 6, 8, false), 2 * 2 * 4);
    assert_int_equal(lost("dragonflyplus:2,2,2,1", "valiant", 6, 8, true), 0);
    assert_int_equal(lost("mesh:4x4", "valiant", 0, 3, false), 0);
    /* Nothing helps on a line. */
    assert_int_equal(lost("mesh:4x1", "ugal", 0, 3, false), 2 * 1 * 3);
}

struct trail {
    int32_t router[64];
    int count;
};

static void record(void *context, int32_t router, const struct pf_packet_path *p)
{
    struct trail *t = context;
    (void)p;
    t->router[t->count++ % 64] = router;
}

/* The same packet takes the same way; another seed or packet another one, but in order one for each pair. */
static void test_determinism(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (int n = 0; pf_routing_name(n); n++) {
            struct pf_fabric *f = walk_fabric(texts[i]), *g = walk_fabric(texts[i]);
            struct pf_routing r, s;
            walk_open(&r, pf_routing_name(n), f, &walk_settings);
            walk_open(&s, pf_routing_name(n), g, &walk_settings);
            int differ = 0;
            for (uint64_t id = 0; id < 200; id++) {
                struct trail a = {.count = 0}, b = {.count = 0}, c = {.count = 0};
                int32_t to = f->nodes - 1 - (int32_t)(id % 3);
                walk_packet(&r, 1, to, id, 60, NULL, record, &a);
                walk_packet(&s, 1, to, id, 60, NULL, record, &b);
                walk_packet(&s, 1, to, id + 3, 60, NULL, record, &c);
                assert_memory_equal(&a, &b, sizeof a);
                differ += memcmp(&a, &c, sizeof a) != 0;
            }
            assert_true(strcmp(pf_routing_name(n), "valiant") != 0 || differ > 50);
            pf_fabric_free(f);
            pf_fabric_free(g);
        }
}

static void test_in_order(void **state)
{
    (void)state;
    struct pf_fabric *f = walk_fabric("torus:8x8");
    for (int in_order = 0; in_order < 2; in_order++) {
        struct pf_routing_settings settings = walk_settings;
        struct pf_routing r;
        int differ = 0;
        settings.in_order = in_order;
        walk_open(&r, "minimal", f, &settings);
        for (int32_t to = 1; to < f->nodes; to++)
            for (uint64_t id = 0; id < 10; id++) {
                struct trail a = {.count = 0}, b = {.count = 0};
                walk_packet(&r, 0, to, id, 60, NULL, record, &a);
                walk_packet(&r, 0, to, 100, 60, NULL, record, &b);
                differ += memcmp(&a, &b, sizeof a) != 0;
            }
        assert_int_equal(differ > 0, !in_order);
    }
    pf_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valiant), cmocka_unit_test(test_ugal),
        cmocka_unit_test(test_par),     cmocka_unit_test(test_adaptive_follows_load),
        cmocka_unit_test(test_faults),  cmocka_unit_test(test_determinism),
        cmocka_unit_test(test_in_order)};
    return cmocka_run_group_tests_name("packet ways", tests, NULL, NULL);
}
