/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Torus, mesh and ring. A packet corrects the dimensions in their order (e-cube). In a ring the class says
 * whether the wrap is still ahead, so that no chain of buffers closes (Dally and Seitz, "Deadlock-free
 * message routing in multiprocessor interconnection networks", 1987); a packet never turns round inside a
 * dimension.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lowlevel/topology/topology.h"

enum { DIMENSIONS = 8 };

struct grid {
    int dimensions;
    int32_t k[DIMENSIONS], stride[DIMENSIONS];
    int32_t terminals; /* nodes per router */
    bool wraps[DIMENSIONS];
    bool is_one_way; /* ring: links are used upwards only */
};

static int32_t coordinate(const struct grid *g, int32_t router, int i)
{
    return router / g->stride[i] % g->k[i];
}

static int32_t neighbour(const struct grid *g, int32_t router, int i, bool minus)
{
    int32_t c = coordinate(g, router, i), to = minus ? c - 1 : c + 1;
    if (to < 0 || to == g->k[i]) {
        if (!g->wraps[i])
            return -1;
        to = to < 0 ? g->k[i] - 1 : 0;
    }
    return router + (to - c) * g->stride[i];
}

/* Links from coordinate `from` to `to` of a dimension, in one direction. */
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
        if (g->is_one_way)
            d = a <= b ? b - a : b - a + g->k[i];
        sum += !g->is_one_way && g->wraps[i] && g->k[i] - d < d ? g->k[i] - d : d;
    }
    return sum;
}

static int32_t port_of(const struct grid *g, int i, bool minus)
{
    return g->terminals + 2 * i + minus;
}

/* Whether all links of the rest of a dimension work. */
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
    if (!g->wraps[i])
        *minus = to < from;
    else if (g->is_one_way)
        *minus = false;
    else if (plus != back)
        *minus = back < plus;
    else
        *minus = pf_topology_hash(key + (uint64_t)i) & 1;
    if (!f->down || is_whole(f, router, i, ahead(g, i, from, to, *minus), *minus))
        return true;
    *minus = !*minus;
    return g->wraps[i] && !g->is_one_way && is_whole(f, router, i, ahead(g, i, from, to, *minus), *minus);
}

/* `way`: 1 + twice the dimension + the direction of the last link. */
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
        hop->vc = g->wraps[i] && g->k[i] > 2 && (minus ? from > to : from < to);
        return true;
    }
    return false;
}

static bool has_ring(const struct grid *g)
{
    for (int i = 0; i < g->dimensions; i++)
        if (g->wraps[i] && (g->k[i] > 2 || g->is_one_way))
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
            bool minimal = g->is_one_way ? !minus
                           : g->wraps[i] ? (minus ? back <= plus : plus <= back)
                                         : minus == (to < from);
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

static int32_t grid_ports(const void *shape, int32_t router)
{
    const struct grid *g = shape;
    return g->terminals + 2 * g->dimensions;
}

static void grid_wire(struct pf_fabric *f, const struct pf_fabric_speeds *links)
{
    const struct grid *g = f->shape;
    for (int32_t v = 0; v < f->routers; v++)
        for (int i = 0; i < g->dimensions; i++) {
            int32_t to = g->k[i] > 1 ? neighbour(g, v, i, false) : -1;
            if (to >= 0)
                pf_fabric_connect(f, v, port_of(g, i, false), to, port_of(g, i, true), PF_LINK_LOCAL, links);
        }
}

static const struct pf_fabric_ops ops = {
    .size = sizeof(struct pf_fabric_ops),
    .family = "grid",
    .ports = grid_ports,
    .wire = grid_wire,
    .extents = grid_extents,
    .hops = grid_hops,
    .step = grid_step,
    .step_classes = grid_step_classes,
    .choices = grid_choices,
    .choice_classes = grid_choice_classes,
    .choice_class = pf_topology_class_0,
    PF_TOPOLOGY_WITHOUT_GROUPS,
    .may_turn = pf_topology_may_turn_once,
    .turn_classes = grid_step_classes,
};

static struct pf_fabric *refuse(struct grid *g, char *error, size_t error_size, const char *format,
                                const char *text)
{
    snprintf(error, error_size, format, text);
    free(g);
    return NULL;
}

static struct pf_fabric *outline(struct grid *g, const char *text, char *error, size_t error_size)
{
    int32_t all[DIMENSIONS + 1];
    for (int i = 0; i < g->dimensions; i++) {
        g->stride[i] = i ? g->stride[i - 1] * g->k[i - 1] : 1;
        all[i] = g->k[i];
        all[i + 1] = g->terminals;
        if (pf_fabric_product(all, i + 2) < 0)
            return refuse(g, error, error_size, "'%.60s' has more than 4000000 nodes", text);
    }
    int32_t routers = (int32_t)pf_fabric_product(all, g->dimensions);
    struct pf_fabric *f = pf_fabric_outline(&ops, routers * g->terminals, g->terminals, routers, g);
    f->is_direct = g->terminals == 1;
    return f;
}

/* "AxBxC[,T]"; where the numbers end. NULL: they are none. */
static const char *read_sides(struct grid *g, const char *text, bool wraps)
{
    const char *end = text;
    g->terminals = 1;
    g->dimensions = pf_fabric_read_numbers(text, 'x', g->k, DIMENSIONS, PF_FABRIC_MAX, &end);
    if (g->dimensions < 1 ||
        (*end == ',' && end[1] >= '0' && end[1] <= '9' &&
         pf_fabric_read_numbers(end + 1, 0, &g->terminals, 1, PF_TOPOLOGY_PORTS, &end) != 1))
        return NULL;
    for (int i = 0; i < g->dimensions; i++)
        g->wraps[i] = wraps;
    return end;
}

static struct pf_fabric *read_mesh(const char *text, char *error, size_t error_size)
{
    struct grid *g = pf_calloc(1, sizeof *g);
    const char *end = read_sides(g, text, false);
    if (end && !*end)
        return outline(g, text, error, error_size);
    return refuse(g, error, error_size,
                  "'%.60s' are no dimensions of a mesh, such as 4x4x4 or 8x8,2 (two nodes at each router)",
                  text);
}

static struct pf_fabric *read_torus(const char *text, char *error, size_t error_size)
{
    struct grid *g = pf_calloc(1, sizeof *g);
    int32_t flags[DIMENSIONS];
    const char *end = read_sides(g, text, true);
    int count = end ? pf_fabric_read_option(&end, "wrap", flags, DIMENSIONS) : -1;
    for (int i = 0; i < count; i++)
        g->wraps[i] = flags[i];
    if (end && !*end && (count == 0 || count == g->dimensions))
        return outline(g, text, error, error_size);
    return refuse(g, error, error_size,
                  "'%.60s' are no dimensions of a torus, such as 4x4x4, 8x8,2 (two nodes at each router) or "
                  "8x8,wrap=1x0 (which of them wrap)",
                  text);
}

static struct pf_fabric *read_ring(const char *text, char *error, size_t error_size)
{
    struct grid *g = pf_calloc(1, sizeof *g);
    const char *end = read_sides(g, text, true);
    g->is_one_way = end && strcmp(end, ",oneway") == 0;
    if (end && g->dimensions == 1 && (g->is_one_way || !*end))
        return outline(g, text, error, error_size);
    return refuse(g, error, error_size,
                  "'%.60s' is no ring, such as 8, 8,2 (two nodes at each router) or 8,oneway", text);
}

static void fit_grid(int64_t hosts, char *numbers, size_t size)
{
    int32_t side[3];
    pf_fabric_fit_grid(hosts, side, 3);
    snprintf(numbers, size, "%dx%dx%d", side[0], side[1], side[2]);
}

static void fit_ring(int64_t hosts, char *numbers, size_t size)
{
    snprintf(numbers, size, "%ld", (long)hosts);
}

/* SimGrid's torus has one host at each router, and wraps in all dimensions. */
static bool grid_cluster(const struct pf_fabric *f, struct pf_fabric_cluster *c)
{
    const struct grid *g = f->shape;
    size_t length = 0;
    strcpy(c->topology, "TORUS");
    c->same_routes = true;
    for (int i = 0; i < g->dimensions; i++) {
        if (!g->wraps[i] || g->is_one_way || !f->is_direct)
            return false;
        c->same_routes = c->same_routes && (g->k[i] % 2 != 0 || g->k[i] == 2);
        length += (size_t)snprintf(c->parameters + length, sizeof c->parameters - length, "%s%d",
                                   i ? "," : "", g->k[i]);
    }
    return true;
}

const struct pf_fabric_kind pf_fabric_kind_torus = {
    .size = sizeof(struct pf_fabric_kind),
    .name = "torus",
    .numbers = "AxBxC[,T][,wrap=1x1x0]",
    .help = "grid that wraps in all or some dimensions, T nodes at each router (1: joined directly)",
    .read = read_torus,
    .fit = fit_grid,
    .most_hosts = PF_FABRIC_HOSTS,
    .cluster = grid_cluster,
};

const struct pf_fabric_kind pf_fabric_kind_mesh = {
    .size = sizeof(struct pf_fabric_kind),
    .name = "mesh",
    .numbers = "AxBxC[,T]",
    .help = "the same without the wraps",
    .read = read_mesh,
    .fit = fit_grid,
    .most_hosts = PF_FABRIC_HOSTS,
    .cluster = grid_cluster,
};

const struct pf_fabric_kind pf_fabric_kind_ring = {
    .size = sizeof(struct pf_fabric_kind),
    .name = "ring",
    .numbers = "N[,T][,oneway]",
    .help = "both ways, or one; T nodes at each router (1)",
    .read = read_ring,
    .fit = fit_ring,
    .most_hosts = PF_FABRIC_HOSTS,
    .cluster = grid_cluster,
};
