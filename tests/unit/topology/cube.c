/* SPDX-License-Identifier: BSD-3-Clause */
/* A kind of topology that the library does not have: this file and a row in meson.build add it. Hypercubes:
 * routers whose numbers differ in one bit are joined. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lowlevel/topology/topology.h"

struct cube {
    int32_t dimensions, terminals;
};

static int cube_hops(const struct pf_fabric *f, int32_t router, int32_t node)
{
    return __builtin_popcount((unsigned)(router ^ node / f->terminals));
}

static int cube_choices(const struct pf_fabric *f, int32_t router, int32_t node, int32_t *ports)
{
    int count = 0;
    for (unsigned differ = (unsigned)(router ^ node / f->terminals); differ; differ &= differ - 1)
        ports[count++] = f->terminals + __builtin_ctz(differ);
    return count;
}

static bool cube_step(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t node, uint8_t way,
                      struct pf_packet_hop *hop)
{
    int32_t ports[32];
    (void)key, (void)way;
    bool found = cube_choices(f, router, node, ports) > 0;
    *hop = (struct pf_packet_hop){.port = found ? ports[0] : 0};
    return found && pf_fabric_is_up(f, router, hop->port);
}

static struct pf_topology_classes cube_step_classes(const struct pf_fabric *f)
{
    (void)f;
    return (struct pf_topology_classes){1, "dimension order", false};
}

static struct pf_topology_classes cube_choice_classes(const struct pf_fabric *f)
{
    const struct cube *c = f->shape;
    return (struct pf_topology_classes){c->dimensions, "one class per hop", false};
}

static int cube_extents(const struct pf_fabric *f, int32_t *extents, int *in_group)
{
    extents[0] = f->terminals;
    extents[1] = f->routers;
    *in_group = 1;
    return 2;
}

static int32_t cube_ports(const void *shape, int32_t router)
{
    const struct cube *c = shape;
    (void)router;
    return c->terminals + c->dimensions;
}

static void cube_wire(struct pf_fabric *f, const struct pf_fabric_speeds *links)
{
    const struct cube *c = f->shape;
    for (int32_t v = 0; v < f->routers; v++)
        for (int i = 0; i < c->dimensions; i++)
            if (!(v >> i & 1))
                pf_fabric_connect(f, v, c->terminals + i, v | 1 << i, c->terminals + i, PF_LINK_LOCAL, links);
}

static const struct pf_fabric_ops ops = {
    .size = sizeof(struct pf_fabric_ops),
    .family = "grid",
    .ports = cube_ports,
    .wire = cube_wire,
    .extents = cube_extents,
    .hops = cube_hops,
    .step = cube_step,
    .step_classes = cube_step_classes,
    .choices = cube_choices,
    .choice_classes = cube_choice_classes,
    .choice_class = pf_topology_class_hop,
    PF_TOPOLOGY_WITHOUT_GROUPS,
    .may_turn = pf_topology_may_turn_once,
    .turn_classes = cube_step_classes,
};

static struct pf_fabric *read_cube(const char *text, char *error, size_t error_size)
{
    int32_t numbers[2];
    const char *end;
    if (pf_fabric_read_numbers(text, ',', numbers, 2, 20, &end) != 2 || *end) {
        snprintf(error, error_size, "'%.60s' are no dimensions and nodes of a cube, such as 4,1", text);
        return NULL;
    }
    struct cube *c = pf_calloc(1, sizeof *c);
    *c = (struct cube){numbers[0], numbers[1]};
    return pf_fabric_outline(&ops, c->terminals << c->dimensions, c->terminals, 1 << c->dimensions, c);
}

static void fit_cube(int64_t hosts, char *numbers, size_t size)
{
    int dimensions = 1;
    while (1 << dimensions < hosts)
        dimensions++;
    snprintf(numbers, size, "%d,1", dimensions);
}

const struct pf_fabric_kind pf_fabric_kind_cube = {
    .size = sizeof(struct pf_fabric_kind),
    .name = "cube",
    .numbers = "D,T",
    .help = "hypercube with T nodes at each router",
    .read = read_cube,
    .fit = fit_cube,
    .most_hosts = 1 << 20,
    .cluster = pf_fabric_no_cluster,
};
