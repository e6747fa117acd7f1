/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/* What the prices ask of a platform. */

/*
 * The path between two nodes: its latency and the bandwidth of its slowest link; of src == dst, those of the
 * node's memory (loopback). Called once per pair of nodes that communicates, and again where a bounded cache
 * has dropped the answer.
 */
typedef void pf_cost_route_fn(void *context, int src_node, int dst_node, double *latency, double *bandwidth);

/* One link of a path, in one direction: its number, from 0 without large holes, and its bandwidth. */
struct pf_cost_link {
    int number;
    double bandwidth;
};

/* The links of the path between two different nodes that messages share: writes up to `room` of them in
 * order, and returns how many there are. Numbers must not change. Called once per pair of nodes that
 * communicates, where links are busy one message after the other. */
typedef int pf_cost_links_fn(void *context, int src_node, int dst_node, struct pf_cost_link *links, int room);

/* What a node has sent to another one: bytes with all headers. */
typedef void pf_cost_carry_fn(void *context, int src_node, int dst_node, uint64_t messages, double bytes);

/* The phase that a rank is in, as a string that is never freed. */
typedef const char *pf_cost_phase_fn(int rank);
