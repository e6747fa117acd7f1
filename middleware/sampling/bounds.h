/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_SAMPLING_BOUNDS_H
#define PF_MIDDLEWARE_SAMPLING_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Ends of slices (slices.h) in a run that follows them: each is reached when all ranks together have made so
 * many calls, and a rank passes it when it makes its next one. So what is before it and what is behind it are
 * divided by a date, and no rank needs calls of its own for that.
 */
struct pf_bounds;

/* Those of a file: one number of calls in a line, which grow. A file that has others ends the process. */
struct pf_bounds *pf_bounds_read(const char *path, int ranks);
void pf_bounds_free(struct pf_bounds *bounds);

/* A rank makes a call at a date. */
void pf_bounds_call(struct pf_bounds *bounds, double date);

/* Whether the rank has not passed an end that is reached. Then it passes it now: `date` receives when it was
 * reached, `first` whether no rank has passed it before. */
bool pf_bounds_next(struct pf_bounds *bounds, int rank, double *date, bool *first);

/* The run ends at this date: what is not reached ends there. */
void pf_bounds_end(struct pf_bounds *bounds, double date);

/* How many calls there were so far. */
uint64_t pf_bounds_calls(const struct pf_bounds *bounds);

#endif
