/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_SAMPLING_COPIES_H
#define PF_MIDDLEWARE_SAMPLING_COPIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"

/*
 * Copies of the whole simulation, made by fork(): all ranks are contexts of one thread, so a copy has them
 * all and goes on from where the run is. It tells some dates and is gone. It writes to no file, its
 * application's output goes nowhere, it removes nothing, and it ends when the run ends, however that is. The
 * run itself does not notice but by its wall-clock.
 */

/* Before the application runs: notes which files are open for others than it. */
void pf_copies_prepare(void);

/* Makes a copy for a window, when as many as PARFOCAL_WINDOWS_JOBS allows are running after one has ended.
 * Returns true in the copy. What cannot be copied ends the process with one line. */
bool pf_copies_make(unsigned window);

/* Is this process a copy? */
bool pf_copies_is_one(void);

/* In a copy: its dates are known. It ends. */
void pf_copies_tell(const double *dates, size_t count) __attribute__((noreturn));

/* In a copy: it ends, and the run is told why. Elsewhere nothing happens. `why` follows "its copy ". */
PF_EXPORT void pf_copies_fail(const char *why);

/* What a copy has told. */
struct pf_copy_result {
    const double *dates;
    size_t count;
    const char *failure; /* NULL: it has told all */
    double cost;         /* s of processor time, without the application's if it has told all */
};

/* Waits for all copies, and hands over what each has told, in the order in which they were made. */
void pf_copies_finish(void (*take)(unsigned window, const struct pf_copy_result *result));

#endif
