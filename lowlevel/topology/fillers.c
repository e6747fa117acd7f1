/* SPDX-License-Identifier: BSD-3-Clause */
/* Fillers for what a kind of topology does not have. */
#include "lowlevel/topology/topology.h"

int32_t pf_topology_no_groups(const struct pf_fabric *f)
{
    return 0;
}

bool pf_topology_no_in_group(const struct pf_fabric *f, int32_t router, int32_t group,
                             const struct pf_packet_path *p)
{
    return true;
}

bool pf_topology_no_step_group(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t group,
                               uint8_t way, const struct pf_packet_path *p, struct pf_packet_hop *hop)
{
    return false;
}

struct pf_topology_classes pf_topology_no_group_classes(const struct pf_fabric *f)
{
    return (struct pf_topology_classes){0, "this topology has no groups", false};
}

int32_t pf_topology_no_pick_group(const struct pf_fabric *f, uint64_t random, const struct pf_packet_path *p)
{
    return -1;
}

int pf_topology_class_0(const struct pf_fabric *f, int32_t router, int32_t port,
                        const struct pf_packet_path *p)
{
    return 0;
}

int pf_topology_class_hop(const struct pf_fabric *f, int32_t router, int32_t port,
                          const struct pf_packet_path *p)
{
    return p->hops;
}

bool pf_topology_may_turn_once(const struct pf_fabric *f, int32_t router, int32_t port,
                               const struct pf_packet_path *p)
{
    return p->hops == 0;
}

bool pf_topology_is_at(const struct pf_fabric *f, int32_t router, int32_t node)
{
    return pf_fabric_router_of(f, node) == router;
}

bool pf_fabric_no_cluster(const struct pf_fabric *f, struct pf_fabric_cluster *cluster)
{
    return false;
}
