/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/export.h"

/*
 * What the launcher (tools/pfrun) asks of the middleware. The configuration is complete before the first
 * call. An application under stock smpirun never comes here, so the middleware must also prepare itself at
 * the first MPI call.
 */

/* One bit (1 << model) for each model that a job starts in, or that its schedule names. The first call reads
 * them; ends the process with one line where they are none. */
PF_EXPORT unsigned pf_job_models(void);

/* Called once, when the platform exists, the programs and jobs are set (core/job_programs.h, core/workload.h)
 * and before any rank starts: loads the models that -load and the schedule name. Returns 0, or another enum
 * pf_error after an error message. */
PF_EXPORT int pf_job_prepare(int np);

/* Warns about the items of the schedule that no rank has come to, one line each; for the end of a whole run.
 */
PF_EXPORT void pf_job_report_schedule(FILE *out);

/* Called once when the simulation has ended by itself, with the exit status to be: writes summary and table.
 * Returns the status, 1 instead of 0 when something could not be written. An abnormal end does not come here:
 * pf_end_process() writes what is known so far, and where the ranks are if there is a reason
 * (pf_end_because()). */
PF_EXPORT int pf_job_finish(int status);

/* From here on whatever ends the process by pf_end_process() writes the summary. Its files are known. */
PF_EXPORT void pf_job_watch_end(void);

/* The next call of MPI ends the run by `stop`, which does not return. From a signal handler too. */
PF_EXPORT void pf_job_stop_at_call(void (*stop)(void));

/* The calling process plays a trace without ranks: none calls MPI_Init. */
PF_EXPORT void pf_job_play_alone(void);

/* The status of the first rank that left main() without MPI_Finalize, 1 if it was 0; 0 when none did. */
PF_EXPORT int pf_job_left_status(void);

/* After a deadlock: names the first rank that has ended and not called MPI_Init, which others may wait for.
 */
PF_EXPORT void pf_job_print_uninitialized(FILE *out);

/* In a workload, where no rank can go on: names the jobs that have not ended, one line each, unless they were
 * stopped. How many they are; -1 without a workload. */
PF_EXPORT int pf_job_print_unfinished(FILE *out);

/* The first status other than 0 of a job of a workload. */
PF_EXPORT int pf_job_failed_status(void);

/* The rank that has made the calling thread, or whose it is to the best knowledge; -1: a rank itself, or the
 * simulator. */
PF_EXPORT int pf_job_rank_of_thread(void);

/* Whether the application's own code runs, and no call of MPI. */
PF_EXPORT bool pf_job_computes(void);

/* Prints where each rank is: model, MPI call, peer, source line; many ranks in groups. */
PF_EXPORT void pf_job_print_places(FILE *out);

/* The same for the summary, one object for each place. The caller takes the reference. */
struct json_t;
struct json_t *pf_job_places(void);
