/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "base/export.h"

struct pf_rank;

/* Before the application runs: markers are recorded if PARFOCAL_MARKERS names a file, and regions sampled if
 * PARFOCAL_REGIONS does. A file that cannot be used ends the process with one line. */
PF_EXPORT void pf_sampling_start(void);

/* The run is over: writes what has been recorded. Returns false, after a warning, when the ranks have not
 * passed the same markers. */
PF_EXPORT bool pf_sampling_finish(void);

/* Loads the models that will be needed, as -load does. */
void pf_sampling_load(void);

/* A rank has made itself ready for MPI, and it has ended its MPI. */
void pf_sampling_rank_begins(struct pf_rank *r);
void pf_sampling_rank_ends(struct pf_rank *r);
