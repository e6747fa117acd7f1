/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tools/pfrun/binary.h"

/* Each of these ends the process with one line that says what to do when something is wrong. */

/* The path of a program: as given when it has a slash, else in the current directory, else found in PATH.
 * NULL: it is nowhere. */
char *check_find(const char *name);

/* The same of the application. Fills in what the file says of itself. */
char *check_application(const char *name, struct binary_facts *facts);

/* Models, agreement and schedule in pf_config, wherever they came from. Returns the bits of all models the
 * run will use. */
unsigned check_models(void);
/* Refuses what needs the packet network when none of these models has it. Whether one needs a network that
 * another process simulates. */
bool check_networks(unsigned models);

/* File descriptors, memory, memory maps, and room for the ranks' copies of the programs in `directory`. */
void check_limits(int ranks, unsigned models, const char *directory);

/* The report directory can be written; it is made when missing. */
void check_report(void);

/* The folders of a host's own file system are absolute paths. */
void check_folders(void);
