/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fat trees as parallel ports generalised fat trees (Zahavi, "D-Mod-K routing providing non-blocking traffic
 * for shift permutations on real life fat trees", 2010): level l has m[l] children and w[l + 1] parents, by
 * p[l] links each. A star is the tree of one level. Packets go up, then down, which closes no chain of
 * buffers.
 *
 * A router of level l is (high, low): high are the digits of its subtree, low those that the choices upwards
 * have given: a node n is below it when n / M(l) = high, with M(l) the leaves of such a subtree.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "lowlevel/topology/topology.h"

enum { LEVELS = 22 }; /* of a binary tree with the most hosts */

struct tree {
    int levels;
    /* [l] for level l, from 1 */
    int32_t m[LEVELS + 2], w[LEVELS + 2], p[LEVELS + 2];
    int32_t below[LEVELS + 2];  /* M(l), leaves */
    int32_t wide[LEVELS + 2];   /* W(l), routers with one high part */
    int32_t stride[LEVELS + 2]; /* product of w p up to l: which digit d-mod-k looks at */
    int32_t first[LEVELS + 2];  /* router */
    struct place *place;        /* of all routers */
};

struct place {
    int level;
    int32_t high, low;
};

static struct place find_place(const struct tree *t, int32_t router)
{
    struct place at = {1, 0, 0};
    while (at.level < t->levels && router >= t->first[at.level + 1])
        at.level++;
    router -= t->first[at.level];
    at.high = router / t->wide[at.level];
    at.low = router % t->wide[at.level];
    return at;
}

static inline struct place place_of(const struct tree *t, int32_t router)
{
    return t->place[router];
}

static int32_t number_of(const struct tree *t, const struct place *at)
{
    return t->first[at->level] + at->high * t->wide[at->level] + at->low;
}

static bool is_above(const struct tree *t, const struct place *at, int32_t node)
{
    return node / t->below[at->level] == at->high;
}

/* Upwards, port number `up` of them. */
static struct place parent(const struct tree *t, const struct place *at, int32_t up)
{
    int l = at->level;
    return (struct place){l + 1, at->high / t->m[l + 1], at->low + up % t->w[l + 1] * t->wide[l]};
}

static struct place child_towards(const struct tree *t, const struct place *at, int32_t node)
{
    int l = at->level - 1;
    return (struct place){l, node / t->below[l], at->low % t->wide[l]};
}

static int32_t ups(const struct tree *t, int level)
{
    return level < t->levels ? t->w[level + 1] * t->p[level + 1] : 0;
}

static int32_t up_port(const struct tree *t, int level, int32_t up)
{
    return t->m[level] * t->p[level] + up;
}

static int tree_hops(const struct pf_fabric *f, int32_t router, int32_t node)
{
    const struct tree *t = f->shape;
    struct place at = place_of(t, router);
    int hops = 0;
    int32_t high = at.high;
    while (node / t->below[at.level] != high) {
        at.level++;
        high /= t->m[at.level];
        hops++;
    }
    return hops + at.level - 1;
}

/* The port down to the node, of parallel links the one that d-mod-k says or, when it is down, another; -1.
 */
static int32_t down_port(const struct pf_fabric *f, const struct place *at, int32_t node)
{
    const struct tree *t = f->shape;
    int l = at->level;
    int32_t child = l > 1 ? node / t->below[l - 1] % t->m[l] : node % t->m[1], router = number_of(t, at);
    int32_t first = t->p[l] > 1 ? node / t->stride[l - 1] / t->w[l] % t->p[l] : 0;
    for (int32_t i = 0; i < t->p[l]; i++) {
        int32_t port = child * t->p[l] + (first + i < t->p[l] ? first + i : first + i - t->p[l]);
        if (pf_fabric_is_up(f, router, port))
            return port;
    }
    return -1;
}

static bool leads_down(const struct pf_fabric *f, struct place at, int32_t node)
{
    for (; at.level > 1; at = child_towards(f->shape, &at, node))
        if (down_port(f, &at, node) < 0)
            return false;
    return true;
}

/* The port up from which there is a way, `digits` saying which one is preferred; -1. */
static int32_t up_towards(const struct pf_fabric *f, const struct place *at, int32_t node, int32_t digits)
{
    const struct tree *t = f->shape;
    int32_t count = ups(t, at->level), first = count ? digits / t->stride[at->level] % count : 0;
    if (!f->down)
        return first;
    for (int32_t i = 0; i < count; i++) {
        int32_t up = (first + i) % count;
        struct place above = parent(t, at, up);
        if (!pf_fabric_is_up(f, number_of(t, at), up_port(t, at->level, up)))
            continue;
        if (is_above(t, &above, node) ? leads_down(f, above, node) : up_towards(f, &above, node, digits) >= 0)
            return up;
    }
    return -1;
}

static bool step(const struct pf_fabric *f, int32_t router, int32_t node, int32_t digits,
                 struct pf_packet_hop *hop)
{
    const struct tree *t = f->shape;
    struct place at = place_of(t, router);
    hop->vc = 0;
    hop->way = 0;
    if (is_above(t, &at, node)) {
        hop->port = down_port(f, &at, node);
        return hop->port >= 0;
    }
    int32_t up = up_towards(f, &at, node, digits);
    hop->port = up_port(t, at.level, up);
    return up >= 0;
}

static bool tree_step(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t node, uint8_t way,
                      struct pf_packet_hop *hop)
{
    return step(f, router, node, node, hop);
}

static struct pf_topology_classes tree_classes(const struct pf_fabric *f)
{
    return (struct pf_topology_classes){1, "up, then down", false};
}

static int tree_choices(const struct pf_fabric *f, int32_t router, int32_t node, int32_t *ports)
{
    const struct tree *t = f->shape;
    struct place at = place_of(t, router);
    int count = 0;
    if (is_above(t, &at, node)) {
        int32_t working = down_port(f, &at, node), port = working / t->p[at.level] * t->p[at.level];
        if (working < 0)
            return 0;
        for (int32_t i = 0; i < t->p[at.level]; i++)
            if (pf_fabric_is_up(f, router, port + i))
                ports[count++] = port + i;
        return count;
    }
    for (int32_t up = 0; up < ups(t, at.level); up++) {
        struct place above = parent(t, &at, up);
        if (f->down && (!pf_fabric_is_up(f, router, up_port(t, at.level, up)) ||
                        !(is_above(t, &above, node) ? leads_down(f, above, node)
                                                    : up_towards(f, &above, node, node) >= 0)))
            continue;
        ports[count++] = up_port(t, at.level, up);
    }
    return count;
}

/* As groups, the highest routers: away is a random way up to a common ancestor, where home begins. */
static int32_t tree_groups(const struct pf_fabric *f)
{
    const struct tree *t = f->shape;
    return t->stride[t->levels];
}

static bool tree_in_group(const struct pf_fabric *f, int32_t router, int32_t group,
                          const struct pf_packet_path *p)
{
    const struct tree *t = f->shape;
    struct place at = place_of(t, router);
    return is_above(t, &at, p->destination);
}

static bool tree_step_group(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t group,
                            uint8_t way, const struct pf_packet_path *p, struct pf_packet_hop *hop)
{
    return step(f, router, p->destination, group, hop);
}

static struct pf_topology_classes tree_group_classes(const struct pf_fabric *f)
{
    return (struct pf_topology_classes){0, "up to a random common ancestor, then down", false};
}

static int32_t tree_pick_group(const struct pf_fabric *f, uint64_t random, const struct pf_packet_path *p)
{
    return (int32_t)pf_topology_below(random, (uint32_t)tree_groups(f));
}

static bool tree_may_turn(const struct pf_fabric *f, int32_t router, int32_t port,
                          const struct pf_packet_path *p)
{
    const struct tree *t = f->shape;
    struct place at = place_of(t, router);
    return p->hops == 0 && port >= up_port(t, at.level, 0);
}

static int tree_extents(const struct pf_fabric *f, int32_t *extents, int *in_group)
{
    const struct tree *t = f->shape;
    *in_group = 1;
    for (int l = 1; l <= t->levels; l++)
        extents[l - 1] = t->m[l];
    return t->levels;
}

static int32_t tree_ports(const void *shape, int32_t router)
{
    const struct tree *t = shape;
    int level = place_of(t, router).level;
    return up_port(t, level, ups(t, level));
}

static void tree_wire(struct pf_fabric *f, const struct pf_fabric_speeds *links)
{
    const struct tree *t = f->shape;
    for (int32_t v = 0; v < f->routers; v++) {
        struct place at = place_of(t, v);
        for (int32_t up = 0; up < ups(t, at.level); up++) {
            int above = at.level + 1;
            struct place to = parent(t, &at, up);
            int32_t child = at.high % t->m[above];
            pf_fabric_connect(f, v, up_port(t, at.level, up), number_of(t, &to),
                              child * t->p[above] + up / t->w[above], PF_LINK_LOCAL, links);
        }
    }
}

static const struct pf_fabric_ops ops = {
    .size = sizeof(struct pf_fabric_ops),
    .family = "tree",
    .ports = tree_ports,
    .wire = tree_wire,
    .extents = tree_extents,
    .hops = tree_hops,
    .step = tree_step,
    .step_classes = tree_classes,
    .choices = tree_choices,
    .choice_classes = tree_classes,
    .choice_class = pf_topology_class_0,
    .groups = tree_groups,
    .in_group = tree_in_group,
    .step_group = tree_step_group,
    .group_classes = tree_group_classes,
    .pick_group = tree_pick_group,
    .is_near = pf_topology_is_at,
    .may_turn = tree_may_turn,
    .turn_classes = tree_classes,
};

/* From m, w, p, and levels. Returns what is wrong, or NULL. */
static const char *measure(struct tree *t, int32_t *nodes, int32_t *routers)
{
    int64_t leaves = 1, sum = 0;
    t->below[0] = t->wide[0] = t->stride[0] = 1;
    if (t->w[1] != 1 || t->p[1] != 1)
        return "a node must have one link (the first of W and of P must be 1)";
    for (int l = 1; l <= t->levels; l++) {
        int32_t wide[] = {t->wide[l - 1], t->w[l]}, below[] = {t->below[l - 1], t->m[l]};
        int32_t stride[] = {t->stride[l - 1], t->w[l], t->p[l]};
        if (pf_fabric_product(wide, 2) < 0 || pf_fabric_product(below, 2) < 0 ||
            pf_fabric_product(stride, 3) < 0)
            return "it is too large";
        t->below[l] = (int32_t)pf_fabric_product(below, 2);
        t->wide[l] = (int32_t)pf_fabric_product(wide, 2);
        t->stride[l] = (int32_t)pf_fabric_product(stride, 3);
        leaves = t->below[l];
    }
    for (int l = 1; l <= t->levels; l++) {
        t->first[l] = (int32_t)sum;
        sum += leaves / t->below[l] * t->wide[l];
        if (sum > PF_FABRIC_MAX)
            return "it is too large";
        if (up_port(t, l, ups(t, l)) > PF_TOPOLOGY_PORTS && t->levels > 1)
            return "a switch has more than 512 ports";
    }
    *nodes = (int32_t)leaves;
    *routers = (int32_t)sum;
    return NULL;
}

/* The table of places, in the block of the shape. */
static struct tree *with_places(struct tree *t, int32_t routers)
{
    t = pf_realloc(t, sizeof *t + (size_t)routers * sizeof *t->place);
    t->place = (struct place *)(t + 1);
    for (int32_t v = 0; v < routers; v++)
        t->place[v] = find_place(t, v);
    return t;
}

static struct pf_fabric *outline(struct tree *t, const char *text, char *error, size_t error_size)
{
    int32_t nodes, routers;
    const char *wrong = measure(t, &nodes, &routers);
    if (!wrong) {
        t = with_places(t, routers);
        return pf_fabric_outline(&ops, nodes, t->m[1], routers, t);
    }
    snprintf(error, error_size, "'%.60s' is no tree: %s", text, wrong);
    free(t);
    return NULL;
}

/* "L;M,..;W,..;P,.." */
static bool read_fields(struct tree *t, const char *text)
{
    const char *end = text;
    int32_t levels;
    if (pf_fabric_read_numbers(text, 0, &levels, 1, LEVELS, &end) != 1)
        return false;
    t->levels = levels;
    int32_t *fields[] = {t->m, t->w, t->p};
    for (int i = 0; i < 3; i++)
        if (*end != ';' ||
            pf_fabric_read_numbers(end + 1, ',', fields[i] + 1, LEVELS, PF_FABRIC_MAX, &end) != levels)
            return false;
    return !*end;
}

/* "K,N[,S]" */
static bool read_kary(struct tree *t, const char *text)
{
    const char *end = text;
    int32_t number[3] = {0, 0, 1};
    int count = pf_fabric_read_numbers(text, ',', number, 3, PF_FABRIC_MAX, &end);
    if (count < 2 || *end || number[1] > LEVELS || number[0] % number[2])
        return false;
    t->levels = number[1];
    for (int l = 1; l <= t->levels; l++) {
        t->m[l] = number[0];
        t->w[l] = l == 1 ? 1 : number[0] / number[2];
        t->p[l] = 1;
    }
    return true;
}

/* "AxBxC": children by level from the nodes up, with full bisection. */
static bool read_sides(struct tree *t, const char *text)
{
    const char *end = text;
    t->levels = pf_fabric_read_numbers(text, 'x', t->m + 1, LEVELS, PF_FABRIC_MAX, &end);
    for (int l = 1; l <= t->levels; l++) {
        t->w[l] = l == 1 ? 1 : t->m[l - 1];
        t->p[l] = 1;
    }
    return t->levels > 0 && !*end;
}

static struct pf_fabric *read_fat_tree(const char *text, char *error, size_t error_size)
{
    struct tree *t = pf_calloc(1, sizeof *t);
    if (read_kary(t, text) || read_fields(t, text) || read_sides(t, text))
        return outline(t, text, error, error_size);
    snprintf(
        error, error_size,
        "'%.60s' is no tree: K,N or K,N,S (S divides K, N up to %d), such as 4,3; AxBxC, such as 4x4; or "
        "L;M,..;W,..;P,.., such as 2;4,4;1,2;1,1",
        text, LEVELS);
    free(t);
    return NULL;
}

/*
 * Full bisection from switches with 48 ports, 24 down and 24 up (BXI's switch). Two levels as long as they
 * reach, with leaves as wide as the number of leaves, so that small examples have a tree and not one
 * crossbar. Or switches with as many hosts as a machine says.
 */
enum { DOWN = 24 };

static void fit_fat_tree(int64_t hosts, char *numbers, size_t size)
{
    int32_t leaf[2] = {(int32_t)pf_config.platform_leaf}, down = leaf[0] ? leaf[0] : DOWN;
    if (hosts > 2 * (int64_t)down * down) {
        snprintf(numbers, size, "%dx%dx%ld", down, down,
                 (long)pf_fabric_ceil_div(hosts, (int64_t)down * down));
        return;
    }
    if (!leaf[0])
        pf_fabric_fit_grid(hosts, leaf, 2);
    if (leaf[0] > down || leaf[0] > hosts)
        leaf[0] = hosts < down ? (int32_t)hosts : down;
    snprintf(numbers, size, "%dx%ld", leaf[0], (long)pf_fabric_ceil_div(hosts, leaf[0]));
}

static void append(char *text, size_t size, const char *separator, int32_t number)
{
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%d", separator, number);
}

static bool tree_cluster(const struct pf_fabric *f, struct pf_fabric_cluster *c)
{
    const struct tree *t = f->shape;
    const int32_t *const fields[] = {t->m, t->w, t->p};
    strcpy(c->topology, "FAT_TREE");
    c->same_routes = true;
    snprintf(c->parameters, sizeof c->parameters, "%d", t->levels);
    for (int i = 0; i < 3; i++)
        for (int l = 1; l <= t->levels; l++) {
            append(c->parameters, sizeof c->parameters, l == 1 ? ";" : ",", fields[i][l]);
            c->same_routes = c->same_routes && t->p[l] == 1;
        }
    return true;
}

const struct pf_fabric_kind pf_fabric_kind_fattree = {
    .size = sizeof(struct pf_fabric_kind),
    .name = "fattree",
    .numbers = "K,N[,S] or AxBxC or L;M,..;W,..;P,..",
    .help =
        "K-ary N-tree, slimmed by S; full bisection of switches with A, B, C children; or SimGrid's fields",
    .read = read_fat_tree,
    .fit = fit_fat_tree,
    .most_hosts = DOWN * DOWN * 2 * DOWN,
    .cluster = tree_cluster,
};

/* "K,N": a K-ary tree of N levels, with one link upwards from each switch. */
static struct pf_fabric *read_tree(const char *text, char *error, size_t error_size)
{
    struct tree *t = pf_calloc(1, sizeof *t);
    const char *end = text;
    int32_t number[2];
    if (pf_fabric_read_numbers(text, ',', number, 2, PF_FABRIC_MAX, &end) == 2 && !*end &&
        number[1] <= LEVELS) {
        t->levels = number[1];
        for (int l = 1; l <= t->levels; l++) {
            t->m[l] = number[0];
            t->w[l] = t->p[l] = 1;
        }
        return outline(t, text, error, error_size);
    }
    snprintf(error, error_size, "'%.60s' is no tree: K,N (N up to %d), such as 2,4", text, LEVELS);
    free(t);
    return NULL;
}

static void fit_tree(int64_t hosts, char *numbers, size_t size)
{
    int levels = 1;
    for (int64_t reach = 2; reach < hosts; reach *= 2)
        levels++;
    snprintf(numbers, size, "2,%d", levels);
}

const struct pf_fabric_kind pf_fabric_kind_tree = {
    .size = sizeof(struct pf_fabric_kind),
    .name = "tree",
    .numbers = "K,N",
    .help = "K-ary tree of N levels, one link upwards from each switch",
    .read = read_tree,
    .fit = fit_tree,
    .most_hosts = PF_FABRIC_HOSTS,
    .cluster = tree_cluster,
};

/* "P,L,S": L leaves with P nodes each, which all have a link to each of S spines. */
static struct pf_fabric *read_two_levels(const char *text, char *error, size_t error_size)
{
    struct tree *t = pf_calloc(1, sizeof *t);
    const char *end = text;
    int32_t number[3];
    if (pf_fabric_read_numbers(text, ',', number, 3, PF_FABRIC_MAX, &end) == 3 && !*end) {
        *t = (struct tree){
            .levels = 2, .m = {0, number[0], number[1]}, .w = {0, 1, number[2]}, .p = {0, 1, 1}};
        return outline(t, text, error, error_size);
    }
    snprintf(error, error_size, "'%.60s' are no nodes at each leaf, leaves and spines, such as 16,8,4", text);
    free(t);
    return NULL;
}

/* Half as many links upwards as nodes. */
static void fit_two_levels(int64_t hosts, char *numbers, size_t size)
{
    int32_t side[2];
    pf_fabric_fit_grid(hosts, side, 2);
    snprintf(numbers, size, "%d,%d,%d", side[0], side[1], (side[0] + 1) / 2);
}

const struct pf_fabric_kind pf_fabric_kind_twolevels = {
    .size = sizeof(struct pf_fabric_kind),
    .name = "twolevels",
    .numbers = "P,L,S",
    .help = "L leaves with P nodes each, all joined to each of S spines",
    .read = read_two_levels,
    .fit = fit_two_levels,
    .most_hosts = 65536,
    .cluster = tree_cluster,
};

static struct pf_fabric *read_star(const char *text, char *error, size_t error_size)
{
    struct tree *t = pf_calloc(1, sizeof *t);
    const char *end = text;
    t->levels = t->w[1] = t->p[1] = 1;
    if (pf_fabric_read_numbers(text, 0, &t->m[1], 1, PF_FABRIC_MAX, &end) == 1 && !*end)
        return outline(t, text, error, error_size);
    snprintf(error, error_size, "'%.60s' is no number of nodes of a star, from 1 to %d", text, PF_FABRIC_MAX);
    free(t);
    return NULL;
}

static void fit_star(int64_t hosts, char *numbers, size_t size)
{
    snprintf(numbers, size, "%ld", (long)hosts);
}

static bool star_cluster(const struct pf_fabric *f, struct pf_fabric_cluster *cluster)
{
    strcpy(cluster->topology, "FLAT");
    cluster->same_routes = true;
    return true;
}

const struct pf_fabric_kind pf_fabric_kind_star = {
    .size = sizeof(struct pf_fabric_kind),
    .name = "star",
    .numbers = "N",
    .help = "crossbar: one router with N nodes",
    .read = read_star,
    .fit = fit_star,
    .most_hosts = PF_FABRIC_HOSTS,
    .cluster = star_cluster,
};
