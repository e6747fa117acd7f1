/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include "adapters/analytic/cost/routes/route.h"

/* The pf_cost_route_fn of SimGrid's platform. `context` is an array of the platform's nodes by node here,
 * ints, which the caller keeps as long as the price list. A host without a route to itself has the loopback
 * of SimGrid's network models; a missing route between hosts ends the run. */
void pf_cost_platform_route(void *context, int src_node, int dst_node, double *latency, double *bandwidth);

/* The pf_cost_links_fn, with the same context. The route exists: pf_cost_platform_route() was called before.
 */
int pf_cost_platform_links(void *context, int src_node, int dst_node, struct pf_cost_link *links, int room);

#ifdef __cplusplus
}
#endif
