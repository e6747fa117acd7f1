/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>
#include <sys/types.h>

/* The words of a script's first line, behind #!, without env and its option -S; NULL at the end. `room`
 * counts that, too. Their number, 0 if the file is no script. */
int script_words(const char *path, char **words, int room);

/* Starts a command, for what it prints. Ends the process with one line if it cannot. */
FILE *script_ask(char *const *command, pid_t *child);
