/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ANALYTIC_COST_LINKS_H
#define PF_ADAPTERS_ANALYTIC_COST_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "adapters/analytic/cost/routes/route.h"
#include "lowlevel/topology/fabric.h"

/*
 * Until when each link of the network is busy, one direction of a cable being one link. A message takes the
 * links of its path one after the other, as its head reaches them, for its bytes at the link's bandwidth;
 * what it waits for on the way delays its arrival. One message costs a step per hop; memory is 800 bytes per
 * link, and for the platform's routes a bounded number of lists of links.
 */
struct pf_links;

/* Links of a topology, whose ports it adds, all with the same time per byte. */
struct pf_links *pf_links_by_arithmetic(struct pf_fabric *topology, double byte_time);

/* Links of the platform's routes between so many nodes. Messages wait for all of them (`whole`), or not for
 * those of the nodes themselves; `fn` is asked once per pair while it is remembered. */
struct pf_links *pf_links_of_platform(int nodes, bool whole, pf_cost_links_fn *fn, void *context);
void pf_links_free(struct pf_links *links);

/* A pf_cost_links_fn: the links of a path in a topology, which is the context, without their bandwidths. Its
 * ports have been added. */
int pf_links_of_fabric(void *fabric, int src, int dst, struct pf_cost_link *links, int room);

/* A message leaves node `src` for `dst`, another one, at `start`; the latencies on its way add up to
 * `latency`, and its bytes take `duration` on the slowest link. Returns how long it waits on the way. */
double pf_links_load(struct pf_links *links, int src, int dst, size_t bytes, double start, double latency,
                     double duration);

/* The same for who only asks how long messages would wait if they did, on the platform's routes; such
 * messages meet each other alone. Not where `whole`. Those links are left out that carry messages of one
 * node, or to one. */
double pf_links_shadow(struct pf_links *links, int src, int dst, double bytes, double start, double duration);

#endif
