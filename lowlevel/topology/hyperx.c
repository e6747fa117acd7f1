/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HyperX: the routers that differ in one coordinate only are all joined (Ahn et al., "HyperX: topology,
 * routing, and packaging of efficient large-scale networks", 2009); with one dimension a full mesh, with
 * equal extents a flattened butterfly (Kim, Dally, Abts, 2007).
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lowlevel/topology/topology.h"

enum { DIMENSIONS = 6 };

struct hyperx {
    int dimensions;
    int32_t k[DIMENSIONS], stride[DIMENSIONS];
    int32_t base[DIMENSIONS + 1]; /* first port of a dimension */
    int32_t terminals;
};

static int32_t coordinate(const struct hyperx *x, int32_t router, int i)
{
    return router / x->stride[i] % x->k[i];
}

static int32_t port_to(const struct hyperx *x, int i, int32_t from, int32_t to)
{
    return x->base[i] + (to < from ? to : to - 1);
}

static int hyperx_hops(const struct pf_fabric *f, int32_t router, int32_t node)
{
    const struct hyperx *x = f->shape;
    int32_t target = node / x->terminals;
    int hops = 0;
    for (int i = 0; i < x->dimensions; i++)
        hops += coordinate(x, router, i) != coordinate(x, target, i);
    return hops;
}

static bool hyperx_step(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t node, uint8_t way,
                        struct pf_packet_hop *hop)
{
    const struct hyperx *x = f->shape;
    int32_t target = node / x->terminals;
    for (int i = 0; i < x->dimensions; i++) {
        int32_t from = coordinate(x, router, i), to = coordinate(x, target, i);
        if (from == to)
            continue;
        hop->port = port_to(x, i, from, to);
        hop->vc = hop->way = 0;
        return pf_fabric_is_up(f, router, hop->port);
    }
    return false;
}

static struct pf_topology_classes hyperx_step_classes(const struct pf_fabric *f)
{
    return (struct pf_topology_classes){1, "dimension order", false};
}

static int hyperx_choices(const struct pf_fabric *f, int32_t router, int32_t node, int32_t *ports)
{
    const struct hyperx *x = f->shape;
    int32_t target = node / x->terminals, behind[PF_TOPOLOGY_PORTS];
    int count = 0;
    for (int i = 0; i < x->dimensions; i++) {
        int32_t from = coordinate(x, router, i), to = coordinate(x, target, i);
        int32_t next = router + (to - from) * x->stride[i];
        if (from == to)
            continue;
        if (f->down && (!pf_fabric_is_up(f, router, port_to(x, i, from, to)) ||
                        (next != target && !hyperx_choices(f, next, node, behind))))
            continue;
        ports[count++] = port_to(x, i, from, to);
    }
    return count;
}

static struct pf_topology_classes hyperx_choice_classes(const struct pf_fabric *f)
{
    const struct hyperx *x = f->shape;
    int wide = 0;
    for (int i = 0; i < x->dimensions; i++)
        wide += x->k[i] > 1;
    return (struct pf_topology_classes){wide ? wide : 1, "one class per hop", false};
}

static int hyperx_extents(const struct pf_fabric *f, int32_t *extents, int *in_group)
{
    const struct hyperx *x = f->shape;
    *in_group = 1;
    extents[0] = x->terminals;
    for (int i = 0; i < x->dimensions; i++)
        extents[i + 1] = x->k[i];
    return x->dimensions + 1;
}

static int32_t hyperx_ports(const void *shape, int32_t router)
{
    const struct hyperx *x = shape;
    return x->base[x->dimensions];
}

static void hyperx_wire(struct pf_fabric *f, const struct pf_fabric_speeds *links)
{
    const struct hyperx *x = f->shape;
    for (int32_t v = 0; v < f->routers; v++)
        for (int i = 0; i < x->dimensions; i++) {
            int32_t from = coordinate(x, v, i);
            for (int32_t to = from + 1; to < x->k[i]; to++)
                pf_fabric_connect(f, v, port_to(x, i, from, to), v + (to - from) * x->stride[i],
                                  port_to(x, i, to, from), PF_LINK_LOCAL, links);
        }
}

static const struct pf_fabric_ops ops = {
    .size = sizeof(struct pf_fabric_ops),
    .family = "hyperx",
    .ports = hyperx_ports,
    .wire = hyperx_wire,
    .extents = hyperx_extents,
    .hops = hyperx_hops,
    .step = hyperx_step,
    .step_classes = hyperx_step_classes,
    .choices = hyperx_choices,
    .choice_classes = hyperx_choice_classes,
    .choice_class = pf_topology_class_hop,
    PF_TOPOLOGY_WITHOUT_GROUPS,
    .may_turn = pf_topology_may_turn_once,
    .turn_classes = hyperx_step_classes,
};

/* "AxB,T". Returns what is wrong, or NULL. */
static const char *read_shape(struct hyperx *x, const char *text, int32_t *routers)
{
    const char *end = text;
    int32_t all[DIMENSIONS + 1];
    x->dimensions = pf_fabric_read_numbers(text, 'x', x->k, DIMENSIONS, PF_FABRIC_MAX, &end);
    if (x->dimensions < 1 || *end != ',' ||
        pf_fabric_read_numbers(end + 1, 0, &x->terminals, 1, PF_FABRIC_MAX, &end) != 1 || *end)
        return "extents and nodes at each router, such as 4x4,4";
    all[0] = x->terminals;
    x->base[0] = x->terminals;
    for (int i = 0; i < x->dimensions; i++) {
        all[i + 1] = x->k[i];
        if (pf_fabric_product(all, i + 2) < 0)
            return "it is too large";
        x->stride[i] = (int32_t)pf_fabric_product(all + 1, i);
        x->base[i + 1] = x->base[i] + x->k[i] - 1;
    }
    *routers = (int32_t)pf_fabric_product(all + 1, x->dimensions);
    return (int64_t)*routers * x->base[x->dimensions] > 50 * (int64_t)PF_FABRIC_MAX ? "it has too many links"
                                                                                    : NULL;
}

static struct pf_fabric *read_hyperx(const char *text, char *error, size_t error_size)
{
    struct hyperx *x = pf_calloc(1, sizeof *x);
    int32_t routers = 0;
    const char *wrong = read_shape(x, text, &routers);
    if (!wrong)
        return pf_fabric_outline(&ops, routers * x->terminals, x->terminals, routers, x);
    snprintf(error, error_size, "'%.60s' is no HyperX: %s", text, wrong);
    free(x);
    return NULL;
}

/* As many nodes at each router as there are routers in a row. */
static void fit_hyperx(int64_t hosts, char *numbers, size_t size)
{
    int32_t side[3];
    pf_fabric_fit_grid(hosts, side, 3);
    snprintf(numbers, size, "%dx%d,%d", side[1], side[2], side[0]);
}

const struct pf_fabric_kind pf_fabric_kind_hyperx = {
    .size = sizeof(struct pf_fabric_kind),
    .name = "hyperx",
    .numbers = "AxB,T",
    .help = "routers of a row all joined, in each dimension, T nodes at each",
    .read = read_hyperx,
    .fit = fit_hyperx,
    .most_hosts = PF_FABRIC_HOSTS,
    .cluster = pf_fabric_no_cluster,
};
