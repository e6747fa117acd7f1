/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/topology/fabric.h"
#include "lowlevel/topology/path.h"

/*
 * What a kind of topology is: its words, its numbers, its routers and links, and its ways. A new kind is one
 * file that fills a struct pf_fabric_kind, and one row in meson.build here.
 */

/* How a topology keeps a routing free of deadlocks. */
struct pf_topology_classes {
    int count;          /* 0: not possible, and `reason` says why */
    const char *reason; /* half a sentence */
    bool escape;        /* adaptive: the last class is free to all minimal ports, the others are step()'s */
};

enum { PF_TOPOLOGY_PORTS = 512 }; /* most ports that choices() offers */

struct pf_fabric_ops {
    size_t size;
    const char *family; /* pictures lay out a "tree" by levels, others by their extents */
    /* Ports of a router: from 0 on those of its nodes, then those to routers. */
    int32_t (*ports)(const void *shape, int32_t router);
    /* Plugs in the links between routers. */
    void (*wire)(struct pf_fabric *f, const struct pf_fabric_speeds *links);
    /* The digits of the nodes' numbers, the one that varies fastest first; how many. The first *in_group of
     * them count within a group: a router, or a dragonfly's group. */
    int (*extents)(const struct pf_fabric *f, int32_t *extents, int *in_group);
    /* Links between routers on the minimal way from a router to a node. */
    int (*hops)(const struct pf_fabric *f, int32_t router, int32_t node);
    /* The deterministic minimal way's next port from `router`, which is not the node's, and class within the
     * leg; `way` is what the last link of this leg left behind, 0 at its begin. Avoids ports that are down
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
/* The six of a topology whose nodes form no groups but those at a router. */
#define PF_TOPOLOGY_WITHOUT_GROUPS                                                                           \
    .groups = pf_topology_no_groups, .in_group = pf_topology_no_in_group,                                    \
    .step_group = pf_topology_no_step_group, .group_classes = pf_topology_no_group_classes,                  \
    .pick_group = pf_topology_no_pick_group, .is_near = pf_topology_is_at
int pf_topology_class_0(const struct pf_fabric *f, int32_t router, int32_t port,
                        const struct pf_packet_path *p);
int pf_topology_class_hop(const struct pf_fabric *f, int32_t router, int32_t port,
                          const struct pf_packet_path *p);
/* par: behind the first link. */
bool pf_topology_may_turn_once(const struct pf_fabric *f, int32_t router, int32_t port,
                               const struct pf_packet_path *p);

/* A fabric without ports. The routers of nodes come first, `terminals` nodes at each (0: no such rule). Takes
 * over `shape`, one block of memory. */
struct pf_fabric *pf_fabric_outline(const struct pf_fabric_ops *ops, int32_t nodes, int32_t terminals,
                                    int32_t routers, void *shape);
/* Ports without links; a node has one. */
void pf_fabric_add_ports(struct pf_fabric *f, int32_t (*ports)(const void *shape, int32_t router));
void pf_fabric_connect(struct pf_fabric *f, int32_t a, int32_t a_port, int32_t b, int32_t b_port,
                       enum pf_fabric_link_kind kind, const struct pf_fabric_speeds *links);

/* Reads numbers from 1 to `most` with `separator` between them; how many, or -1. *end is behind the last. */
int pf_fabric_read_numbers(const char *text, char separator, int32_t *numbers, int limit, int32_t most,
                           const char **end);

/* The largest fabric, in nodes and in routers. */
enum { PF_FABRIC_MAX = 4000000 };
/* The most hosts of a platform that is still useful in one process. */
enum { PF_FABRIC_HOSTS = 1000000 };
/* The product, or -1 when it is too large for a fabric. */
int64_t pf_fabric_product(const int32_t *numbers, int count);

/* Flags and numbers behind the shape, as ",NAME=0x1x2": reads those of `name` if *text begins so, and moves
 * it on. How many; 0: it begins otherwise; -1: no such list of at most `limit`. */
int pf_fabric_read_option(const char **text, const char *name, int32_t *numbers, int limit);

/* Side lengths of a grid for so many positions, as equal as can be. */
void pf_fabric_fit_grid(int64_t positions, int32_t *sides, int dimensions);
int64_t pf_fabric_ceil_div(int64_t a, int64_t b);

struct pf_fabric_kind {
    size_t size;
    const char *name;    /* the word before the colon */
    const char *numbers; /* their form */
    const char *help;    /* one line */
    /* A fabric without ports from the numbers; NULL and one line in `error`. */
    struct pf_fabric *(*read)(const char *numbers, char *error, size_t error_size);
    /* The numbers for so many hosts or few more, at most most_hosts of them. */
    void (*fit)(int64_t hosts, char *numbers, size_t size);
    int64_t most_hosts;
    /* The same as SimGrid's <cluster>: its topology ("FLAT": none) and topo_parameters. False: it has none
     * such. */
    bool (*cluster)(const struct pf_fabric *f, struct pf_fabric_cluster *cluster);
};
bool pf_fabric_no_cluster(const struct pf_fabric *f, struct pf_fabric_cluster *cluster);

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
