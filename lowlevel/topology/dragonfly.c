/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dragonfly (Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", 2008): the
 * routers of a group are all joined or, in a two-dimensional group, those of a row and of a column (Faanes et
 * al., "Cray Cascade", 2012); groups are all joined. The k-th global link of a group is at its router k / H
 * and leads to the k-th other group. Minimal ways have at most one global link: local, global, local.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lowlevel/topology/topology.h"

/* Where a router is. */
struct place {
    int32_t group, row, column;
};

/* A global link at one of a group's routers. */
struct end {
    int32_t router, port;
};

struct dragonfly {
    int32_t terminals, rows, columns, globals, groups;
    int32_t routers; /* of a group */
    int32_t copies;  /* links between two groups */
    /* SimGrid's arrangement: router j of each group has the link to group j, of `width` others' rate. */
    bool is_numbered;
    int32_t width;
    /* The class of virtual channels of global links: 0, that before them; 1, that behind them, and what stays
     * in a group goes in that before them. */
    int32_t global_class;
    /* Tables instead of divisions: of all routers; of a group's global links. */
    struct place *place;
    struct end *end;
};

/* A link to another group. */
struct gate {
    int32_t router, port, far; /* at this side, and the router at the other */
};

static int32_t first_global(const struct dragonfly *d)
{
    return d->terminals + d->columns - 1 + d->rows - 1;
}

/* The number of the link from a group to another among its global links. */
static int32_t slot(const struct dragonfly *d, int32_t from, int32_t to, int32_t copy)
{
    return d->is_numbered ? to : copy * (d->groups - 1) + (to < from ? to : to - 1);
}

static struct gate gate_of(const struct dragonfly *d, int32_t from, int32_t to, int32_t copy)
{
    const struct end *here = &d->end[slot(d, from, to, copy)], *there = &d->end[slot(d, to, from, copy)];
    return (struct gate){from * d->routers + here->router, here->port, to * d->routers + there->router};
}

/* Both of a group. */
static int local_hops(const struct dragonfly *d, int32_t a, int32_t b)
{
    return (d->place[a].column != d->place[b].column) + (d->place[a].row != d->place[b].row);
}

/* The port from a router to another of its row or column. */
static int32_t port_to_column(const struct dragonfly *d, int32_t from, int32_t column)
{
    return d->terminals + (column < d->place[from].column ? column : column - 1);
}

static int32_t port_to_row(const struct dragonfly *d, int32_t from, int32_t row)
{
    return d->terminals + d->columns - 1 + (row < d->place[from].row ? row : row - 1);
}

/* First the column, then the row. */
static int32_t local_port(const struct dragonfly *d, int32_t from, int32_t to)
{
    if (d->place[from].column != d->place[to].column)
        return port_to_column(d, from, d->place[to].column);
    return port_to_row(d, from, d->place[to].row);
}

static bool is_local_whole(const struct pf_fabric *f, int32_t from, int32_t to)
{
    while (f->down && from != to) {
        int32_t port = local_port(f->shape, from, to);
        if (!pf_fabric_is_up(f, from, port))
            return false;
        from = pf_fabric_port(f, from, port)->peer;
    }
    return true;
}

/* The best link from here to another group, and from there to a router (-1: any). False: none works. */
static bool best_gate(const struct pf_fabric *f, int32_t router, int32_t group, int32_t target, int32_t tie,
                      struct gate *best, int *hops)
{
    const struct dragonfly *d = f->shape;
    int32_t own = d->place[router].group;
    *hops = 1000;
    for (int32_t i = 0; i < d->copies; i++) {
        struct gate gate = gate_of(d, own, group, d->copies > 1 ? (tie + i) % d->copies : 0);
        int length =
            local_hops(d, router, gate.router) + 1 + (target < 0 ? 0 : local_hops(d, gate.far, target));
        if (length >= *hops)
            continue;
        if (f->down &&
            (!is_local_whole(f, router, gate.router) || !pf_fabric_is_up(f, gate.router, gate.port) ||
             (target >= 0 && !is_local_whole(f, gate.far, target))))
            continue;
        *best = gate;
        *hops = length;
    }
    return *hops < 1000;
}

static int dragonfly_hops(const struct pf_fabric *f, int32_t router, int32_t node)
{
    const struct dragonfly *d = f->shape;
    int32_t target = node / d->terminals, own = d->place[router].group;
    int32_t group = d->place[target].group;
    if (own == group)
        return local_hops(d, router, target);
    int least = 1000;
    for (int32_t i = 0; i < d->copies; i++) {
        struct gate gate = gate_of(d, own, group, i);
        int length = local_hops(d, router, gate.router) + 1 + local_hops(d, gate.far, target);
        if (length < least)
            least = length;
    }
    return least;
}

static bool leave(const struct pf_fabric *f, int32_t router, int32_t group, int32_t target, int32_t tie,
                  struct pf_packet_hop *hop)
{
    const struct dragonfly *d = f->shape;
    struct gate gate;
    int hops;
    hop->vc = hop->way = 0;
    if (!best_gate(f, router, group, target, tie, &gate, &hops))
        return false;
    hop->port = gate.router == router ? gate.port : local_port(d, router, gate.router);
    if (gate.router == router)
        hop->vc = hop->way = (uint8_t)d->global_class;
    return true;
}

static bool dragonfly_step(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t node, uint8_t way,
                           struct pf_packet_hop *hop)
{
    const struct dragonfly *d = f->shape;
    int32_t target = pf_fabric_router_of(f, node), group = d->place[target].group;
    if (d->place[router].group != group)
        return leave(f, router, group, target, node, hop);
    hop->port = local_port(d, router, target);
    hop->vc = d->global_class ? way : d->groups > 1;
    hop->way = way;
    return is_local_whole(f, router, target);
}

static struct pf_topology_classes dragonfly_step_classes(const struct pf_fabric *f)
{
    const struct dragonfly *d = f->shape;
    return d->groups > 1
               ? (struct pf_topology_classes){2, "a class before and one behind the global link", false}
               : (struct pf_topology_classes){1, "dimension order", false};
}

/* Whether minimal ways lead on behind a port. */
static bool leads_on(const struct pf_fabric *f, int32_t router, int32_t port, int32_t node)
{
    int32_t behind[PF_TOPOLOGY_PORTS], next = pf_fabric_port(f, router, port)->peer;
    return !f->down || (pf_fabric_is_up(f, router, port) && (next == pf_fabric_router_of(f, node) ||
                                                             f->topology->choices(f, next, node, behind)));
}

static int add(const struct pf_fabric *f, int32_t router, int32_t port, int32_t node, int32_t *ports,
               int count)
{
    for (int i = 0; i < count; i++)
        if (ports[i] == port)
            return count;
    if (leads_on(f, router, port, node))
        ports[count++] = port;
    return count;
}

static int add_local(const struct pf_fabric *f, int32_t router, int32_t to, int32_t node, int32_t *ports,
                     int count)
{
    const struct dragonfly *d = f->shape;
    if (d->place[router].column != d->place[to].column)
        count = add(f, router, port_to_column(d, router, d->place[to].column), node, ports, count);
    if (d->place[router].row != d->place[to].row)
        count = add(f, router, port_to_row(d, router, d->place[to].row), node, ports, count);
    return count;
}

static int dragonfly_choices(const struct pf_fabric *f, int32_t router, int32_t node, int32_t *ports)
{
    const struct dragonfly *d = f->shape;
    int32_t target = pf_fabric_router_of(f, node), own = d->place[router].group;
    int32_t group = d->place[target].group;
    int hops = dragonfly_hops(f, router, node), count = 0;
    if (own == group)
        return add_local(f, router, target, node, ports, 0);
    for (int32_t i = 0; i < d->copies; i++) {
        struct gate gate = gate_of(d, own, group, i);
        if (local_hops(d, router, gate.router) + 1 + local_hops(d, gate.far, target) != hops)
            continue;
        count = gate.router == router ? add(f, router, gate.port, node, ports, count)
                                      : add_local(f, router, gate.router, node, ports, count);
    }
    return count;
}

static struct pf_topology_classes dragonfly_choice_classes(const struct pf_fabric *f)
{
    const struct dragonfly *d = f->shape;
    int local = (d->rows > 1) + (d->columns > 1), hops = d->groups > 1 ? 2 * local + 1 : local;
    return (struct pf_topology_classes){hops ? hops : 1, "one class per hop", false};
}

static int32_t dragonfly_groups(const struct pf_fabric *f)
{
    const struct dragonfly *d = f->shape;
    return d->groups;
}

static bool dragonfly_in_group(const struct pf_fabric *f, int32_t router, int32_t group,
                               const struct pf_packet_path *p)
{
    const struct dragonfly *d = f->shape;
    return d->place[router].group == group;
}

static bool dragonfly_step_group(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t group,
                                 uint8_t way, const struct pf_packet_path *p, struct pf_packet_hop *hop)
{
    return leave(f, router, group, -1, p->destination, hop);
}

static struct pf_topology_classes dragonfly_group_classes(const struct pf_fabric *f)
{
    return (struct pf_topology_classes){1, "a class before and one behind each global link", false};
}

static int32_t dragonfly_pick_group(const struct pf_fabric *f, uint64_t random,
                                    const struct pf_packet_path *p)
{
    const struct dragonfly *d = f->shape;
    int32_t nodes = d->terminals * d->routers, a = p->source / nodes, b = p->destination / nodes;
    int32_t low = a < b ? a : b, high = a < b ? b : a, others = d->groups - 1 - (a != b);
    if (others < 1)
        return -1;
    int32_t group = (int32_t)pf_topology_below(random, (uint32_t)others);
    if (group >= low)
        group++;
    return group + (a != b && group >= high);
}

/* A single group is a HyperX. */
static bool dragonfly_is_near(const struct pf_fabric *f, int32_t router, int32_t node)
{
    const struct dragonfly *d = f->shape;
    if (d->groups == 1)
        return pf_topology_is_at(f, router, node);
    return d->place[router].group == d->place[pf_fabric_router_of(f, node)].group;
}

/* In the group of the source. */
static bool dragonfly_may_turn(const struct pf_fabric *f, int32_t router, int32_t port,
                               const struct pf_packet_path *p)
{
    const struct dragonfly *d = f->shape;
    return port < first_global(d) &&
           d->place[router].group != d->place[pf_fabric_router_of(f, p->destination)].group;
}

static struct pf_topology_classes dragonfly_turn_classes(const struct pf_fabric *f)
{
    return (struct pf_topology_classes){1, "a class before the packet turns", false};
}

static int dragonfly_extents(const struct pf_fabric *f, int32_t *extents, int *in_group)
{
    const struct dragonfly *d = f->shape;
    extents[0] = d->terminals;
    extents[1] = d->routers;
    extents[2] = d->groups;
    *in_group = 2;
    return 3;
}

static int32_t dragonfly_ports(const void *shape, int32_t router)
{
    const struct dragonfly *d = shape;
    return first_global(d) + d->globals;
}

static void connect_local(struct pf_fabric *f, int32_t router, const struct pf_fabric_speeds *links)
{
    const struct dragonfly *d = f->shape;
    int32_t column = d->place[router].column, row = d->place[router].row;
    for (int32_t to = column + 1; to < d->columns; to++) {
        int32_t peer = router + to - column;
        pf_fabric_connect(f, router, port_to_column(d, router, to), peer, port_to_column(d, peer, column),
                          PF_LINK_LOCAL, links);
    }
    for (int32_t to = row + 1; to < d->rows; to++) {
        int32_t peer = router + (to - row) * d->columns;
        pf_fabric_connect(f, router, port_to_row(d, router, to), peer, port_to_row(d, peer, row),
                          PF_LINK_COLUMN, links);
    }
}

static void dragonfly_wire(struct pf_fabric *f, const struct pf_fabric_speeds *links)
{
    const struct dragonfly *d = f->shape;
    for (int32_t v = 0; v < f->routers; v++)
        connect_local(f, v, links);
    for (int32_t a = 0; a < d->groups; a++)
        for (int32_t b = a + 1; b < d->groups; b++)
            for (int32_t i = 0; i < d->copies; i++) {
                struct gate here = gate_of(d, a, b, i), there = gate_of(d, b, a, i);
                pf_fabric_connect(f, here.router, here.port, there.router, there.port, PF_LINK_GLOBAL, links);
            }
}

static const struct pf_fabric_ops ops = {
    .size = sizeof(struct pf_fabric_ops),
    .family = "dragonfly",
    .ports = dragonfly_ports,
    .wire = dragonfly_wire,
    .extents = dragonfly_extents,
    .hops = dragonfly_hops,
    .step = dragonfly_step,
    .step_classes = dragonfly_step_classes,
    .choices = dragonfly_choices,
    .choice_classes = dragonfly_choice_classes,
    .choice_class = pf_topology_class_hop,
    .groups = dragonfly_groups,
    .in_group = dragonfly_in_group,
    .step_group = dragonfly_step_group,
    .group_classes = dragonfly_group_classes,
    .pick_group = dragonfly_pick_group,
    .is_near = dragonfly_is_near,
    .may_turn = dragonfly_may_turn,
    .turn_classes = dragonfly_turn_classes,
};

/* The tables, in the block of the shape. */
static struct dragonfly *with_tables(struct dragonfly *d)
{
    int32_t routers = d->groups * d->routers, ends = d->routers * d->globals;
    d = pf_realloc(d, sizeof *d + (size_t)routers * sizeof *d->place + (size_t)ends * sizeof *d->end);
    d->place = (struct place *)(d + 1);
    d->end = (struct end *)(d->place + routers);
    for (int32_t v = 0; v < routers; v++)
        d->place[v] = (struct place){v / d->routers, v / d->columns % d->rows, v % d->columns};
    for (int32_t k = 0; k < ends; k++)
        d->end[k] = (struct end){k / d->globals, first_global(d) + k % d->globals};
    return d;
}

/* "P,A,H[,G][,numbered=W][,global=C]", A may be RxC. */
static bool read_numbers(struct dragonfly *d, const char *text)
{
    const char *end = text;
    int32_t side[2] = {1, 1};
    if (pf_fabric_read_numbers(text, 0, &d->terminals, 1, PF_TOPOLOGY_PORTS, &end) != 1 || *end != ',')
        return false;
    int sides = pf_fabric_read_numbers(end + 1, 'x', side, 2, PF_TOPOLOGY_PORTS, &end);
    if (sides < 1 || *end != ',' ||
        pf_fabric_read_numbers(end + 1, 0, &d->globals, 1, PF_TOPOLOGY_PORTS, &end) != 1)
        return false;
    d->rows = sides == 2 ? side[0] : 1;
    d->columns = side[sides - 1];
    d->routers = d->rows * d->columns;
    d->groups = d->routers * d->globals + 1;
    if (*end == ',' && end[1] >= '0' && end[1] <= '9' &&
        pf_fabric_read_numbers(end + 1, 0, &d->groups, 1, PF_FABRIC_MAX, &end) != 1)
        return false;
    d->width = 1;
    int numbered = pf_fabric_read_option(&end, "numbered", &d->width, 1);
    d->is_numbered = numbered > 0;
    return numbered >= 0 && d->width > 0 && pf_fabric_read_option(&end, "global", &d->global_class, 1) >= 0 &&
           d->global_class <= 1 && !*end;
}

static const char *measure(struct dragonfly *d)
{
    int32_t all[] = {d->groups, d->routers, d->terminals, d->globals};
    if (pf_fabric_product(all, 4) < 0)
        return "it is too large";
    if (first_global(d) + d->globals > PF_TOPOLOGY_PORTS)
        return "a router has more than 512 ports";
    if (d->is_numbered && (d->globals != 1 || d->groups > d->routers))
        return "numbered groups have one global link at each router and at least as many routers as there "
               "are groups";
    d->copies = d->groups == 1 ? 0 : d->is_numbered ? 1 : d->routers * d->globals / (d->groups - 1);
    return d->groups > 1 && d->copies < 1 ? "it has more groups than global links of a group, and one" : NULL;
}

static struct pf_fabric *read_dragonfly(const char *text, char *error, size_t error_size)
{
    struct dragonfly *d = pf_calloc(1, sizeof *d);
    const char *wrong = read_numbers(d, text)
                            ? measure(d)
                            : "nodes and global links at each of the routers of a group, such as "
                              "P,A,H or P,A,H,groups: 2,4,2 or 4,4x16,4,20";
    if (!wrong) {
        int32_t routers = d->groups * d->routers;
        d = with_tables(d);
        struct pf_fabric *f = pf_fabric_outline(&ops, routers * d->terminals, d->terminals, routers, d);
        f->global_width = d->width;
        return f;
    }
    snprintf(error, error_size, "'%.60s' is no dragonfly: %s", text, wrong);
    free(d);
    return NULL;
}

/*
 * Groups of four chassis with four hosts at each router; each pair of groups is joined by four links. A
 * router has one link to another group, and SimGrid goes there by the router of the chassis that has the
 * other group's number: a chassis needs as many routers as there are groups. It has four of them up to 256
 * hosts, then more.
 */
static void fit_dragonfly(int64_t hosts, char *numbers, size_t size)
{
    int32_t side[2];
    pf_fabric_fit_grid(pf_fabric_ceil_div(hosts, 4 * 4), side, 2);
    int32_t routers = side[0] < 4 ? 4 : side[0];
    snprintf(numbers, size, "4,4x%d,1,%ld,numbered=4", routers,
             (long)pf_fabric_ceil_div(hosts, 4 * routers * 4));
}

/* Groups of rows that are numbered otherwise SimGrid does not have. */
static bool dragonfly_cluster(const struct pf_fabric *f, struct pf_fabric_cluster *c)
{
    const struct dragonfly *d = f->shape;
    strcpy(c->topology, "DRAGONFLY");
    snprintf(c->parameters, sizeof c->parameters, "%d,%d;%d,1;%d,1;%d", d->groups, d->width, d->rows,
             d->columns, d->terminals);
    return d->is_numbered && d->columns >= d->groups;
}

const struct pf_fabric_kind pf_fabric_kind_dragonfly = {
    .size = sizeof(struct pf_fabric_kind),
    .name = "dragonfly",
    .numbers = "P,A,H[,G][,numbered=W][,global=C]",
    .help = "P nodes and H global links at each of A (or RxC) routers of a group, G groups",
    .read = read_dragonfly,
    .fit = fit_dragonfly,
    .most_hosts = PF_FABRIC_HOSTS,
    .cluster = dragonfly_cluster,
};

/* As many rows as SimGrid's, and as many groups as have a link to each other. */
static void fit_cascade(int64_t hosts, char *numbers, size_t size)
{
    int32_t side[3];
    pf_fabric_fit_grid(pf_fabric_ceil_div(hosts, 2), side, 3);
    int64_t groups = pf_fabric_ceil_div(hosts, 2 * (int64_t)side[0] * side[0]);
    int64_t globals = pf_fabric_ceil_div(groups - 1, (int64_t)side[0] * side[0]);
    snprintf(numbers, size, "2,%dx%d,%ld,%ld", side[0], side[0], (long)(globals ? globals : 1), (long)groups);
}

const struct pf_fabric_kind pf_fabric_kind_cascade = {
    .size = sizeof(struct pf_fabric_kind),
    .name = "cascade",
    .numbers = "P,RxC,H[,G]",
    .help = "dragonfly whose groups are R rows and C columns, as a Cray XC's",
    .read = read_dragonfly,
    .fit = fit_cascade,
    .most_hosts = PF_FABRIC_HOSTS,
    .cluster = dragonfly_cluster,
};
