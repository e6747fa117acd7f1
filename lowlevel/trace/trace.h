/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_LOWLEVEL_TRACE_TRACE_H
#define PF_LOWLEVEL_TRACE_TRACE_H

#include <stdbool.h>

#include "base/export.h"
#include "base/self.h"

/*
 * Traces of the simulated Portals NICs, see docs/traces.md. Nothing of this is on the way of a run without a
 * trace: layers are stacked on the tables of the network and the bus when there is one. Observing takes no
 * simulated time and posts no event.
 */
#ifdef __cplusplus
extern "C" {
#endif

/* Reads pf_config.trace and opens the files, so that a wrong one is known before the run. Once; later calls
 * do nothing. */
PF_EXPORT void pf_trace_open(void);
PF_EXPORT bool pf_trace_on(void);

/* A process begins to use its NIC. The first one stacks the layers. */
void pf_trace_process(const pf_self_t *self);

/* The run is over: writes the rest and closes the files. A run that ends in another way does the same, if
 * there is anything to write. */
PF_EXPORT void pf_trace_finish(void);

/* Around what a rank computes between calls, told by who charges simulated time for it; by the rank itself.
 * No record when no time has passed. */
struct pf_trace_record;
PF_EXPORT struct pf_trace_record *pf_trace_compute_begin(const pf_self_t *self);
PF_EXPORT void pf_trace_compute_end(struct pf_trace_record *record);

#ifdef __cplusplus
}
#endif

#endif
