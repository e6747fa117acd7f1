/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

#include "tools/pfinfo/fit.h"
#include "tools/pfinfo/trial.h"

/* Runs of the program that measures (measure.c), for the fits. One trial at a time. */

/* Makes the directory and compiles the program. Ends the process with one line on an error, as all below. */
void measuring_begin(void);
void measuring_end(void);

/* Ends the process with one line, and leaves no directory behind. */
void measuring_give_up(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Runs the program in a model, with what the user wants for pfrun, `more` (NULL-terminated, or NULL) and the
 * program's arguments. Computation does not count. Returns the exit status; when it is not 0 and `must` is
 * set, the process ends. */
int measuring_run(const struct fit_request *request, const char *model, char *const *more, bool must,
                  const char *what, const char *from);

/* What the last run printed; the caller closes it. */
FILE *measuring_output(void);
