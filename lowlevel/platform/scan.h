/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most hosts that a platform may have: as many as there may be ranks. */
#define PF_PLATFORM_MOST_HOSTS 10000000.0

/*
 * Looks at a platform in XML before SimGrid does, which takes any number, makes as many hosts as it is asked
 * for, and ends in the middle of a sentence where zones are nested too deeply. False, with one line in
 * `error` that names file, line, element and value, where it must not see the file. What is no XML at all is
 * left to SimGrid, which says so. No simulated time; some nanoseconds for each byte.
 */
bool pf_platform_scan(const char *file, char *error, size_t error_size);

/* Whether `name` is that of a link of SimGrid's, or of both directions of a split-duplex one (_UP, _DOWN). */
bool pf_platform_names_link(const char *name, const char *link);

/* Whether the platform that was looked at changes the latency of this link during the run, which SimGrid does
 * not report. */
bool pf_platform_latency_changes(const char *link);

#ifdef __cplusplus
}
#endif
