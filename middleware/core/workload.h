/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"
#include "base/self.h"

/*
 * A workload as the launcher gives it: jobs that share the machine. Each runs programs that follow each other
 * (core/job_programs.h), in ranks that follow each other. A run of one program, or of several in one
 * MPI_COMM_WORLD, has none.
 */
struct pf_workload_job {
    const char *name;
    const char *where;            /* it stands, for messages: "FILE: line 3" */
    int programs;                 /* how many of them are its own */
    const char *model, *schedule; /* NULL: those of the run */
    double start;                 /* s, the simulated time before which it does not begin */
    int after;                    /* the number of a job that has to end before it begins, -1: none */
};

/* For the launcher, before any rank begins; `jobs` lives as long as the process. `goes_on`: when a job fails,
 * the others do. */
PF_EXPORT void pf_workload_set(const struct pf_workload_job *jobs, int count, bool goes_on);

/* How many jobs there are, 0 without a workload; one of them, which must be there. */
int pf_workload_count(void);
const struct pf_workload_job *pf_workload_job(int number);
bool pf_workload_goes_on(void);

/* "rank 9", and in a workload "rank 9 (rank 1 of job 'b')", in `text`. */
PF_EXPORT const char *pf_workload_rank_name(int rank, char *text, size_t size);

/* Notes why a rank is about to end its job with this status (NULL: no rank): for the summary, and in a run
 * that ends with the job as its reason. The first one counts. */
PF_EXPORT void pf_job_blame(const pf_self_t *self, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether the calling rank can end its job alone: it is one of a workload that goes on. From any place. */
PF_EXPORT bool pf_job_ends_alone(void);

/* The end of MPI_Abort and of a fatal error: writes the summary, ends the process with `status` (1 when it is
 * 0). In a workload that goes on, it stops the ranks of the job and says so instead. */
PF_EXPORT void pf_job_abort(int rank, int status) __attribute__((noreturn));
