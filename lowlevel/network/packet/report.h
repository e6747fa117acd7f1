/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

#include "base/export.h"
#include "lowlevel/network/packet/from_platform.h"
#include "lowlevel/network/packet/sim.h"

/* The packet network's lines of the summary, and the table of PARFOCAL_NET_STATISTICS. */

struct pf_network_link {
    char name[200];
    double utilisation; /* of the run's time */
    double bytes;
    double wait; /* s, of all its packets together */
    uint64_t packets;
};

/* The platform's link of a port, in a description the port itself, or PF_CHAIN_SLOWEST if it has none. */
int pf_packet_report_link(int32_t port);

struct pf_network_sums {
    const char *routing;
    char fabric[160];
    uint64_t packets, dropped, hops;
    bool priced; /* no packets: links carry what was priced (carried.h) */
};

/* Once the simulator is there; both stay where they are. Ends the run with one line when the file cannot be
 * written. */
void pf_packet_report_start(struct pf_packet_sim *sim, const struct pf_packet_platform *platform);

/* False: no message has gone through a packet network, and none that was priced has been followed. */
PF_EXPORT bool pf_network_sums(struct pf_network_sums *sums);
/* The links that have carried something, the busiest ones first; returns how many. */
PF_EXPORT int pf_network_busiest(struct pf_network_link *links, int most);

/* For launchers, when the platform is there, and not at the end: pf_network_draw() names hosts. */
PF_EXPORT void pf_network_keep_hosts(void);

/* Draws the links by load, of a platform file those of the routes that were used. With kept hosts also where
 * there was no network, without loads, and the circle of each node names its host. False: there is nothing to
 * draw, or there are too many links. */
PF_EXPORT bool pf_network_draw(FILE *out);

/* Writes the name of a link that is down: any one of a packet network, else one between these two nodes.
 * False: there is none. */
bool pf_network_down_link(int src, int dst, char *text, size_t size);

/* At the end of the run, once or more often. False: the table could not be written, which has been said. */
PF_EXPORT bool pf_network_finish(void);
