/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_SAMPLING_WINDOWS_H
#define PF_MIDDLEWARE_SAMPLING_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "middleware/core/rank.h"

/*
 * Windows: stretches between two marks that run in a fine model, and when the ranks pass the marks in them.
 * In the run itself, each rank changes its model when it passes the first mark, and back when it passes the
 * last: from then on the run is a mixed one.
 */

/* Reads PARFOCAL_WINDOWS and opens PARFOCAL_WINDOWS_RESULT; what is wrong there ends the process with one
 * line. */
void pf_windows_read(void);

/* The number of ranks is known. */
void pf_windows_begin(int ranks);

/* Loads the fine model, from a rank's actor. */
void pf_windows_load(void);

/* The rank passes a mark at a date. `runs`: itself, which may still change its model; NULL: it has ended. */
void pf_windows_pass(int rank, struct pf_rank *runs, unsigned mark, double date);

/* The run is over: writes the result, with the number of calls that the slices were
 * counted by (0: there are none). Returns false when windows lie beyond the last mark, which has been said.
 */
bool pf_windows_finish(uint64_t calls);

#endif
