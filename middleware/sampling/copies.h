/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_SAMPLING_COPIES_H
#define PF_MIDDLEWARE_SAMPLING_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/export.h"
#include "middleware/sampling/told.h"

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

/* Makes a copy, which tells through ends[1], and the run listens at ends[0]; each has the other end closed.
 * Returns its process, 0 in the copy. What cannot be copied ends the process with one line. */
pid_t pf_copies_split(const int ends[2]);

/* This process, just made by the process `original`, is a copy that tells through `fd`. */
void pf_copies_become(int fd, pid_t original);

/* From now on the copy is given up after PARFOCAL_WINDOWS_LIMIT. */
void pf_copies_limit(void);

/* Is this process a copy? */
bool pf_copies_is_one(void);

/* In a copy: dates of a window are known, and nothing more is to be told. */
void pf_copies_tell(const struct pf_told *told);
void pf_copies_end(void) __attribute__((noreturn));

/* In a copy: it ends, and the run is told why. Elsewhere nothing happens. `why` follows "its copy ". */
PF_EXPORT void pf_copies_fail(const char *why);

/* Waits for all copies, and hands over what each has told, in the order in which they were made. */
void pf_copies_finish(void (*take)(const struct pf_told *told));

/* What wait() says of a copy that has told nothing, in words that follow "its copy ". */
const char *pf_copies_status(int status, char *text, size_t size);

/* "PARFOCAL_WINDOWS_BY fork: ", for messages. */
const char *pf_copies_setting(void);

#endif
