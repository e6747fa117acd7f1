/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lowlevel/network/packet/routing.h"
#include "lowlevel/network/packet/sim.h"
#include "lowlevel/network/packet/pattern.h"

/* One point of a curve: an open loop of equal packets through an empty network, at one load. */
struct run_request {
    const struct pf_routing *routing;
    const struct pf_packet_settings *settings;
    const struct pf_pattern *pattern;
    double load;       /* of the rate of a node, headers included */
    double rate;       /* B/s: what load 1 is */
    double slot_bytes; /* 0: Poisson arrivals; else Bernoulli trials in slots as long as so many bytes take */
    double warm_up;    /* s */
    double batch;      /* s */
    int batches;
    int source_limit; /* packets that a node may have under way; what comes then is refused */
    double confidence;
    uint64_t seed;
};

struct run_point {
    double load, offered; /* asked for; what really came, refused packets included */
    double accepted, accepted_half;
    double latency, latency_half, middle, high, most; /* s: mean, half of its interval, 50 %, 99 %, largest */
    double hops;                                      /* links per packet, those of the nodes included */
    double busiest;    /* part of the time that the busiest link between routers was in use */
    uint64_t measured; /* packets */
    uint64_t dropped;
    bool saturated;       /* takes less than it is offered: latencies mean little */
    bool clean;           /* at the end nothing was left: no packet, no credit */
    uint64_t packet_hops; /* all of the run */
};

/* False and one line in `error` when the simulator cannot be made. */
bool run_point(const struct run_request *request, struct run_point *point, char *error, size_t error_size);
