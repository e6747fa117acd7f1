/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "base/export.h"

/* Counts every MPI call from now on; the summary shows it. Works before the application is loaded only. */
PF_EXPORT void pf_counting_start(void);

/* Traces every MPI call from now on, if there is a trace that wants them; after pf_trace_open. The same holds
 * for it. */
PF_EXPORT void pf_tracing_start(void);

/* Records the calls of all ranks from now on, if PARFOCAL_REPLAY_RECORD names a file or a trace holds such a
 * recording; after pf_trace_open, before pf_tracing_start. A file that cannot be written ends the process
 * with one line. The run is over: says what has not been recorded. */
PF_EXPORT void pf_recording_start(void);
PF_EXPORT void pf_recording_finish(void);

/* Whether what passes between two calls is computation, when SMPI's setting does not say so: that of a
 * replay. */
PF_EXPORT void pf_recording_charges(bool charges);
