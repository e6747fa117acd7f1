/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph, and what the topologies build it with. */
#include "lowlevel/network/packet/fabric.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lowlevel/network/packet/topology.h"

void pf_fabric_cables_equal(struct pf_fabric_cables *cables, double rate, double latency,
                            double router_latency)
{
    for (int i = 0; i < PF_CABLE_COUNT; i++) {
        cables->rate[i] = rate;
        cables->latency[i] = latency;
    }
    cables->router_latency = router_latency;
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

struct pf_fabric *pf_fabric_new(const struct pf_fabric_ops *ops, int32_t nodes, int32_t routers, void *shape,
                                int32_t (*ports)(const void *shape, int32_t router))
{
    struct pf_fabric *f = pf_calloc(1, sizeof *f);
    size_t vertices = (size_t)nodes + (size_t)routers;
    f->topology = ops;
    f->nodes = nodes;
    f->routers = routers;
    f->shape = shape;
    f->first_port = pf_calloc(vertices + 1, sizeof *f->first_port);
    for (int32_t v = 0; v < routers; v++)
        f->first_port[v + 1] = f->first_port[v] + ports(shape, v);
    for (int32_t n = 0; n < nodes; n++)
        f->first_port[routers + n + 1] = f->first_port[routers + n] + 1;
    size_t count = (size_t)f->first_port[vertices];
    f->ports = pf_calloc(count, sizeof *f->ports);
    f->up = pf_calloc(count, sizeof *f->up);
    memset(f->up, 1, count);
    for (size_t i = 0; i < count; i++)
        f->ports[i].peer = f->ports[i].peer_port = -1;
    return f;
}

static void connect_one_way(struct pf_fabric *f, int32_t a, int32_t a_port, int32_t b, int32_t b_port,
                            double rate, double latency)
{
    f->ports[f->first_port[a] + a_port] = (struct pf_fabric_port){b, b_port, rate, latency};
}

void pf_fabric_connect(struct pf_fabric *f, int32_t a, int32_t a_port, int32_t b, int32_t b_port,
                       enum pf_fabric_cable kind, const struct pf_fabric_cables *cables)
{
    connect_one_way(f, a, a_port, b, b_port, cables->rate[kind], cables->latency[kind]);
    connect_one_way(f, b, b_port, a, a_port, cables->rate[kind], cables->latency[kind]);
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
