/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Freedom from deadlock as a proof: for every topology and routing the graph of what waits for what, (link,
 * class) for (link, class), is built from all hops that any packet may take, whatever the loads are, and
 * must have no cycle (Dally and Seitz, 1987). With escape classes it is their extended graph that must have
 * none (Duato, 1993): an escape class waits for every other that a packet can ask for after it, with any
 * number of free hops between.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lowlevel/topology/topology.h"
#include "tests/unit/packet/walk.h"

struct graph {
    const struct pf_routing *r;
    size_t ports, vertices;
    unsigned char *edge; /* vertices x vertices bits */
    long edges;
};

static size_t vertex_of(const struct graph *g, int32_t router, int32_t port, int vc)
{
    return (size_t)(g->r->fabric->first_port[router] + port) * (size_t)g->r->classes + (size_t)vc;
}

static void add_edge(struct graph *g, size_t from, size_t to)
{
    size_t bit = from * g->vertices + to;
    g->edges += !(g->edge[bit / 8] >> (bit % 8) & 1);
    g->edge[bit / 8] |= (unsigned char)(1 << (bit % 8));
}

static bool has_edge(const struct graph *g, size_t from, size_t to)
{
    size_t bit = from * g->vertices + to;
    return g->edge[bit / 8] >> (bit % 8) & 1;
}

/* Kahn: removes what nothing waits for until nothing is left. */
static bool is_acyclic(const struct graph *g)
{
    size_t *stack = calloc(g->vertices, sizeof *stack), taken = 0, top = 0;
    int *waiters = calloc(g->vertices, sizeof *waiters);
    for (size_t a = 0; a < g->vertices; a++)
        for (size_t b = 0; b < g->vertices; b++)
            waiters[b] += has_edge(g, a, b);
    for (size_t v = 0; v < g->vertices; v++)
        if (!waiters[v])
            stack[top++] = v;
    while (top) {
        size_t v = stack[--top];
        taken++;
        for (size_t b = 0; b < g->vertices; b++)
            if (has_edge(g, v, b) && --waiters[b] == 0)
                stack[top++] = b;
    }
    free(stack);
    free(waiters);
    return taken == g->vertices;
}

/* The load under which one output looks busy or idle, and all others the contrary. */
struct want {
    int32_t port;
    int vc;
    bool is_busy;
};

static int64_t wanted(void *of, int32_t port, int vc)
{
    const struct want *w = of;
    bool same = port == w->port && (vc < 0 || vc == w->vc);
    return same == w->is_busy ? 1000000 : 0;
}

/* The state of a packet: all that its next hop depends on, besides loads and the identity of the packet. */
struct explorer {
    struct graph *g;
    struct seen {
        int32_t router;
        struct pf_packet_path p;
        long from;
    } * seen;
    size_t count, size;
    bool escape;
};

static bool is_new(struct explorer *e, int32_t router, const struct pf_packet_path *p, long from)
{
    for (size_t i = 0; i < e->count; i++) {
        const struct seen *s = &e->seen[i];
        if (s->router == router && s->from == from && s->p.intermediate == p->intermediate &&
            s->p.vc == p->vc && s->p.hops == p->hops && s->p.phase == p->phase && s->p.way == p->way)
            return false;
    }
    if (e->count == e->size) {
        e->size = e->size ? 2 * e->size : 64;
        e->seen = realloc(e->seen, e->size * sizeof *e->seen);
        assert_non_null(e->seen);
    }
    e->seen[e->count++] = (struct seen){router, *p, from};
    return true;
}

static void explore(struct explorer *e, int32_t router, const struct pf_packet_path *p, long from);

static void go(struct explorer *e, int32_t router, const struct pf_packet_path *p, long from,
               const struct pf_packet_hop *hop)
{
    const struct pf_fabric *f = e->g->r->fabric;
    int32_t peer = pf_fabric_port(f, router, hop->port)->peer;
    struct pf_packet_path behind = *p;
    if (peer >= f->routers)
        return; /* a node takes in whatever comes */
    /* The class that is free to all is no vertex: what a packet held before is kept in mind. */
    bool is_free = e->escape && hop->vc == e->g->r->classes - 1;
    size_t vertex = vertex_of(e->g, router, hop->port, hop->vc);
    if (!is_free && from >= 0)
        add_edge(e->g, (size_t)from, vertex);
    pf_routing_take(hop, &behind);
    if (behind.hops > 60)
        fail_msg("%s on %s: a way without end", e->g->r->ops->name, f->text);
    explore(e, peer, &behind, is_free ? from : (long)vertex);
}

static void explore(struct explorer *e, int32_t router, const struct pf_packet_path *p, long from)
{
    const struct pf_routing *r = e->g->r;
    struct pf_packet_hop hop;
    if (!is_new(e, router, p, from))
        return;
    struct want want = {-1, -1, false};
    struct pf_packet_load load = {sizeof load, wanted, &want};
    if (!r->ops->next(r, router, &load, p, &hop))
        fail_msg("%s on %s: no way from router %d to %d", r->ops->name, r->fabric->text, router,
                 p->destination);
    go(e, router, p, from, &hop);
    /* What only loads decide: all outputs but one busy, and only one busy. */
    if (!r->asks_again && p->phase != PF_LEG_FIRST)
        return;
    for (int32_t port = 0; port < pf_fabric_port_count(r->fabric, router); port++)
        for (int way = 0; way < 2 * r->classes; way++) {
            want = (struct want){port, way / 2, way % 2 == 1};
            if (r->ops->next(r, router, &load, p, &hop))
                go(e, router, p, from, &hop);
        }
}

/* Every pair, several packets of each for ties; with every intermediate, or none. */
static void explore_all(struct explorer *e)
{
    const struct pf_routing *r = e->g->r;
    const struct pf_fabric *f = r->fabric;
    struct pf_packet_path p;
    int32_t many = r->settings.intermediate_is_group ? f->topology->groups(f) : f->nodes;
    bool goes_away = strncmp(r->ops->name, "minimal", 7) != 0;
    for (int32_t a = 0; a < f->nodes; a++)
        for (int32_t b = 0; b < f->nodes; b++) {
            if (pf_fabric_router_of(f, a) == pf_fabric_router_of(f, b))
                continue;
            for (uint64_t id = 0; id < (goes_away ? 1 : 4); id++) {
                pf_routing_start(&p, a, b, id + 16 * (uint64_t)(a * f->nodes + b));
                e->count = 0;
                explore(e, pf_fabric_router_of(f, a), &p, -1);
            }
            for (int32_t at = 0; goes_away && at < many; at++) {
                pf_routing_start(&p, a, b, (uint64_t)((a * f->nodes + b) * many + at));
                p.intermediate = at;
                p.phase = PF_LEG_AWAY;
                e->count = 0;
                explore(e, pf_fabric_router_of(f, a), &p, -1);
            }
            if (strcmp(r->ops->name, "par") == 0) {
                pf_routing_start(&p, a, b, (uint64_t)(a * f->nodes + b));
                p.phase = PF_LEG_FIRST;
                e->count = 0;
                explore(e, pf_fabric_router_of(f, a), &p, -1);
            }
        }
}

/* With `less` classes fewer than it says, by folding the last ones into the first: for the test of the test.
 */
static bool prove(const char *text, const char *routing, bool group, int classes, int down)
{
    struct pf_fabric *f = walk_fabric(text);
    struct pf_routing_settings settings = walk_settings;
    struct pf_routing r;
    settings.intermediate_is_group = group;
    settings.ugal_candidates = 3;
    for (int i = 0; i < down; i++) /* links between routers, from the middle */
        for (int32_t port = f->first_port[f->routers / 2 + i];; port++)
            if (f->ports[port].peer >= 0 && f->ports[port].peer < f->routers) {
                pf_fabric_set_up(f, port, false);
                break;
            }
    walk_open(&r, routing, f, &settings);
    assert_true(strlen(r.reason) > 5);
    if (r.classes != classes)
        fail_msg("%s on %s: %d classes, not %d", routing, text, r.classes, classes);
    struct graph g = {.r = &r, .ports = (size_t)f->first_port[f->routers]};
    g.vertices = g.ports * (size_t)r.classes;
    g.edge = calloc(g.vertices * g.vertices / 8 + 1, 1);
    assert_non_null(g.edge);
    bool escape = strcmp(routing, "minimal-adaptive") == 0 && f->topology->choice_classes(f).escape;
    struct explorer e = {.g = &g, .escape = escape};
    explore_all(&e);
    assert_true(g.edges > 0 || f->routers < 5);
    bool result = is_acyclic(&g);
    free(e.seen);
    free(g.edge);
    pf_fabric_free(f);
    return result;
}

static const struct {
    const char *text;
    int minimal, adaptive, valiant, par, group, group_par; /* classes; 0: refused */
} cases[] = {
    {"fattree:2,3", 1, 1, 2, 3, 1, 1},
    {"fattree:4,2,2", 1, 1, 2, 3, 1, 1},
    {"fattree:2;3,4;1,2;1,2", 1, 1, 2, 3, 1, 1},
    {"ring:5", 2, 3, 4, 6, 0, 0},
    {"ring:8", 2, 3, 4, 6, 0, 0},
    {"torus:3x4", 2, 3, 4, 6, 0, 0},
    {"torus:2x2", 1, 2, 2, 3, 0, 0},
    {"torus:3x3x3", 2, 3, 4, 6, 0, 0},
    {"mesh:3x4", 1, 2, 2, 3, 0, 0},
    {"torus:3x4,wrap=1x0", 2, 3, 4, 6, 0, 0},
    {"ring:4,oneway", 2, 3, 4, 6, 0, 0},
    {"twisted:4x3", 3, 3, 6, 9, 0, 0},
    {"tree:2,3", 1, 1, 2, 3, 1, 1},
    {"twolevels:3,3,2", 1, 1, 2, 3, 1, 1},
    {"hyperx:4,2", 1, 1, 2, 3, 0, 0},
    {"hyperx:3x3,1", 1, 2, 2, 3, 0, 0},
    {"hyperx:2x3x3,1", 1, 3, 2, 3, 0, 0},
    {"dragonfly:1,2,1", 2, 3, 4, 5, 3, 4},
    {"dragonfly:1,3,1", 2, 3, 4, 5, 3, 4},
    {"dragonfly:1,4,2,3", 2, 3, 4, 5, 3, 4},
    {"dragonfly:1,2x2,1", 2, 5, 4, 5, 3, 4},
    {"dragonfly:1,3,1,global=1", 2, 3, 4, 5, 3, 4},
    {"dragonfly:1,2x2,1,global=1", 2, 5, 4, 5, 3, 4},
    {"dragonfly:1,2x3,1,4,numbered=1", 2, 5, 4, 5, 3, 4},
    {"dragonflyplus:1,2,2,1", 1, 1, 2, 3, 2, 3},
    {"dragonflyplus:1,2,3,1", 1, 1, 2, 3, 2, 3},
    {"dragonflyplus:2,2,2,2,3", 1, 1, 2, 3, 2, 3},
    {"dragonflyplus:1,3,2,1,1", 1, 1, 2, 3, 2, 3},
};

static void expect(const char *text, const char *routing, bool group, int classes)
{
    if (classes && !prove(text, routing, group, classes, 0))
        fail_msg("%s on %s%s can deadlock", routing, text, group ? " by groups" : "");
}

static void test_acyclic(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *text = cases[i].text;
        expect(text, "minimal", false, cases[i].minimal);
        expect(text, "minimal-adaptive", false, cases[i].adaptive);
        expect(text, "valiant", false, cases[i].valiant);
        expect(text, "ugal", false, cases[i].valiant);
        expect(text, "par", false, cases[i].par);
        expect(text, "valiant", true, cases[i].group);
        expect(text, "par", true, cases[i].group_par);
    }
}

/* Ways round a link that is down keep to the classes. */
static void test_acyclic_with_faults(void **state)
{
    (void)state;
    assert_true(prove("ring:7", "minimal", false, 2, 1));
    assert_true(prove("torus:4x4", "minimal", false, 2, 1));
    assert_true(prove("fattree:2,3", "minimal", false, 1, 1));
    assert_true(prove("fattree:4,2", "minimal-adaptive", false, 1, 2));
    assert_true(prove("dragonflyplus:1,2,2,4,3", "par", true, 3, 1));
}

/* What is known to deadlock must be found: ways in a ring with one class, by a topology without datelines. */
static bool step_without_dateline(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t node,
                                  uint8_t way, struct pf_packet_hop *hop);
static const struct pf_fabric_ops *real;

static bool step_without_dateline(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t node,
                                  uint8_t way, struct pf_packet_hop *hop)
{
    bool found = real->step(f, key, router, node, way, hop);
    hop->vc = 0;
    return found;
}

static void test_cycle_is_found(void **state)
{
    (void)state;
    struct pf_fabric *f = walk_fabric("ring:5");
    struct pf_fabric_ops broken = *f->topology;
    struct pf_routing r;
    real = f->topology;
    broken.step = step_without_dateline;
    f->topology = &broken;
    walk_open(&r, "minimal", f, &walk_settings);
    struct graph g = {.r = &r, .ports = (size_t)f->first_port[f->routers]};
    g.vertices = g.ports * (size_t)r.classes;
    g.edge = calloc(g.vertices * g.vertices / 8 + 1, 1);
    struct explorer e = {.g = &g};
    explore_all(&e);
    assert_false(is_acyclic(&g));
    free(e.seen);
    free(g.edge);
    pf_fabric_free(f);
}

static void test_refused(void **state)
{
    (void)state;
    struct pf_routing r;
    struct pf_routing_settings settings = walk_settings;
    char error[300] = "";
    struct pf_fabric *f = walk_fabric("ring:5");
    assert_false(pf_routing_open(&r, "adaptive", f, &settings, error, sizeof error));
    assert_non_null(strstr(error, "minimal-adaptive"));
    settings.intermediate_is_group = true;
    static const char *const names[] = {"valiant", "ugal", "par"};
    for (int i = 0; i < 3; i++) {
        assert_false(pf_routing_open(&r, names[i], f, &settings, error, sizeof error));
        assert_non_null(strstr(error, "no groups"));
    }
    pf_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_acyclic),
                                       cmocka_unit_test(test_acyclic_with_faults),
                                       cmocka_unit_test(test_cycle_is_found), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests_name("packet deadlock", tests, NULL, NULL);
}
