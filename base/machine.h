/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

#include "base/export.h"
#include "base/setting_file.h"

/*
 * Machines: files of settings (setting_file.h) that say all at once what a machine is. Those of Parfocal lie
 * in its data folder, machines/NAME.machine, others anywhere.
 */

/*
 * Sets the rows of the machine that pf_config.machine names, but for those that the user has given; keys with
 * a slash are left to the caller. Returns the file, which lives as long as the process, or NULL when no
 * machine is named. Ends the process with one line when there is no such machine or a row of it is
 * impossible.
 */
PF_EXPORT const struct pf_setting_file *pf_machine_apply(void);

/* Prints the machine's description and its rows with value, default and source. */
PF_EXPORT void pf_machine_print(const struct pf_setting_file *machine, FILE *out);

/* Prints the names of Parfocal's own machines, each with the first line of its description. */
PF_EXPORT void pf_machine_list(FILE *out);

/* Reads the file that pf_config.calibrated names: settings of SimGrid alone. NULL when none is named. */
PF_EXPORT struct pf_setting_file *pf_calibration_read(void);
