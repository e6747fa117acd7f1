/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include <simgrid/host.h>

#include "base/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The simulated machine as the NIC sees it: nodes are SimGrid's hosts, numbered from 0 in the order of their
 * names, whether they carry ranks or not: what users see as nid; links are SimGrid's links, numbered in the
 * order in which routes reach them.
 */
struct pf_platform_link {
    double bandwidth;
    double latency;
    double loss; /* probability that a message is lost here: the link's property "loss" */
    bool shared; /* false: a FATPIPE link bounds each transfer and never their sum */
    bool on;
};

struct pf_platform_route {
    double latency;
    int count;
    int *links; /* owned by the caller, malloc'ed */
};

/* The node of a host, and the host of a node whose number pf_platform_node() has returned. */
PF_EXPORT int pf_platform_node(sg_host_t host);
PF_EXPORT sg_host_t pf_platform_host(int node);

/* All hosts of the platform are nodes; whether ranks run on this one. */
int pf_platform_node_count(void);
bool pf_platform_node_has_ranks(int node);

/* In a process without ranks: which nodes have them in another one, `count` bytes, not 0 where they are. */
void pf_platform_set_ranks(const char *has_ranks, int count);

/* The route between two nodes, as SimGrid computes it; without one the run ends, or the answer is false. One
 * by coordinates (Vivaldi) may have no link. The run ends with one line where a link has what only SimGrid's
 * own network follows: it is wireless, or a profile changes its latency. The caller frees the links. */
void pf_platform_route(int src, int dst, struct pf_platform_route *route);
PF_EXPORT bool pf_platform_find_route(int src, int dst, struct pf_platform_route *route);

/* Whether SimGrid has routes between all hosts with ranks. On a large platform, whose outermost zone has the
 * property "parfocal-topology", it has none to hosts of the zone "others". That is a description
 * (topology/fabric.h) with a host for each node, in the order of names: all functions here take its routes
 * instead, over the links "link-<port>". */
PF_EXPORT bool pf_platform_has_routes(void);

/* A number of the zone that a host is in, by order of first use, and the name, which stays. */
int pf_platform_zone(int node);
const char *pf_platform_zone_name(int zone);

/* SimGrid's name of a link; stays. */
PF_EXPORT const char *pf_platform_link_name(int link);

/* The present state of a link. */
PF_EXPORT const struct pf_platform_link *pf_platform_link_state(int link);

/* `changed` is called when a profile alters the bandwidth or the state of a link. Several may listen, in the
 * order in which they came; each does so once. */
PF_EXPORT void pf_platform_on_change(void (*changed)(int link));

#ifdef __cplusplus
}
#endif
