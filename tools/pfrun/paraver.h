/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/* Traces for Paraver (-trace prv:FILE), which pfparaver makes of a recording at the end of the run. */

/* The run will write such a trace. A name that cannot be ends the process with one line. */
void paraver_expect(const char *file);
bool paraver_expected(void);

/* Writes the files. After pf_recording_finish; a run that ends early does it as well. */
void paraver_write(void);
