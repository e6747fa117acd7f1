/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/network/packet/sim.h"

/*
 * Background traffic: nodes send packets at random dates to the destinations of a pattern, whether or
 * not the network takes them (an open loop). It runs only as long as the program has something in the
 * network, so that it delays neither the end of the run nor the detection of a deadlock. When the
 * program sends again after a long pause, only the last part of the pause is simulated: enough to fill the
 * queues.
 */

/* What pf_config.background says, PATTERN:LOAD[:NODES], on this simulator. What is wrong ends the run with
 * one line. False: it says nothing. */
bool pf_packet_background_open(struct pf_packet_sim *sim, const struct pf_fabric *fabric);

/* The program has nothing in the network up to now, and sends at `date`: brings the background there. */
void pf_packet_background_resume(double date);
