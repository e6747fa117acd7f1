/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

#include "lowlevel/network/packet/sim.h"

/*
 * What each link and virtual channel of a simulator does, over time: a table in a file (docs/packet.md says
 * what its columns are). Without it the simulator keeps no more than sums of links, and each of the places
 * below costs one branch.
 */
struct pf_packet_statistics_settings {
    FILE *out;       /* stays the caller's */
    double interval; /* s: rows for each; 0: one for the whole run */
    /* Writes the name of the link that a port sends on, NULL: as in link_names.h. */
    void (*name)(void *of, int32_t port, char *text, size_t size);
    void *of;
};

/* From now on. The head of the table is written at once. */
void pf_packet_statistics_start(struct pf_packet_sim *sim,
                                const struct pf_packet_statistics_settings *settings);
/* Writes what has not been written up to `date`, which ends it. Nothing happens when it has not started. */
void pf_packet_statistics_end(struct pf_packet_sim *sim, double date);

/* ---- For the simulator. */
/* A packet leaves by an output, before the output's state says so; it could have gone at `ready`. */
void pf_packet_statistics_leaves(struct pf_packet_sim *sim, int32_t output, int channel, uint32_t bytes,
                                 double ready, double date);
/* Bytes come into (or, negative, leave) the buffer behind a link. */
void pf_packet_statistics_queue(struct pf_packet_sim *sim, int32_t input, int channel, int64_t bytes,
                                double date);
