/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/engine/engine.h"
#include "lowlevel/network/path.h"

/*
 * Max-min fair sharing of resources by flows, as in SimGrid's CM02 model with equal weights, computed here so
 * that SMPI's correction factors do not reach the NIC's traffic and the NIC's dates do not reach SMPI's.
 * Rates are computed again, for the flows that are affected, when a flow starts or ends or a capacity
 * changes; changes of one date are handled together, and where more than net_exact_flows flows share,
 * those of a time that grows with their number.
 */
struct pf_flow;

/* Starts a flow of `bytes` over all resources of the path; `done(arg)` when the last byte has left. */
struct pf_flow *pf_sharing_start(struct pf_path *path, double bytes, void (*done)(void *arg), void *arg);
/* Ends a flow without its upcall. */
void pf_sharing_cancel(struct pf_flow *flow);
/* A resource has another capacity or state. */
void pf_sharing_changed(struct pf_resource *resource);
/* A small transfer takes `bytes` of a resource: the flows that the resource limits get that much less. */
void pf_sharing_charge(struct pf_resource *resource, double bytes);
/* Calls `visit` for every flow on the resource. */
void pf_sharing_for_each(struct pf_resource *resource, void (*visit)(void *arg));

/* What has limited the flow longest, together with others; without any the bus of a host that limits it, or
 * NULL. Up to the end of `done`. */
const struct pf_resource *pf_sharing_limit(const struct pf_flow *flow);

/* The present rate of a flow, B/s (tests). */
double pf_sharing_rate(const struct pf_flow *flow);
