/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "tools/pfrun/options.h"

/* An executable script becomes an argument of what its first line names. False: it is none. */
bool script_prepare(struct part *part);

/* Starts a command, for what it prints. Ends the process with one line if it cannot. */
FILE *script_ask(char *const *command, pid_t *child);
