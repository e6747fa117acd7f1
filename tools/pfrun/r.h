/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "tools/pfrun/options.h"

/*
 * R: `Rscript app.R` or `R -f app.R`. These are not the program that runs, which the part of the job names
 * then, with the arguments and the environment that they would give to it. Ends the process with one line
 * when R does not print where it is. Others stay as they are.
 */
void r_prepare(struct part *part);
