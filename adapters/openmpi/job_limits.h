/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Does the system let `ranks` instances be loaded, each with `maps` memory maps? Raises the soft limit of
 * open files when the hard one allows. On failure `why` says which limit to raise to what. */
bool pf_limits_check(int ranks, size_t maps, char *why, size_t n);
