/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

#include "adapters/analytic/coll/algorithms/schedule.h"

/* Reads PARFOCAL_ANALYTIC_COLL: per kind the index of an algorithm, -1 for the rules, and the bytes of a
 * segment, 0 for none. Returns false with one line in `why`. */
bool pf_choice_parse(const char *text, int algorithm[PF_COLL_KINDS], size_t segment[PF_COLL_KINDS], char *why,
                     size_t why_size);
