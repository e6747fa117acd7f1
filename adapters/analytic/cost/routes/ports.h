/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "adapters/analytic/cost/routes/busy.h"
#include "adapters/analytic/cost/routes/route.h"

/*
 * The links of nodes that have several, such as those of a torus: each link is busy for itself, and the NIC
 * with the messages of all of them. Memory is 8 bytes for each pair of nodes in the rows of nodes that have
 * sent, and 256 B to 16 KB for each link.
 */
struct pf_ports;

/* The first and the last link of a path, as numbers of this table; -1: no link that messages share. */
struct pf_ports_pair {
    int out, in;
};

/* NULL when the first nodes have one link each. `links` is called once for each pair. The caller frees it. */
struct pf_ports *pf_ports_new(int nodes, pf_cost_links_fn *links, void *context);
void pf_ports_free(struct pf_ports *ports);

/* The links of a message between two different nodes. */
struct pf_ports_pair pf_ports_of(struct pf_ports *ports, int src, int dst);

/* When a link is busy with long messages. Valid until the next pf_ports_of(). NULL for link -1. */
struct pf_busy *pf_ports_busy(struct pf_ports *ports, int link);
