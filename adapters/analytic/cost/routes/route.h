/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ANALYTIC_COST_ROUTE_H
#define PF_ADAPTERS_ANALYTIC_COST_ROUTE_H

/* What the prices ask of a platform. */

/*
 * The path between two nodes, asked for once per pair that talks (a bounded cache keeps the answers): its
 * latency and the bandwidth of its slowest link. src == dst asks for the memory of the node (loopback).
 */
typedef void pf_cost_route_fn(void *context, int src_node, int dst_node, double *latency, double *bandwidth);

/* One link of a path, in one direction: its number, from 0 without large holes, and its bandwidth. */
struct pf_cost_link {
    int number;
    double bandwidth;
};

/* The links of the path between two different nodes that messages share: writes up to `room` of them in
 * order, and returns how many there are. Numbers must not change. Asked once per pair that talks, for
 * contention = link. */
typedef int pf_cost_links_fn(void *context, int src_node, int dst_node, struct pf_cost_link *links, int room);

/* The phase that a rank is in, by a name that stays. */
typedef const char *pf_cost_phase_fn(int rank);

#endif
