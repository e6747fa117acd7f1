/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_JOB_H
#define PF_MIDDLEWARE_JOB_H

#include <stdio.h>

#include "base/export.h"

/*
 * What the launcher (tools/pfrun) asks of the middleware. The configuration is complete before the first
 * call. An application under stock smpirun never comes here, so the middleware must also prepare itself at
 * the first MPI call.
 */

/* Called once, when the platform exists and before any rank starts: loads the models that -load and the
 * schedule name. Returns 0, or another enum pf_error after having told the user why. */
PF_EXPORT int pf_job_prepare(int np, const char *executable);

/* Warns about the items of the schedule that no rank has come to, one line each; for the end of a whole run.
 */
PF_EXPORT void pf_job_report_schedule(FILE *out);

/* Called once when the simulation has ended by itself, with the exit status to be: writes summary and table.
 * Returns the status, 1 instead of 0 when something could not be written. An abnormal end does not come here:
 * what must run then is registered with pf_at_end. */
PF_EXPORT int pf_job_finish(int status);

/* The first status other than 0 with which a rank left main() without MPI_Finalize; 0 when none did. */
PF_EXPORT int pf_job_left_status(void);

/* Prints one line per rank that is blocked: rank, model, MPI call, peer, source line. Called at a deadlock
 * and at the end of a livelock, from SimGrid's maestro. Returns the number of ranks printed. */
PF_EXPORT int pf_job_print_blocked(FILE *out);

#endif
