/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"

/* One line on stderr, prefixed by "parfocal: warning: ". */
PF_EXPORT void pf_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The texts of pf_warn in the order of their calls, the first 32 at most; NULL behind the last. */
PF_EXPORT const char *pf_warning(int index);

/* One line on stderr, prefixed by "parfocal: error: ", then a clean exit with status 1. For bad input, found
 * before or during a run; says what is wrong, where, and what to do. */
PF_EXPORT void pf_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* What pf_die calls with its message, once that is printed: `end` may end less than the process, and does not
 * return then, having called pf_die_less(): the process goes on, and may fail once more. NULL: nothing. */
PF_EXPORT void pf_die_through(void (*end)(const char *message));
PF_EXPORT void pf_die_less(void);

/* What pf_die and every abnormal end run first (removing files, writing the summary). Run in reverse order,
 * once. */
PF_EXPORT void pf_at_end(void (*clean)(void));

/* Why the run ends before it is complete, in a few words: the first reason that is given counts; pf_die gives
 * its message. Empty while there is none. */
PF_EXPORT void pf_end_because(const char *format, ...) __attribute__((format(printf, 1, 2)));
PF_EXPORT const char *pf_end_reason(void);

/* The status of pf_end_process, for those functions. */
PF_EXPORT int pf_end_status(void);

/* Runs the pf_at_end functions, but in a child (base/child.h), and leaves the process with `status`
 * without running exit handlers, which are not safe from a simulated actor's stack. */
PF_EXPORT void pf_end_process(int status) __attribute__((noreturn));
