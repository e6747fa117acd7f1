/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/network/packet/from_platform.h"
#include "lowlevel/network/packet/sim.h"

/*
 * Links that go down, and maybe come back, at dates that the user gives. What is on such a link is dropped;
 * packets take another way where the topology and the routing have one.
 */

/* What pf_config.net_fail says: LINK@T or LINK@T:T2, several with commas between. What is wrong ends the run
 * with one line. False: it says nothing. */
bool pf_packet_failures_open(struct pf_packet_sim *sim, const struct pf_packet_platform *platform);

/* Whether a packet from a node to another one, given to the network now, would find a way. */
bool pf_packet_has_way(const struct pf_routing *routing, int32_t source, int32_t destination);
