/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "base/export.h"

/*
 * Which part of the measured computation of ranks is an interpreter's. A timer of the ranks' thread, which
 * counts processor time, sends a signal that programs do not use (SIGSTKFLT), at most 1,000 times a second or
 * once in each tick of the system; its handler looks where a rank is that computes. What the interpreter has
 * called elsewhere, in the C library too, is not its own. The clock of the rank goes on meanwhile, for less
 * than 0.1 % of the time.
 */

/* The calling rank's program is an interpreter, whose library `function` is in. */
PF_EXPORT void pf_interpreter_begin(const void *function);

/* Computation is measured in this run: without this call there is no timer. */
void pf_interpreter_measures(void);

/* At the end of the run: the share, from 0 to 1, of so many samples. False, if there are too few. */
bool pf_interpreter_share(double *share, unsigned long *samples);
