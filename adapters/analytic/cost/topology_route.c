/* SPDX-License-Identifier: BSD-3-Clause */
/* Which links the path between two positions takes. */
#include "adapters/analytic/cost/topology.h"

/* Who gets the links of a path. */
struct taker {
    pf_cost_topology_link_fn *fn;
    void *context;
};

static void take(const struct taker *to, size_t link)
{
    to->fn(to->context, link);
}

/* Subtrees of the level above the leaves' switches, and so on. */
static int subtrees(int positions, int children)
{
    return positions / children + (positions % children != 0);
}

static int children_at(const struct pf_cost_topology *t, int level)
{
    return t->extent[level < t->dimensions ? level : t->dimensions - 1];
}

/* Links upwards from the nodes and from the switches of every level that has more than one. A fat tree has
 * as many at each level as leaves. */
static size_t tree_links(const struct pf_cost_topology *t)
{
    size_t count = 0;
    int level = 0;
    for (int positions = t->size; positions > 1; positions = subtrees(positions, children_at(t, level++)))
        count += (size_t)(t->wide ? t->size : positions);
    return 2 * count;
}

size_t pf_cost_topology_links(const struct pf_cost_topology *t)
{
    size_t size = (size_t)t->size, groups = (size_t)t->extent[0], routers = (size_t)t->extent[1];
    switch (t->kind) {
    case PF_TOPOLOGY_RING:
        return size;
    case PF_TOPOLOGY_STAR:
    case PF_TOPOLOGY_RING_TWO:
        return 2 * size;
    case PF_TOPOLOGY_MESH:
    case PF_TOPOLOGY_TWISTED:
        return 2 * size * (size_t)t->dimensions;
    case PF_TOPOLOGY_TREE:
        return tree_links(t);
    case PF_TOPOLOGY_DRAGONFLY:
        return 2 * size + groups * routers * routers + groups * groups;
    }
    return 0;
}

static void ring_route(const struct pf_cost_topology *t, int src, int dst, const struct taker *to)
{
    int up = dst > src ? dst - src : t->size - (src - dst);
    bool both = t->kind == PF_TOPOLOGY_RING_TWO, down = both && t->size - up < up;
    for (int at = src; at != dst;) {
        take(to, both ? 2 * (size_t)at + down : (size_t)at);
        at = down ? (at ? at - 1 : t->size - 1) : (at + 1 == t->size ? 0 : at + 1);
    }
}

/* One step from `at` along a dimension, in which neighbours are `stride` positions apart. */
static int grid_step(int at, int stride, int extent, bool down)
{
    int x = at / stride % extent;
    if (down)
        return x ? at - stride : at + (extent - 1) * stride;
    return x + 1 < extent ? at + stride : at - (extent - 1) * stride;
}

static void grid_route(const struct pf_cost_topology *t, int src, int dst, const struct taker *to)
{
    int at = src, stride = 1;
    for (int i = t->dimensions - 1; i >= 0; i--) {
        int k = t->extent[i], from = src / stride % k, target = dst / stride % k;
        int delta = target < from ? from - target : target - from;
        bool wrap = t->wraps[i] && k - delta < delta, down = (target < from) != wrap;
        for (int steps = wrap ? k - delta : delta; steps > 0; steps--) {
            take(to, 2 * ((size_t)at * (size_t)t->dimensions + (size_t)i) + down);
            at = grid_step(at, stride, k, down);
        }
        stride *= k;
    }
}

/* The first neighbour that is nearer. Distances are the same in both directions. */
static void twisted_route(const struct pf_cost_topology *t, int src, int dst, const struct taker *to)
{
    int left = pf_cost_topology_hops(t, dst, src);
    for (int at = src; left > 0; left--) {
        int way = 0, next = -1;
        for (; way < 2 * t->dimensions; way++) {
            next = pf_cost_topology_neighbour(t, at, way / 2, way % 2 ? 1 : -1);
            if (next >= 0 && pf_cost_topology_hops(t, dst, next) == left - 1)
                break;
        }
        take(to, 2 * (size_t)at * (size_t)t->dimensions + (size_t)way);
        at = next;
    }
}

/*
 * Up to the common ancestor and down again. In a fat tree the target's number among the leaves of a subtree
 * says which of its links upwards is taken, so that there is one way down to each leaf.
 */
static void tree_route(const struct pf_cost_topology *t, int src, int dst, const struct taker *to)
{
    int levels = 0, positions = t->size, wide = 1;
    size_t offset = 0, down[32];
    for (int from = src, target = dst; from != target && levels < 32; levels++) {
        int children = children_at(t, levels);
        int up = t->wide ? from * wide + dst % wide : from;
        down[levels] = 2 * (offset + (size_t)(t->wide ? dst : target)) + 1;
        take(to, 2 * (offset + (size_t)up));
        offset += (size_t)(t->wide ? t->size : positions);
        positions = subtrees(positions, children);
        wide *= t->wide ? children : 1;
        from /= children;
        target /= children;
    }
    while (levels-- > 0)
        take(to, down[levels]);
}

/* A node's links, those inside each group, those between groups. */
static void local(const struct pf_cost_topology *t, int group, int from, int to_router,
                  const struct taker *to)
{
    size_t routers = (size_t)t->extent[1];
    if (from != to_router)
        take(to,
             2 * (size_t)t->size + ((size_t)group * routers + (size_t)from) * routers + (size_t)to_router);
}

static void global(const struct pf_cost_topology *t, int group, int to_group, const struct taker *to)
{
    size_t groups = (size_t)t->extent[0], routers = (size_t)t->extent[1];
    take(to, 2 * (size_t)t->size + groups * routers * routers + (size_t)group * groups + (size_t)to_group);
}

static void dragonfly_route(const struct pf_cost_topology *t, int src, int dst, const struct taker *to)
{
    int routers = t->extent[1], nodes = t->extent[2], from = src / nodes, target = dst / nodes;
    int group = from / routers, to_group = target / routers, third = -1;
    from %= routers;
    target %= routers;
    take(to, 2 * (size_t)src);
    if (group == to_group) {
        local(t, group, from, target, to);
    } else {
        int leave = pf_cost_topology_gateway(t, group, to_group),
            enter = pf_cost_topology_gateway(t, to_group, group);
        if (leave != from && enter != target)
            third = pf_cost_topology_third_group(t, group, from, to_group, target);
        if (third >= 0) {
            global(t, group, third, to);
            global(t, third, to_group, to);
        } else {
            local(t, group, from, leave, to);
            global(t, group, to_group, to);
            local(t, to_group, enter, target, to);
        }
    }
    take(to, 2 * (size_t)dst + 1);
}

void pf_cost_topology_route(const struct pf_cost_topology *t, int src, int dst, pf_cost_topology_link_fn *fn,
                            void *context)
{
    struct taker to = {fn, context};
    if (src == dst)
        return;
    switch (t->kind) {
    case PF_TOPOLOGY_STAR:
        take(&to, 2 * (size_t)src);
        take(&to, 2 * (size_t)dst + 1);
        break;
    case PF_TOPOLOGY_RING:
    case PF_TOPOLOGY_RING_TWO:
        ring_route(t, src, dst, &to);
        break;
    case PF_TOPOLOGY_MESH:
        grid_route(t, src, dst, &to);
        break;
    case PF_TOPOLOGY_TWISTED:
        twisted_route(t, src, dst, &to);
        break;
    case PF_TOPOLOGY_TREE:
        tree_route(t, src, dst, &to);
        break;
    case PF_TOPOLOGY_DRAGONFLY:
        dragonfly_route(t, src, dst, &to);
        break;
    }
}
