/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "tools/pfrun/options.h"

/*
 * The run on an ideal network (-explain=ideal): what it has recorded is played in another process, in model
 * analytic where everything but the program's own time takes none. So what ranks compute is the same in both,
 * measured or not.
 */

/* Before pf_recording_start, after the traces were opened. Ends the run where it cannot be. */
void ideal_expect(const struct options *options);

/* After the run, before its summary, which gets the result; nothing unless it is expected. */
void ideal_run(void);
