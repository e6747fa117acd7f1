/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph, and what the kinds of topologies build it with. */
#include "lowlevel/topology/fabric.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lowlevel/topology/topology.h"

void pf_fabric_equal_links(struct pf_fabric_speeds *links, double rate, double latency, double router_latency)
{
    for (int i = 0; i < PF_LINK_KINDS; i++) {
        links->rate[i] = rate;
        links->latency[i] = latency;
    }
    links->router_latency = router_latency;
}

void pf_fabric_free(struct pf_fabric *fabric)
{
    if (!fabric)
        return;
    free(fabric->first_port);
    free(fabric->ports);
    free(fabric->up);
    free(fabric->shape);
    free(fabric);
}

void pf_fabric_set_up(struct pf_fabric *fabric, int32_t port, bool up)
{
    fabric->down += (int32_t)fabric->up[port] - (int32_t)up;
    fabric->up[port] = up;
}

int pf_fabric_extents(const struct pf_fabric *fabric, int32_t extents[PF_FABRIC_DIGITS], int *in_group)
{
    *in_group = 0;
    return fabric->topology ? fabric->topology->extents(fabric, extents, in_group) : 0;
}

struct pf_fabric *pf_fabric_outline(const struct pf_fabric_ops *ops, int32_t nodes, int32_t terminals,
                                    int32_t routers, void *shape)
{
    struct pf_fabric *f = pf_calloc(1, sizeof *f);
    f->topology = ops;
    f->nodes = nodes;
    f->terminals = terminals;
    f->routers = routers;
    f->global_width = 1;
    f->shape = shape;
    return f;
}

void pf_fabric_add_ports(struct pf_fabric *f, int32_t (*ports)(const void *shape, int32_t router))
{
    size_t vertices = (size_t)f->nodes + (size_t)f->routers;
    f->first_port = pf_calloc(vertices + 1, sizeof *f->first_port);
    for (int32_t v = 0; v < f->routers; v++)
        f->first_port[v + 1] = f->first_port[v] + ports(f->shape, v);
    for (int32_t n = f->routers; n < f->routers + f->nodes; n++)
        f->first_port[n + 1] = f->first_port[n] + 1;
    size_t count = (size_t)f->first_port[vertices];
    f->ports = pf_calloc(count, sizeof *f->ports);
    f->up = pf_calloc(count, sizeof *f->up);
    memset(f->up, 1, count);
    for (size_t i = 0; i < count; i++)
        f->ports[i].peer = f->ports[i].peer_port = -1;
}

void pf_fabric_wire(struct pf_fabric *f, const struct pf_fabric_speeds *links)
{
    struct pf_fabric_speeds own = *links;
    own.rate[PF_LINK_GLOBAL] *= f->global_width;
    pf_fabric_add_ports(f, f->topology->ports);
    for (int32_t n = 0; n < f->nodes; n++)
        pf_fabric_connect(f, n / f->terminals, n % f->terminals, f->routers + n, 0, PF_LINK_NODE, &own);
    f->topology->wire(f, &own);
    f->router_latency = own.router_latency;
}

int64_t pf_fabric_links(const struct pf_fabric *f)
{
    int64_t count = f->nodes;
    for (int32_t v = 0; v < f->routers; v++)
        count += f->topology->ports(f->shape, v);
    return count;
}

int pf_fabric_hops(const struct pf_fabric *f, int32_t from, int32_t to)
{
    return from == to ? 0 : f->topology->hops(f, from / f->terminals, to) + (f->is_direct ? 0 : 2);
}

uint64_t pf_fabric_pair_key(uint64_t seed, int32_t from, int32_t to)
{
    return pf_topology_hash(seed ^ pf_topology_hash((uint64_t)(uint32_t)from << 32 | (uint32_t)to));
}

void pf_fabric_route(const struct pf_fabric *f, uint64_t seed, int32_t from, int32_t to,
                     pf_fabric_link_fn *fn, void *context)
{
    int32_t at = from / f->terminals, end = to / f->terminals;
    uint64_t key = pf_fabric_pair_key(seed, from, to);
    struct pf_packet_hop hop = {0};
    if (from == to)
        return;
    if (!f->is_direct)
        fn(context, f->first_port[f->routers + from]);
    for (; at != end && f->topology->step(f, key, at, to, hop.way, &hop);
         at = pf_fabric_port(f, at, hop.port)->peer)
        fn(context, f->first_port[at] + hop.port);
    if (!f->is_direct)
        fn(context, f->first_port[end] + to % f->terminals);
}

static void connect_one_way(struct pf_fabric *f, int32_t a, int32_t a_port, int32_t b, int32_t b_port,
                            double rate, double latency)
{
    f->ports[f->first_port[a] + a_port] = (struct pf_fabric_port){b, b_port, rate, latency};
}

void pf_fabric_connect(struct pf_fabric *f, int32_t a, int32_t a_port, int32_t b, int32_t b_port,
                       enum pf_fabric_link_kind kind, const struct pf_fabric_speeds *links)
{
    connect_one_way(f, a, a_port, b, b_port, links->rate[kind], links->latency[kind]);
    connect_one_way(f, b, b_port, a, a_port, links->rate[kind], links->latency[kind]);
}

int pf_fabric_read_numbers(const char *text, char separator, int32_t *numbers, int limit, int32_t most,
                           const char **end)
{
    for (int count = 0;;) {
        char *behind;
        errno = 0;
        if (*text < '0' || *text > '9' || count == limit)
            return -1;
        long number = strtol(text, &behind, 10);
        if (errno || number < 1 || number > most)
            return -1;
        numbers[count++] = (int32_t)number;
        text = *end = behind;
        if (!*text || *text != separator)
            return count;
        text++;
    }
}

int64_t pf_fabric_product(const int32_t *numbers, int count)
{
    int64_t product = 1;
    for (int i = 0; i < count; i++) {
        product *= numbers[i];
        if (product > PF_FABRIC_MAX)
            return -1;
    }
    return product;
}

int pf_fabric_read_option(const char **text, const char *name, int32_t *numbers, int limit)
{
    size_t length = strlen(name);
    if (**text != ',' || strncmp(*text + 1, name, length) != 0 || (*text)[1 + length] != '=')
        return 0;
    const char *at = *text + 1 + length;
    for (int count = 0; count < limit;) {
        char *behind;
        if (*++at < '0' || *at > '9')
            return -1;
        long number = strtol(at, &behind, 10);
        if (number > PF_FABRIC_MAX)
            return -1;
        numbers[count++] = (int32_t)number;
        *text = at = behind;
        if (*at != 'x')
            return count;
    }
    return -1;
}

int64_t pf_fabric_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

void pf_fabric_fit_grid(int64_t positions, int32_t *sides, int dimensions)
{
    for (; dimensions > 0; dimensions--) {
        int64_t side = lround(floor(pow((double)positions, 1.0 / dimensions)));
        while (pow((double)side, dimensions) < (double)positions)
            side++;
        *sides++ = (int32_t)(side > 0 ? side : 1);
        positions = pf_fabric_ceil_div(positions, side > 0 ? side : 1);
    }
}
