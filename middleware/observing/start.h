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

/* Before pf_recording_start: `take` gets what has been recorded in the end, also of a run that ends early,
 * and closes the file. With `dates`, comments in it have what a replay does not need: `# host RANK NAME`, `#
 * comm RANK NUMBER ID OWN_RANK SIZE HASH_OF_MEMBERS` (ID -1: two groups), and, before the lines of a call, `#
 * at RANK BEGIN END FUNCTION MODEL`. Without, what passes between two calls stands in it in seconds, which
 * are the same on any platform. */
PF_EXPORT void pf_recording_hand_to(void (*take)(int fd), bool dates);

/* Whether what passes between two calls is computation, when SMPI's setting does not say so: that of a
 * replay. */
PF_EXPORT void pf_recording_charges(bool charges);
