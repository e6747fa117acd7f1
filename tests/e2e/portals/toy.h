/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_TEST_PORTALS_TOY_H
#define PF_TEST_PORTALS_TOY_H

#include "lowlevel/network/network.h"

/*
 * A network of packets and credits, unlike anything in the library: one lane per pair of nodes and virtual
 * network, a buffer of a few packets at its end, a clock of its own, and losses. It knows neither links nor
 * flows. It shows that the ops table is enough to put another network under the NIC.
 */
extern const struct pf_network_ops toy_network;

enum {
    TOY_PACKET = 256, /* bytes */
    TOY_CREDITS = 4,  /* packets between the sender and the far end of a lane */
    TOY_ENTRANCE = 2  /* transfers that may wait at the entrance of a lane */
};
#define TOY_PACKET_TIME 30e-9  /* s on the lane */
#define TOY_FLIGHT_TIME 400e-9 /* s from one end to the other */
#define TOY_DRAIN_TIME  50e-9  /* s in the buffer at the end: slower than the lane, so that credits matter */

struct toy_counts {
    long packets;
    long refused;   /* answers of can_inject */
    long credits;   /* calls of credit() */
    long stalls;    /* packets that waited for a credit */
    long lost;      /* transfers */
    long delivered; /* transfers */
    long unasked;   /* transfers that entered without a place: must stay 0 */
    int most_in_flight;
};
extern struct toy_counts toy_counts;

/* Every n-th transfer gets lost after its first packet (0: none). */
extern long toy_lose_every;

#endif
