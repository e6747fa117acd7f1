/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"
#include "lowlevel/network/packet/from_platform.h"

/*
 * A platform whose routers and links are known by a description: of it the packet network is made, and any
 * routing can run on it.
 */

/* For launchers, before the first message: the n-th host of the platform by name is node n of the fabric that
 * pf_fabric_make() makes of `text` and `links`; both are copied. */
PF_EXPORT void pf_network_describe(const char *text, const struct pf_fabric_speeds *links);

/* What was described, false: nothing. The text stays. */
bool pf_network_described(const char **text, struct pf_fabric_speeds *links);

/* Whether the platform has been described. */
bool pf_packet_is_described(void);

/* As pf_packet_platform_make(), of the description, with the configured routing. What is impossible ends the
 * run with one line. */
void pf_packet_described_make(struct pf_packet_platform *of, double router_latency, double bus);

/* Refuses a routing that needs a description, where there is none. */
void pf_packet_described_check(void);
