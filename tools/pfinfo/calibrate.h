/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "tools/pfinfo/fit.h"

/* Measures in the finer model, writes settings of SimGrid with which model smpi comes near to it (pfrun
 * -calibrated), and prints the error at sizes that were not used. Ends the process with one line on an error;
 * returns the exit status. */
int calibrate_smpi(const struct fit_request *request);
