/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "lowlevel/portals/include/portals4.h"

/*
 * Which events of mtl/portals4 a rank need not be woken for: those that complete one of several requests that
 * it waits for, but not the last one, and those of receives while it is inside a blocking send. Open MPI does
 * with them at once nothing but to note that the request is complete; it takes no simulated time and asks
 * nothing of the NIC. For pf_portals_keep_events(); `waits` is a struct pf_glue_waits.
 */
bool pf_ompi_keeps_event(const void *waits, const ptl_event_t *event, int kept);

/* Whether such an event completes this request of Open MPI. For pf_portals_any_event(). */
bool pf_ompi_event_completes(const void *request, const ptl_event_t *event);
