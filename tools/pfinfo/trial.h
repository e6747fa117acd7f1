/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* A program that pfinfo compiles with pfcc and runs with pfrun, in a temporary directory. */
struct trial {
    char dir[PATH_MAX - 100];
    char source[PATH_MAX], app[PATH_MAX], output[PATH_MAX];
    char pfcc[PATH_MAX], pfrun[PATH_MAX];
    unsigned seconds; /* that a run may take; 0: two minutes */
};

/* Finds the tools and makes the directory. Returns NULL on success, else one line, valid until the next call.
 */
const char *trial_begin(struct trial *trial);

/* Removes the directory. */
void trial_end(struct trial *trial);

/* Runs a command without a shell, its output into trial->output, for at most trial->seconds. Returns the exit
 * status, -1 when it could not run at all. */
int trial_run(struct trial *trial, char *const argv[]);

/* The last line of the output that says something, for a message. */
const char *trial_last_line(struct trial *trial, char *line, size_t size);

/* Where temporary files go. */
const char *trial_temporary(void);
