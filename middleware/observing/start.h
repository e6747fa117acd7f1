/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_OBSERVING_START_H
#define PF_MIDDLEWARE_OBSERVING_START_H

#include "base/export.h"

/* Counts every MPI call from now on; the summary shows it. Works before the application is loaded only. */
PF_EXPORT void pf_counting_start(void);

/* Traces every MPI call from now on, if there is a trace that wants them; after pf_trace_open. The same holds
 * for it. */
PF_EXPORT void pf_tracing_start(void);

#endif
