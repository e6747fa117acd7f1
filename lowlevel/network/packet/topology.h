/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_LOWLEVEL_PACKET_TOPOLOGY_H
#define PF_LOWLEVEL_PACKET_TOPOLOGY_H

#include "lowlevel/network/packet/fabric.h"
#include "lowlevel/network/packet/routing.h"

/* What routing.c asks of a topology, and what fabric.c offers to the files that build them, which make.c
 * knows. */

/* How a topology keeps a routing free of deadlocks. */
struct pf_topology_classes {
    int count;          /* 0: not possible, and `reason` says why */
    const char *reason; /* half a sentence */
    bool escape;        /* adaptive: the last class is free to all minimal ports, the others are step()'s */
};

enum { PF_TOPOLOGY_PORTS = 512 }; /* most ports that choices() offers */

struct pf_fabric_ops {
    size_t size;
    const char *name;
    /* The digits of the nodes' numbers, the one that varies fastest first; how many. The first *in_group of
     * them count within a group: a router, or a dragonfly's group. */
    int (*extents)(const struct pf_fabric *f, int32_t *extents, int *in_group);
    /* Cables between routers on the minimal way from a router to a node. */
    int (*hops)(const struct pf_fabric *f, int32_t router, int32_t node);
    /* The deterministic minimal way's next port from `router`, which is not the node's, and class within the
     * leg; `way` is what the last cable of this leg left behind, 0 at its begin. Avoids ports that are down
     * where it can; false: no way. */
    bool (*step)(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t node, uint8_t way,
                 struct pf_packet_hop *hop);
    struct pf_topology_classes (*step_classes)(const struct pf_fabric *f);
    /* All ports on minimal ways, those that are down left out. */
    int (*choices)(const struct pf_fabric *f, int32_t router, int32_t node, int32_t *ports);
    struct pf_topology_classes (*choice_classes)(const struct pf_fabric *f);
    /* The class of a choice, where there is no escape. */
    int (*choice_class)(const struct pf_fabric *f, int32_t router, int32_t port,
                        const struct pf_packet_path *p);
    /* Groups as intermediates: how many; whether the router is where that leg ends; the way there; its
     * classes, where 0 says that it shares those of the leg behind it. */
    int32_t (*groups)(const struct pf_fabric *f);
    bool (*in_group)(const struct pf_fabric *f, int32_t router, int32_t group,
                     const struct pf_packet_path *p);
    bool (*step_group)(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t group, uint8_t way,
                       const struct pf_packet_path *p, struct pf_packet_hop *hop);
    struct pf_topology_classes (*group_classes)(const struct pf_fabric *f);
    /* A random group that helps this packet; -1: none. */
    int32_t (*pick_group)(const struct pf_fabric *f, uint64_t random, const struct pf_packet_path *p);
    /* Whether a way over the node's router is none round about from a router's point of view: it is the
     * router's own or, in a dragonfly, in its group. ugal and par compare no such ways. */
    bool (*is_near)(const struct pf_fabric *f, int32_t router, int32_t node);
    /* par: whether a packet that goes on minimally through `port` may change its mind behind it; and classes
     * until then. */
    bool (*may_turn)(const struct pf_fabric *f, int32_t router, int32_t port, const struct pf_packet_path *p);
    struct pf_topology_classes (*turn_classes)(const struct pf_fabric *f);
};

/* Fillers. */
int32_t pf_topology_no_groups(const struct pf_fabric *f);
bool pf_topology_no_in_group(const struct pf_fabric *f, int32_t router, int32_t group,
                             const struct pf_packet_path *p);
bool pf_topology_no_step_group(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t group,
                               uint8_t way, const struct pf_packet_path *p, struct pf_packet_hop *hop);
struct pf_topology_classes pf_topology_no_group_classes(const struct pf_fabric *f);
int32_t pf_topology_no_pick_group(const struct pf_fabric *f, uint64_t random, const struct pf_packet_path *p);
bool pf_topology_is_at(const struct pf_fabric *f, int32_t router, int32_t node);
int pf_topology_class_0(const struct pf_fabric *f, int32_t router, int32_t port,
                        const struct pf_packet_path *p);
int pf_topology_class_hop(const struct pf_fabric *f, int32_t router, int32_t port,
                          const struct pf_packet_path *p);
/* par: behind the first cable. */
bool pf_topology_may_turn_once(const struct pf_fabric *f, int32_t router, int32_t port,
                               const struct pf_packet_path *p);

/* A fabric without cables; `ports` says how many ports each router has. Nodes have one. Takes over `shape`.
 */
struct pf_fabric *pf_fabric_new(const struct pf_fabric_ops *ops, int32_t nodes, int32_t routers, void *shape,
                                int32_t (*ports)(const void *shape, int32_t router));
void pf_fabric_connect(struct pf_fabric *f, int32_t a, int32_t a_port, int32_t b, int32_t b_port,
                       enum pf_fabric_cable kind, const struct pf_fabric_cables *cables);

/* Reads numbers from 1 to `most` with `separator` between them; how many, or -1. *end is behind the last. */
int pf_fabric_read_numbers(const char *text, char separator, int32_t *numbers, int limit, int32_t most,
                           const char **end);

/* The largest fabric, in nodes and in routers. */
enum { PF_FABRIC_MAX = 4000000 };
/* The product, or -1 when it is too large for a fabric. */
int64_t pf_fabric_product(const int32_t *numbers, int count);

/* From the text behind the colon. */
typedef struct pf_fabric *pf_fabric_maker(const char *text, const struct pf_fabric_cables *cables,
                                          char *error, size_t error_size);
pf_fabric_maker pf_fabric_make_star, pf_fabric_make_tree, pf_fabric_make_torus, pf_fabric_make_mesh,
    pf_fabric_make_hyperx, pf_fabric_make_dragonfly;

static inline uint64_t pf_topology_hash(uint64_t x)
{
    /* splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). */
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A number below `limit` from 64 random bits. */
static inline uint32_t pf_topology_below(uint64_t random, uint32_t limit)
{
    return (uint32_t)(((random >> 32) * limit) >> 32);
}

#endif
