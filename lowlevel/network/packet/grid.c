/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Torus and mesh. A packet corrects the dimensions in their order (e-cube). In a ring the class says whether
 * the wrap is still ahead, so that no chain of buffers closes (Dally and Seitz, "Deadlock-free message
 * routing in multiprocessor interconnection networks", 1987); a packet never turns round inside a dimension.
 */
#include <stdio.h>

#include "base/memory.h"
#include "lowlevel/network/packet/topology.h"

enum { DIMENSIONS = 8 };

struct grid {
    int dimensions;
    int32_t k[DIMENSIONS], stride[DIMENSIONS];
    int32_t terminals; /* nodes per router */
    bool wraps;
};

static int32_t coordinate(const struct grid *g, int32_t router, int i)
{
    return router / g->stride[i] % g->k[i];
}

static int32_t neighbour(const struct grid *g, int32_t router, int i, bool minus)
{
    int32_t c = coordinate(g, router, i), to = minus ? c - 1 : c + 1;
    if (to < 0 || to == g->k[i]) {
        if (!g->wraps)
            return -1;
        to = to < 0 ? g->k[i] - 1 : 0;
    }
    return router + (to - c) * g->stride[i];
}

/* Cables from coordinate `from` to `to` of a dimension, in one direction. */
static int32_t ahead(const struct grid *g, int i, int32_t from, int32_t to, bool minus)
{
    int32_t d = minus ? from - to : to - from;
    return d < 0 ? d + g->k[i] : d;
}

static int grid_hops(const struct pf_fabric *f, int32_t router, int32_t node)
{
    const struct grid *g = f->shape;
    int32_t target = node / g->terminals;
    int sum = 0;
    for (int i = 0; i < g->dimensions; i++) {
        int32_t a = coordinate(g, router, i), b = coordinate(g, target, i);
        int32_t d = a < b ? b - a : a - b;
        sum += g->wraps && g->k[i] - d < d ? g->k[i] - d : d;
    }
    return sum;
}

static int32_t port_of(const struct grid *g, int i, bool minus)
{
    return g->terminals + 2 * i + minus;
}

/* Whether all cables of the rest of a dimension work. */
static bool is_whole(const struct pf_fabric *f, int32_t router, int i, int32_t distance, bool minus)
{
    const struct grid *g = f->shape;
    for (; distance > 0; distance--) {
        if (!pf_fabric_is_up(f, router, port_of(g, i, minus)))
            return false;
        router = neighbour(g, router, i, minus);
    }
    return true;
}

/* The direction in which a packet enters a dimension. */
static bool direction(const struct pf_fabric *f, uint64_t key, int32_t router, int i, int32_t from,
                      int32_t to, bool *minus)
{
    const struct grid *g = f->shape;
    int32_t plus = ahead(g, i, from, to, false), back = g->k[i] - plus;
    if (!g->wraps)
        *minus = to < from;
    else if (plus != back)
        *minus = back < plus;
    else
        *minus = pf_topology_hash(key + (uint64_t)i) & 1;
    if (!f->down || is_whole(f, router, i, ahead(g, i, from, to, *minus), *minus))
        return true;
    *minus = !*minus;
    return g->wraps && is_whole(f, router, i, ahead(g, i, from, to, *minus), *minus);
}

/* `way`: 1 + twice the dimension + the direction of the last cable. */
static bool grid_step(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t node, uint8_t way,
                      struct pf_packet_hop *hop)
{
    const struct grid *g = f->shape;
    int32_t target = node / g->terminals;
    for (int i = 0; i < g->dimensions; i++) {
        int32_t from = coordinate(g, router, i), to = coordinate(g, target, i);
        bool minus;
        if (from == to)
            continue;
        if (way && (way - 1) / 2 == i) {
            minus = (way - 1) & 1;
            if (f->down && !is_whole(f, router, i, ahead(g, i, from, to, minus), minus))
                return false;
        } else if (!direction(f, key, router, i, from, to, &minus)) {
            return false;
        }
        hop->port = port_of(g, i, minus);
        hop->way = (uint8_t)(1 + 2 * i + minus);
        hop->vc = g->wraps && g->k[i] > 2 && (minus ? from > to : from < to);
        return true;
    }
    return false;
}

static bool has_ring(const struct grid *g)
{
    for (int i = 0; g->wraps && i < g->dimensions; i++)
        if (g->k[i] > 2)
            return true;
    return false;
}

static struct pf_topology_classes grid_step_classes(const struct pf_fabric *f)
{
    return has_ring(f->shape)
               ? (struct pf_topology_classes){2, "dimension order, and a dateline in each ring", false}
               : (struct pf_topology_classes){1, "dimension order", false};
}

static int grid_choices(const struct pf_fabric *f, int32_t router, int32_t node, int32_t *ports)
{
    const struct grid *g = f->shape;
    int32_t target = node / g->terminals;
    int count = 0;
    for (int i = 0; i < g->dimensions; i++) {
        int32_t from = coordinate(g, router, i), to = coordinate(g, target, i);
        if (from == to)
            continue;
        int32_t plus = ahead(g, i, from, to, false), back = g->k[i] - plus;
        for (int minus = 0; minus < 2; minus++) {
            bool minimal = g->wraps ? (minus ? back <= plus : plus <= back) : minus == (to < from);
            if (minimal && pf_fabric_is_up(f, router, port_of(g, i, minus)))
                ports[count++] = port_of(g, i, minus);
        }
    }
    return count;
}

/* Duato, "A new theory of deadlock-free adaptive routing in wormhole networks", 1993. */
static struct pf_topology_classes grid_choice_classes(const struct pf_fabric *f)
{
    return has_ring(f->shape)
               ? (struct pf_topology_classes){3, "two escape classes in dimension order with datelines", true}
               : (struct pf_topology_classes){2, "one escape class in dimension order", true};
}

static int grid_extents(const struct pf_fabric *f, int32_t *extents, int *in_group)
{
    const struct grid *g = f->shape;
    *in_group = 1;
    extents[0] = g->terminals;
    for (int i = 0; i < g->dimensions; i++)
        extents[i + 1] = g->k[i];
    return g->dimensions + 1;
}

static const struct pf_fabric_ops ops = {
    .size = sizeof(struct pf_fabric_ops),
    .name = "grid",
    .extents = grid_extents,
    .hops = grid_hops,
    .step = grid_step,
    .step_classes = grid_step_classes,
    .choices = grid_choices,
    .choice_classes = grid_choice_classes,
    .choice_class = pf_topology_class_0,
    .groups = pf_topology_no_groups,
    .in_group = pf_topology_no_in_group,
    .step_group = pf_topology_no_step_group,
    .group_classes = pf_topology_no_group_classes,
    .pick_group = pf_topology_no_pick_group,
    .is_near = pf_topology_is_at,
    .may_turn = pf_topology_may_turn_once,
    .turn_classes = grid_step_classes,
};

static int32_t grid_ports(const void *shape, int32_t router)
{
    const struct grid *g = shape;
    (void)router;
    return g->terminals + 2 * g->dimensions;
}

static struct pf_fabric *build(struct grid *g, int32_t routers, const struct pf_fabric_cables *cables)
{
    struct pf_fabric *f = pf_fabric_new(&ops, routers * g->terminals, routers, g, grid_ports);
    for (int32_t v = 0; v < routers; v++) {
        for (int32_t t = 0; t < g->terminals; t++)
            pf_fabric_connect(f, v, t, routers + v * g->terminals + t, 0, PF_CABLE_NODE, cables);
        for (int i = 0; i < g->dimensions; i++) {
            int32_t to = g->k[i] > 1 ? neighbour(g, v, i, false) : -1;
            if (to >= 0)
                pf_fabric_connect(f, v, port_of(g, i, false), to, port_of(g, i, true), PF_CABLE_LOCAL,
                                  cables);
        }
    }
    return f;
}

static struct pf_fabric *make(const char *text, bool wraps, const struct pf_fabric_cables *cables,
                              char *error, size_t error_size)
{
    struct grid *g = pf_calloc(1, sizeof *g);
    const char *end = text;
    int32_t all[DIMENSIONS + 1];
    g->wraps = wraps;
    g->terminals = 1;
    g->dimensions = pf_fabric_read_numbers(text, 'x', g->k, DIMENSIONS, PF_FABRIC_MAX, &end);
    if (g->dimensions > 0 && *end == ',' &&
        pf_fabric_read_numbers(end + 1, 0, &g->terminals, 1, PF_TOPOLOGY_PORTS, &end) != 1)
        g->dimensions = -1;
    if (g->dimensions < 1 || *end) {
        snprintf(error, error_size,
                 "'%.60s' are no dimensions of a %s, such as 4x4x4 or 8x8,2 (two nodes at each router)", text,
                 wraps ? "torus" : "mesh");
        free(g);
        return NULL;
    }
    for (int i = 0; i < g->dimensions; i++) {
        g->stride[i] = i ? g->stride[i - 1] * g->k[i - 1] : 1;
        all[i] = g->k[i];
        all[i + 1] = g->terminals;
        if (pf_fabric_product(all, i + 2) < 0) {
            snprintf(error, error_size, "'%.60s' has more than %d nodes", text, PF_FABRIC_MAX);
            free(g);
            return NULL;
        }
    }
    return build(g, (int32_t)pf_fabric_product(all, g->dimensions), cables);
}

struct pf_fabric *pf_fabric_make_torus(const char *text, const struct pf_fabric_cables *cables, char *error,
                                       size_t error_size)
{
    return make(text, true, cables, error, error_size);
}

struct pf_fabric *pf_fabric_make_mesh(const char *text, const struct pf_fabric_cables *cables, char *error,
                                      size_t error_size)
{
    return make(text, false, cables, error, error_size);
}
