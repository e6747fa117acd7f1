/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"

/*
 * How far a run is, while it runs: wall-clock, simulated time, phase, model, messages, memory. It only looks:
 * simulated time does not notice.
 */

enum { PF_LIVE_LINE = 400 }; /* more than the longest line, with room for an end */

/* Writes the line, without an end and without a terminating zero; returns its length. Safe in a signal
 * handler.
 */
PF_EXPORT size_t pf_live_line(char text[PF_LIVE_LINE]);

/* From now on a thread of its own writes the line to stderr every pf_config.progress seconds; nothing when
 * that is 0. On a terminal each line takes the place of the one before. */
PF_EXPORT void pf_live_start(void);

/* Ends that, and takes the line away. Harmless when it has not been started. */
PF_EXPORT void pf_live_stop(void);
