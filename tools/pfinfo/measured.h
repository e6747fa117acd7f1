/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "adapters/analytic/cost/parameters/fit.h"

/*
 * Reads what the program of pfinfo --fit-program has printed on a real machine, in one run or in many: of
 * times that are there more than once the median counts. Sizes that are 0 or powers of two go to `fit`, the
 * others to `between`. Returns NULL on success, else one line, valid until the next call.
 */
const char *measured_read(const char *path, struct pf_fit *fit, struct pf_fit *between);
