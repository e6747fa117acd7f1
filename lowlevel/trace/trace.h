/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "base/export.h"
#include "base/self.h"
#include "lowlevel/trace/record.h"

/*
 * Traces of the simulated Portals NICs and of what lies above them, see docs/traces.md. Nothing of this is on
 * the way of a run without a trace: layers are stacked on the tables of the network and the bus when there is
 * one, and the middleware records its calls (middleware/tracing). Observing takes no simulated time and posts
 * no event.
 */
#ifdef __cplusplus
extern "C" {
#endif

/* Reads pf_config.trace and opens the files, so that a wrong one is known before the run. Once; later calls
 * do nothing. */
PF_EXPORT void pf_trace_open(void);

/* Whether MPI calls are wanted in it (trace_layers). */
PF_EXPORT bool pf_trace_calls(void);

/* Whether a trace can hold a recording of the calls of all ranks, from which the run can be replayed
 * (docs/replay.md); and that recording, before the end of the run: a file of lines, rank by rank, which the
 * callee closes. */
PF_EXPORT bool pf_trace_wants_recording(void);
PF_EXPORT void pf_trace_recorded(int fd);

/* A process begins to use its NIC. The first one stacks the layers. */
void pf_trace_process(const pf_self_t *self);

/* The ranks of an MPI job, before the first record of one of them. */
PF_EXPORT void pf_trace_job(pf_self_t *const *ranks, int count);

/* The run is over: writes the rest and closes the files. A run that ends in another way does the same, if
 * there is anything to write. */
PF_EXPORT void pf_trace_finish(void);

/*
 * Operations of a rank: those of its MPI calls, and what is between. `what` has type, start and the texts;
 * the start and the later end are not in the past. 0 when there is no trace any more, which the other
 * functions take.
 */
PF_EXPORT pf_trace_span pf_trace_begin(const pf_self_t *self, const struct pf_trace_record *what);
PF_EXPORT void pf_trace_end(pf_trace_span span, double date);
/* The same; it has not been there at all unless that is later than its begin. */
PF_EXPORT void pf_trace_end_later(pf_trace_span span, double date);
/* It has other texts, unless the clock has passed its begin. */
PF_EXPORT void pf_trace_alter(pf_trace_span span, const struct pf_trace_record *what);

#ifdef __cplusplus
}
#endif
