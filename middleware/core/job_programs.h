/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"

/*
 * The programs of the job. Each runs in ranks that follow each other; one program may stand there several
 * times, with other arguments. There is none where another launcher than pfrun has begun the simulation.
 */
struct pf_job_program {
    const char
        *path; /* of its file, as the user named it: the copies that the ranks run are gone from the disk */
    int ranks;
    int argc;
    char *const *argv; /* its command line, whose first word is the user's */
};

/* For the launcher, before any rank begins; `programs` lives as long as the process. */
PF_EXPORT void pf_job_programs_set(const struct pf_job_program *programs, int count);

/* How many there are, and one of them, which must be there. */
PF_EXPORT int pf_job_program_count(void);
PF_EXPORT const struct pf_job_program *pf_job_program(int number);

/* The number of a rank's program: the attribute MPI_APPNUM. */
int pf_job_program_of(int rank);

/* The number of the program of which this is the file, or the file of a rank's copy ("name_PID_RANK.so"); -1:
 * of none. */
PF_EXPORT int pf_job_program_at(const char *file);
