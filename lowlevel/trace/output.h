/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * A file that receives a trace. What stood in it before is given up with the first byte that is written, and
 * a file that was made for a run without a trace is removed. The buffer is our own, so that the handler of a
 * signal can close the file.
 */
struct pf_trace_output {
    char *path;
    int fd;
    bool made;  /* by us */
    bool begun; /* something has been written */
    bool broken;
    size_t used;
    char buffer[1 << 15];
};

/* Opens the file for writing; a failure ends the process with one line. */
void pf_trace_output_open(struct pf_trace_output *output, const char *path);
void pf_trace_print(struct pf_trace_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes what is left. A file that nothing was written to is removed if it was made for this run. */
void pf_trace_output_close(struct pf_trace_output *output);
