/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_TESTS_UNIT_PACKET_WALK_H
#define PF_TESTS_UNIT_PACKET_WALK_H

/* What the tests of the packet network's topologies share: fabrics that must come out, searches in their
 * graph, and packets that go through an idle network. */

#include "lowlevel/topology/fabric.h"
#include "lowlevel/network/packet/routing.h"

struct pf_fabric *walk_fabric(const char *text);
void walk_open(struct pf_routing *r, const char *name, const struct pf_fabric *f,
               const struct pf_routing_settings *s);
extern const struct pf_routing_settings walk_settings;

/* Links between routers from one router to all, with at most `globals` of those that join two groups; groups
 * are runs of `group` routers (0: no groups). -1: cannot be reached. */
void walk_search(const struct pf_fabric *f, int32_t from, int32_t group, int globals, int *distance);

/* Sends a packet to its destination and calls `seen` for each router that it enters. Returns the links
 * between routers, -1 when there is no way. Fails the test when the packet takes more than `most` links or a
 * class that it may not. */
typedef void walk_seen_fn(void *context, int32_t router, const struct pf_packet_path *p);
int walk_packet(const struct pf_routing *r, int32_t source, int32_t destination, uint64_t id, int most,
                const struct pf_packet_load *load, walk_seen_fn *seen, void *context);

#endif
