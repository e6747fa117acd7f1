/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_SAMPLING_KEPT_H
#define PF_MIDDLEWARE_SAMPLING_KEPT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "middleware/sampling/spans.h"
#include "middleware/sampling/told.h"

/*
 * Copies of the process that the run makes on its way and that wait, until the run is over and somebody asks
 * for windows. For each such order a waiting copy makes one of its own, a *runner*, which goes on from there
 * in the model that was in force, through the windows that lie before the next waiting copy. So one run gives
 * the marks, and any number of windows afterwards.
 *
 * They are made at random places: the run is cut into cells of equally many calls, and in each one a place is
 * drawn by a hash of PARFOCAL_WINDOWS_SEED and the cell. When there are more than PARFOCAL_WINDOWS_KEPT, two
 * cells each become one, which keeps either place.
 */

/* The first rank comes to a mark, after so many calls of all ranks. Returns true in a runner, with the spans
 * that it has to run through; `first` is the number of the first of them. */
bool pf_kept_pass(unsigned mark, uint64_t calls, struct pf_spans *spans, unsigned *first);

/* In the run, when it is over: the marks at which copies wait, one comment line each. */
void pf_kept_print(FILE *out);

/* Runs spans, in the order of their first marks, in runners, PARFOCAL_WINDOWS_JOBS at a time. `take` gets
 * something of each, numbered from `first`. */
void pf_kept_run(const struct pf_spans *spans, unsigned first, void (*take)(const struct pf_told *told));

/* Ends all of them. Returns the processor time in s that they and their runners have taken. */
double pf_kept_finish(void);

#endif
