/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dragonfly+ (Shpiner et al., "Dragonfly+: low cost topology for scaling datacenters", 2017), also Megafly: a
 * group is a fat tree of two levels. Its leaves have the nodes, its spines the global links, and each leaf is
 * joined to each spine; groups are all joined. The k-th global link of a group is at its spine k / H and
 * leads to the k-th other group. Minimal ways go up, over at most one global link, and down, which closes no
 * chain of buffers.
 *
 * All leaves are numbered before all spines, group by group.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lowlevel/topology/topology.h"

struct plus {
    int32_t terminals, leaves, spines, globals, groups;
    int32_t copies; /* links between two groups */
    int32_t width;  /* rate of links between switches in that of nodes' links */
};

static int32_t first_spine(const struct plus *d)
{
    return d->groups * d->leaves;
}

static bool is_spine(const struct plus *d, int32_t router)
{
    return router >= first_spine(d);
}

static int32_t group_of(const struct plus *d, int32_t router)
{
    return is_spine(d, router) ? (router - first_spine(d)) / d->spines : router / d->leaves;
}

static int32_t leaf_of(const struct plus *d, int32_t node)
{
    return node / d->terminals;
}

static int32_t spine_at(const struct plus *d, int32_t group, int32_t place)
{
    return first_spine(d) + group * d->spines + place;
}

/* A link from a group to another among its global links. */
static int32_t slot(const struct plus *d, int32_t from, int32_t to, int32_t copy)
{
    return copy * (d->groups - 1) + (to < from ? to : to - 1);
}

static int32_t gate(const struct plus *d, int32_t from, int32_t to, int32_t copy)
{
    return spine_at(d, from, slot(d, from, to, copy) / d->globals);
}

static int32_t gate_port(const struct plus *d, int32_t from, int32_t to, int32_t copy)
{
    return d->leaves + slot(d, from, to, copy) % d->globals;
}

static int32_t up_port(const struct plus *d, int32_t spine)
{
    return d->terminals + (spine - first_spine(d)) % d->spines;
}

static bool goes_down(const struct pf_fabric *f, int32_t spine, int32_t leaf)
{
    const struct plus *d = f->shape;
    return pf_fabric_is_up(f, spine, leaf % d->leaves);
}

/* Whether one of the links from here to another group works, up to a leaf there (-1: any). */
static bool crosses(const struct pf_fabric *f, int32_t from, int32_t to, int32_t copy, int32_t leaf)
{
    const struct plus *d = f->shape;
    return pf_fabric_is_up(f, gate(d, from, to, copy), gate_port(d, from, to, copy)) &&
           (leaf < 0 || goes_down(f, gate(d, to, from, copy), leaf));
}

static bool no_spine_between(const struct plus *d, int32_t router, int32_t group)
{
    for (int32_t i = 0; i < d->copies; i++)
        if (gate(d, group_of(d, router), group, i) == router)
            return false;
    return true;
}

static int plus_hops(const struct pf_fabric *f, int32_t router, int32_t node)
{
    const struct plus *d = f->shape;
    int32_t leaf = leaf_of(d, node), group = group_of(d, leaf);
    bool same = group_of(d, router) == group;
    if (!is_spine(d, router))
        return router == leaf ? 0 : same ? 2 : 3;
    return same ? 1 : no_spine_between(d, router, group) ? 4 : 2;
}

/* The next port from a router to another group, and there to a leaf (-1: any); `tie` says which link is
 * preferred. */
static bool leave(const struct pf_fabric *f, int32_t router, int32_t group, int32_t leaf, uint32_t tie,
                  struct pf_packet_hop *hop)
{
    const struct plus *d = f->shape;
    int32_t own = group_of(d, router);
    for (int32_t i = 0; i < d->copies; i++) {
        int32_t copy = (int32_t)((tie + (uint32_t)i) % (uint32_t)d->copies);
        int32_t spine = gate(d, own, group, copy);
        if (is_spine(d, router) && spine != router)
            continue;
        hop->port = is_spine(d, router) ? gate_port(d, own, group, copy) : up_port(d, spine);
        if (!f->down || (pf_fabric_is_up(f, router, hop->port) && crosses(f, own, group, copy, leaf)))
            return true;
    }
    return false;
}

/* From a leaf to another of its group. */
static bool climb(const struct pf_fabric *f, int32_t router, int32_t leaf, int32_t node,
                  struct pf_packet_hop *hop)
{
    const struct plus *d = f->shape;
    for (int32_t i = 0; i < d->spines; i++) {
        int32_t spine = spine_at(d, group_of(d, router), (node % d->spines + i) % d->spines);
        hop->port = up_port(d, spine);
        if (pf_fabric_is_up(f, router, hop->port) && goes_down(f, spine, leaf))
            return true;
    }
    return false;
}

static bool plus_step(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t node, uint8_t way,
                      struct pf_packet_hop *hop)
{
    const struct plus *d = f->shape;
    int32_t leaf = leaf_of(d, node), group = group_of(d, leaf);
    hop->vc = hop->way = 0;
    if (group_of(d, router) != group)
        return leave(f, router, group, leaf, (uint32_t)node, hop);
    if (!is_spine(d, router))
        return climb(f, router, leaf, node, hop);
    hop->port = leaf % d->leaves;
    return pf_fabric_is_up(f, router, hop->port);
}

static struct pf_topology_classes plus_classes(const struct pf_fabric *f)
{
    return (struct pf_topology_classes){1, "up, over a global link, then down", false};
}

static int plus_choices(const struct pf_fabric *f, int32_t router, int32_t node, int32_t *ports)
{
    const struct plus *d = f->shape;
    int32_t leaf = leaf_of(d, node), own = group_of(d, router), group = group_of(d, leaf);
    int count = 0;
    if (own == group && is_spine(d, router)) {
        ports[0] = leaf % d->leaves;
        return pf_fabric_is_up(f, router, ports[0]);
    }
    for (int32_t i = 0; i < (own == group ? d->spines : d->copies); i++) {
        int32_t spine = own == group ? spine_at(d, own, i) : gate(d, own, group, i);
        bool at = spine == router;
        int32_t port = at ? gate_port(d, own, group, i) : up_port(d, spine);
        if ((is_spine(d, router) && !at) || (count && ports[count - 1] == port))
            continue;
        if (!pf_fabric_is_up(f, router, port) ||
            !(own == group ? goes_down(f, spine, leaf) : crosses(f, own, group, i, leaf)))
            continue;
        ports[count++] = port;
    }
    return count;
}

static int32_t plus_groups(const struct pf_fabric *f)
{
    const struct plus *d = f->shape;
    return d->groups;
}

/* A spine from which no link leads to the destination's group is not yet there: the way goes down from it, so
 * that home begins at a leaf and closes no chain either. */
static bool plus_in_group(const struct pf_fabric *f, int32_t router, int32_t group,
                          const struct pf_packet_path *p)
{
    const struct plus *d = f->shape;
    struct pf_packet_hop hop;
    int32_t leaf = leaf_of(d, p->destination), home = group_of(d, leaf);
    if (group_of(d, router) != group)
        return false;
    return !is_spine(d, router) ||
           (home == group ? goes_down(f, router, leaf) : leave(f, router, home, leaf, 0, &hop));
}

static bool plus_step_group(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t group,
                            uint8_t way, const struct pf_packet_path *p, struct pf_packet_hop *hop)
{
    const struct plus *d = f->shape;
    hop->vc = hop->way = 0;
    if (group_of(d, router) != group)
        return leave(f, router, group, -1, (uint32_t)(key >> 32), hop);
    for (int32_t i = 0; i < d->leaves; i++) {
        hop->port =
            (int32_t)((pf_topology_below(key, (uint32_t)d->leaves) + (uint32_t)i) % (uint32_t)d->leaves);
        if (pf_fabric_is_up(f, router, hop->port))
            return true;
    }
    return false;
}

/* Neither the source's nor the destination's. */
static int32_t plus_pick_group(const struct pf_fabric *f, uint64_t random, const struct pf_packet_path *p)
{
    const struct plus *d = f->shape;
    int32_t a = group_of(d, leaf_of(d, p->source)), b = group_of(d, leaf_of(d, p->destination));
    int32_t low = a < b ? a : b, high = a < b ? b : a, others = d->groups - 1 - (a != b);
    if (others < 1)
        return -1;
    int32_t group = (int32_t)pf_topology_below(random, (uint32_t)others);
    group += group >= low;
    return group + (a != b && group >= high);
}

/* A single group is a tree. */
static bool plus_is_near(const struct pf_fabric *f, int32_t router, int32_t node)
{
    const struct plus *d = f->shape;
    return d->groups == 1 ? pf_topology_is_at(f, router, node)
                          : group_of(d, router) == group_of(d, leaf_of(d, node));
}

/* At the spine of the source's group. */
static bool plus_may_turn(const struct pf_fabric *f, int32_t router, int32_t port,
                          const struct pf_packet_path *p)
{
    const struct plus *d = f->shape;
    return !is_spine(d, router) && group_of(d, router) != group_of(d, leaf_of(d, p->destination));
}

static int plus_extents(const struct pf_fabric *f, int32_t *extents, int *in_group)
{
    const struct plus *d = f->shape;
    extents[0] = d->terminals;
    extents[1] = d->leaves;
    extents[2] = d->groups;
    *in_group = 2;
    return 3;
}

static int32_t plus_ports(const void *shape, int32_t router)
{
    const struct plus *d = shape;
    return is_spine(d, router) ? d->leaves + d->globals : d->terminals + d->spines;
}

static void plus_wire(struct pf_fabric *f, const struct pf_fabric_speeds *links)
{
    const struct plus *d = f->shape;
    struct pf_fabric_speeds wide = *links;
    wide.rate[PF_LINK_LOCAL] *= d->width;
    wide.rate[PF_LINK_GLOBAL] *= d->width;
    for (int32_t leaf = 0; leaf < first_spine(d); leaf++)
        for (int32_t i = 0; i < d->spines; i++)
            pf_fabric_connect(f, leaf, d->terminals + i, spine_at(d, group_of(d, leaf), i), leaf % d->leaves,
                              PF_LINK_LOCAL, &wide);
    for (int32_t a = 0; a < d->groups; a++)
        for (int32_t b = a + 1; b < d->groups; b++)
            for (int32_t i = 0; i < d->copies; i++)
                pf_fabric_connect(f, gate(d, a, b, i), gate_port(d, a, b, i), gate(d, b, a, i),
                                  gate_port(d, b, a, i), PF_LINK_GLOBAL, &wide);
}

static const struct pf_fabric_ops ops = {
    .size = sizeof(struct pf_fabric_ops),
    .family = "dragonflyplus",
    .ports = plus_ports,
    .wire = plus_wire,
    .extents = plus_extents,
    .hops = plus_hops,
    .step = plus_step,
    .step_classes = plus_classes,
    .choices = plus_choices,
    .choice_classes = plus_classes,
    .choice_class = pf_topology_class_0,
    .groups = plus_groups,
    .in_group = plus_in_group,
    .step_group = plus_step_group,
    .group_classes = plus_classes,
    .pick_group = plus_pick_group,
    .is_near = plus_is_near,
    .may_turn = plus_may_turn,
    .turn_classes = plus_classes,
};

/* "P,L,S,H[,G][,width=W]". Returns what is wrong, or NULL. */
static const char *read_shape(struct plus *d, const char *text)
{
    const char *end = text;
    int32_t number[5] = {0};
    int count = 0;
    for (; count < 5 && (!count || (*end == ',' && end[1] >= '0' && end[1] <= '9')); count++)
        if (pf_fabric_read_numbers(end + (count > 0), 0, &number[count], 1, PF_FABRIC_MAX, &end) != 1)
            break;
    *d = (struct plus){.terminals = number[0], .leaves = number[1], .width = 1};
    if (count < 4 || pf_fabric_read_option(&end, "width", &d->width, 1) < 0 || d->width < 1 || *end)
        return "after P,L,S,H and perhaps groups only ,width=W may follow, the rate of links between "
               "switches in that of nodes' links";
    d->spines = number[2];
    d->globals = number[3];
    int64_t globals = (int64_t)d->spines * d->globals, groups = count > 4 ? number[4] : globals + 1;
    if (d->terminals + (int64_t)d->spines > PF_TOPOLOGY_PORTS ||
        d->leaves + (int64_t)d->globals > PF_TOPOLOGY_PORTS)
        return "a switch has more than 512 ports";
    if (groups > globals + 1)
        return "it has more groups than a group has global links, plus one";
    d->groups = (int32_t)groups;
    const int32_t nodes[] = {d->groups, d->leaves, d->terminals}, ups[] = {d->groups, d->leaves, d->spines};
    const int32_t gates[] = {d->groups, d->spines, d->globals};
    if (pf_fabric_product(nodes, 3) < 0 || pf_fabric_product(ups, 3) < 0 || pf_fabric_product(gates, 3) < 0)
        return "it is too large";
    d->copies = d->groups > 1 ? (int32_t)(globals / (d->groups - 1)) : 0;
    return NULL;
}

static struct pf_fabric *read_plus(const char *text, char *error, size_t error_size)
{
    struct plus *d = pf_calloc(1, sizeof *d);
    const char *wrong = read_shape(d, text);
    if (!wrong)
        return pf_fabric_outline(&ops, d->groups * d->leaves * d->terminals, d->terminals,
                                 d->groups * (d->leaves + d->spines), d);
    snprintf(error, error_size, "'%.60s' is no dragonfly+: %s", text, wrong);
    free(d);
    return NULL;
}

/* Groups that are balanced: as many nodes, leaves, spines and global links; more where groups are many. */
static void fit_plus(int64_t hosts, char *numbers, size_t size)
{
    int32_t side[3];
    pf_fabric_fit_grid(hosts, side, 3);
    int64_t each = side[0], groups = pf_fabric_ceil_div(hosts, each * each);
    int64_t globals = pf_fabric_ceil_div(groups - 1, each);
    snprintf(numbers, size, "%ld,%ld,%ld,%ld,%ld", (long)each, (long)each, (long)each,
             (long)(globals > each ? globals : each), (long)groups);
}

const struct pf_fabric_kind pf_fabric_kind_dragonflyplus = {
    .size = sizeof(struct pf_fabric_kind),
    .name = "dragonflyplus",
    .numbers = "P,L,S,H[,G][,width=W]",
    .help = "L leaves with P nodes, all joined to S spines with H global links, in each of G groups",
    .read = read_plus,
    .fit = fit_plus,
    .most_hosts = PF_FABRIC_HOSTS,
    .cluster = pf_fabric_no_cluster,
};
