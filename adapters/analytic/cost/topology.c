/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances in regular topologies by arithmetic. */
#include "adapters/analytic/cost/topology.h"
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int grid_hops(const struct pf_cost_topology *t, int src, int dst)
{
    int hops = 0;
    for (int i = t->dimensions - 1; i >= 0; i--) {
        int k = t->extent[i];
        int delta = src % k - dst % k;
        delta = delta < 0 ? -delta : delta;
        if (t->wraps[i] && k - delta < delta)
            delta = k - delta;
        hops += delta;
        src /= k;
        dst /= k;
    }
    return hops;
}

static int tree_hops(const struct pf_cost_topology *t, int src, int dst)
{
    int level = 0;
    while (src != dst) {
        int children = t->extent[level < t->dimensions ? level : t->dimensions - 1];
        src /= children;
        dst /= children;
        level++;
    }
    return 2 * level;
}

int pf_cost_topology_gateway(const struct pf_cost_topology *t, int from, int to)
{
    return (to < from ? to : to - 1) / t->global_ports;
}

/* Two links between groups can be shorter than one with a hop inside both groups. */
int pf_cost_topology_third_group(const struct pf_cost_topology *t, int group, int router, int to_group,
                                 int to_router)
{
    for (int port = 0; port < t->global_ports; port++) {
        int third = router * t->global_ports + port;
        third += third >= group;
        if (third >= t->extent[0] || third == to_group)
            continue;
        if (pf_cost_topology_gateway(t, third, group) == pf_cost_topology_gateway(t, third, to_group) &&
            pf_cost_topology_gateway(t, to_group, third) == to_router)
            return third;
    }
    return -1;
}

static int dragonfly_hops(const struct pf_cost_topology *t, int src, int dst)
{
    int routers = t->extent[1], nodes = t->extent[2];
    int from = src / nodes, to = dst / nodes;
    if (from == to)
        return 2;
    int group = from / routers, to_group = to / routers;
    from %= routers;
    to %= routers;
    if (group == to_group)
        return 3;
    int local = (pf_cost_topology_gateway(t, group, to_group) != from) +
                (pf_cost_topology_gateway(t, to_group, group) != to);
    if (local == 2 && pf_cost_topology_third_group(t, group, from, to_group, to) >= 0)
        return 4;
    return 3 + local;
}

/* The neighbour of `position` one step along a dimension, or -1 at an end that does not wrap. A twisted wrap
 * moves the other dimension without a further twist. */
int pf_cost_topology_neighbour(const struct pf_cost_topology *t, int position, int dimension, int step)
{
    int x[PF_TOPOLOGY_DIMENSIONS] = {0};
    for (int i = t->dimensions - 1; i >= 0; i--) {
        x[i] = position % t->extent[i];
        position /= t->extent[i];
    }
    x[dimension] += step;
    if (x[dimension] < 0 || x[dimension] == t->extent[dimension]) {
        if (!t->wraps[dimension])
            return -1;
        int other = (dimension + t->twist) % t->dimensions, k = t->extent[other];
        x[dimension] = x[dimension] < 0 ? t->extent[dimension] - 1 : 0;
        x[other] = ((x[other] + step * t->jump[dimension]) % k + k) % k;
    }
    int result = 0;
    for (int i = 0; i < t->dimensions; i++)
        result = result * t->extent[i] + x[i];
    return result;
}

static unsigned short *twisted_search(const struct pf_cost_topology *t, int from)
{
    unsigned short *distance = pf_malloc((size_t)t->size * sizeof *distance);
    int *queue = pf_malloc((size_t)t->size * sizeof *queue);
    memset(distance, 0xff, (size_t)t->size * sizeof *distance);
    int head = 0, tail = 0;
    distance[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        int at = queue[head++];
        for (int way = 0; way < 2 * t->dimensions; way++) {
            int next = pf_cost_topology_neighbour(t, at, way / 2, way % 2 ? 1 : -1);
            if (next < 0 || distance[next] != UINT16_MAX)
                continue;
            distance[next] = (unsigned short)(distance[at] + 1);
            queue[tail++] = next;
        }
    }
    free(queue);
    return distance;
}

int pf_cost_topology_hops(const struct pf_cost_topology *t, int src, int dst)
{
    int delta = dst - src;
    if (delta == 0)
        return 0;
    switch (t->kind) {
    case PF_TOPOLOGY_STAR:
        return 2;
    case PF_TOPOLOGY_RING:
        return delta > 0 ? delta : t->size + delta;
    case PF_TOPOLOGY_RING_TWO:
        delta = delta > 0 ? delta : -delta;
        return delta < t->size - delta ? delta : t->size - delta;
    case PF_TOPOLOGY_MESH:
        return grid_hops(t, src, dst);
    case PF_TOPOLOGY_TWISTED:
        if (!t->rows[src])
            t->rows[src] = twisted_search(t, src);
        return t->rows[src][dst];
    case PF_TOPOLOGY_TREE:
        return tree_hops(t, src, dst);
    case PF_TOPOLOGY_DRAGONFLY:
        return dragonfly_hops(t, src, dst);
    }
    return 0;
}

void pf_cost_topology_clear(struct pf_cost_topology *t)
{
    for (int i = 0; t->rows && i < t->size; i++)
        free(t->rows[i]);
    free(t->rows);
    t->rows = NULL;
}
