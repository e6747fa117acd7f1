/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <sys/types.h>

#include "base/export.h"

/* Helper programs of the tools, which users do not type. */

/* Where the helper `name` is: near the tool in the build directory, or where it was installed, which may
 * have been moved as a whole. The caller frees the path. NULL: it is nowhere. */
PF_EXPORT char *pf_helper_find(const char *name);

/* Runs it with these words, of which the first is its name, and these variables, on these files, but does not
 * wait for it. Returns its process; one that is not there ends this one with one line. */
PF_EXPORT pid_t pf_helper_start(const char *name, char **words, char **variables, const int files[3]);

/* Waits for it, and returns its status as waitpid() gives it. */
PF_EXPORT int pf_helper_wait(pid_t child);

/* Runs it with these words, of which the first is its name, from the file `in` into the file `out`, and waits
 * for it. One that is not there ends the process with one line; so does one that fails, by a line of its own.
 */
PF_EXPORT void pf_helper_run(const char *name, char **words, int in, int out);
