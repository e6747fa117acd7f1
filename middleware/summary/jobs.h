/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

#include "base/export.h"

/* The host of each rank, for the launcher; the names live as long as the process. */
PF_EXPORT void pf_summary_set_hosts(char *const *names);

/* The jobs of a workload in the summary: each with its name, ranks, dates and status, and what `phases` makes
 * of its ranks, from the first one on. The caller takes the reference. */
struct json_t;
struct json_t *pf_summary_jobs(struct json_t *(*phases)(int first, int count));

/* The same for a terminal: a line for each. */
void pf_summary_print_jobs(FILE *out);
