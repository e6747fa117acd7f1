/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/observing/observing.h"

/*
 * The MPI calls of the application as spans of the trace (docs/traces.md). A span begins when the computation
 * before the call has been charged, and ends when the call returns; what lies between two calls is a span of
 * its own.
 */
extern bool pf_tracing_on __attribute__((visibility("hidden"))); /* as pf_counting_on */

/* Of a call that is traced. What other calls are made meanwhile, by the library or by functions of the
 * application that it calls back, is part of it. */
void pf_tracing_begin(struct pf_observed *call);
void pf_tracing_end(struct pf_observed *call);
