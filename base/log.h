/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_BASE_LOG_H
#define PF_BASE_LOG_H

#include "base/export.h"

/* One line on stderr, prefixed by "parfocal: warning: ". */
PF_EXPORT void pf_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line on stderr, prefixed by "parfocal: error: ", then a clean exit with status 1. For bad input, found
 * before or during a run; says what is wrong, where, and what to do. */
PF_EXPORT void pf_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* What pf_die and every abnormal end run first (removing files, flushing the summary). At most eight; run in
 * reverse order, once. */
PF_EXPORT void pf_at_end(void (*clean)(void));

/* Who wants to know of pf_die's message; NULL: nobody. */
PF_EXPORT void pf_on_death(void (*tell)(const char *message));

/* Runs the pf_at_end functions, but in a child or copy (base/child.h), and leaves the process with `status`
 * without running exit handlers, which are not safe from a simulated actor's stack. */
PF_EXPORT void pf_end_process(int status) __attribute__((noreturn));

#endif
