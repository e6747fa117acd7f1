/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/export.h"
#include "lowlevel/network/packet/report.h"

/*
 * What links carry where messages are priced and not simulated (model analytic): by the routes from those
 * that send, in a described platform with routing `minimal`. Nodes are those of platform.h.
 */

/* Bytes are counted; `gather` hands out what has been counted and not been added yet. */
PF_EXPORT void pf_carried_begin(void (*gather)(void));
PF_EXPORT void pf_carried_add(int from, int to, uint64_t messages, double bytes);

/* While the platform is there: what has not been handed out yet. Until then nothing is known. `early`: at any
 * time of the run, when routes can only be asked of a description. */
PF_EXPORT void pf_carried_gather(bool early);

/* Whether something was carried; the fabric of a described platform, or NULL. */
bool pf_carried_any(const struct pf_fabric **fabric);

/* Of a port of the fabric, or else of a link of the platform; `time` is that of the run in s. */
struct pf_picture_load;
void pf_carried_load(int link, double time, struct pf_picture_load *load);

/* As pf_network_busiest(). */
int pf_carried_busiest(double time, struct pf_network_link *links, int most);
