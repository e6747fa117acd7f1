/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/export.h"

/* Notes the command line for the summary. The launcher calls it; under stock smpirun the summary has none. */
PF_EXPORT void pf_summary_set_command(int argc, char *const *argv);

/* Notes the job. */
PF_EXPORT void pf_summary_set_job(int np, const char *executable, const char *platform);

/* Reads the summary of the same run on an ideal network, and closes the file. Returns false, and changes
 * nothing, when there is none in it. */
PF_EXPORT bool pf_summary_read_ideal(FILE *in);

/* Adds one text to the summary's "versions" (MPI implementations add theirs when they are loaded). Both are
 * copied. */
PF_EXPORT void pf_summary_add_version(const char *component, const char *version);

/* Adds what one rank has done through its simulated NIC. */
struct pf_portals_counters;
struct pf_ucx_counters;
PF_EXPORT void pf_summary_add_portals(const struct pf_portals_counters *counters);
PF_EXPORT void pf_summary_add_ucx(const struct pf_ucx_counters *counters);

/* Adds a section to the summary for what a layer has found: `make` gives it when the summary is written, as a
 * new object whose reference the caller takes. Layers call this when they are switched on. */
struct json_t;
void pf_summary_add_section(const char *name, struct json_t *(*make)(void));

/* Writes the JSON summary where the configuration wants it (PARFOCAL_SUMMARY, PARFOCAL_REPORT) and prints the
 * table when the configuration says so. Only the first call does anything. `status`: the exit status of the
 * run. Returns false when something could not be written, which has been said. */
PF_EXPORT bool pf_summary_finish(int status);
