/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/network/packet/routing.h"
#include "lowlevel/network/packet/sim.h"
#include "tools/pfnet/run.h"

/* The command line. */
struct options {
    const char *topology, *platform, *routing, *pattern, *output, *picture;
    double rate;                                                      /* B/s */
    double link_latency, node_latency, local_latency, global_latency; /* s; negative: as link_latency */
    double router_latency;                                            /* s */
    double node_rate, global_rate;                                    /* B/s; negative: as rate */
    double packet_bytes, flit_bytes, header_bytes, channel_buffer, channels, rounds;
    struct pf_packet_settings settings;
    struct pf_routing_settings routing_settings;
    double candidates, seed_number;
    uint64_t seed;
    double *loads;
    int load_count;
    bool saturation;
    double precision;
    double slot_bytes; /* negative: of one packet */
    double warm_up, batch, batches, confidence,
        source_limit; /* warm_up, batch: in packet times; 0: by size */
};

/* Reads it; bad input ends the process with one line. */
void options_read(struct options *o, int argc, char **argv);

/* The fabric that it describes. Bad input as above. */
struct pf_fabric *options_fabric(const struct options *o);

/* Fills in all of a request but pattern and routing; options_times() what depends on its load. */
void options_request(const struct options *o, const struct pf_fabric *fabric, struct run_request *request);
void options_times(const struct options *o, struct run_request *request);

/* The picture of the points in o->output. */
void options_draw(const struct options *o);
