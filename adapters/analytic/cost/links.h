/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ANALYTIC_COST_LINKS_H
#define PF_ADAPTERS_ANALYTIC_COST_LINKS_H

#include "adapters/analytic/cost/cost.h"
#include "adapters/analytic/cost/topology.h"

/*
 * Until when each link of the network is busy, one direction of a cable being one link. A message takes the
 * links of its path one after the other, as its head reaches them, for its bytes at the link's bandwidth;
 * what it waits for on the way delays its arrival. One message costs a step per hop; memory is 800 bytes per
 * link, and for the platform's routes a bounded number of lists of links.
 */
struct pf_links;

/* Links of a topology by arithmetic, all with the same time per byte. NULL when there is no memory. */
struct pf_links *pf_links_by_arithmetic(const struct pf_cost_topology *topology, double byte_time);

/* Links of the platform's routes between so many nodes, `whole` or without those of the nodes themselves, for
 * pf_links_pass() alone; `fn` is asked once per pair while it is remembered. */
struct pf_links *pf_links_of_platform(int nodes, bool whole, pf_cost_links_fn *fn, void *context);
void pf_links_free(struct pf_links *links);

/* A message leaves node `src` for `dst`, another one, at `start`; the latencies on its way add up to
 * `latency`. Returns how long it waits on the way. */
double pf_links_load(struct pf_links *links, int src, int dst, size_t bytes, double start, double latency);

/* The same for one of messages that are asked for in the order in which they are sent, and keep their places
 * on all links from then on; `bytes` are those of the wire. Its head leaves at `*head`, which becomes the
 * date at which it enters the last of these links; returns the date at which the tail has entered all of
 * them, both without latencies. */
double pf_links_pass(struct pf_links *links, int src, int dst, double bytes, double *head);

#endif
