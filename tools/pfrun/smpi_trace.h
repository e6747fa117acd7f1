/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/*
 * The traces that SimGrid writes by itself (pfrun -trace smpi:FILE, ti:FILE): it reports no failure.
 */

/* A file that cannot be written ends the process with one line. */
void smpi_trace_try(const char *file);

/* The run will write such a trace to this file. One that cannot be written ends the process with one line. */
void smpi_trace_expect(const char *file);

/* At the end of the run: is it there, and whole? Says what is wrong. True without a trace. */
bool smpi_trace_complete(void);
