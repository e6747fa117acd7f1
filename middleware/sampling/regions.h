/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/rank.h"

/*
 * Sampled regions: stretches between two markers that run in a fine model, and the dates at which the ranks
 * pass the markers in them. Each rank changes its model when it passes the first marker, and back when it
 * passes the last one.
 */

/* Reads the file PARFOCAL_REGIONS and opens its result, the same name with .dates; an error there ends the
 * process with one line. */
void pf_regions_read(void);

/* The number of ranks is known. */
void pf_regions_begin(void);

/* Loads the fine model, from a rank's actor. */
void pf_regions_load(void);

/* The rank passes a marker at a date. `runs`: the rank, which may still change its model; NULL: it has ended.
 */
void pf_regions_pass(int rank, struct pf_rank *runs, unsigned marker, double date);

/* The run is over: writes the result. Regions that not all ranks have left are not in it. */
void pf_regions_finish(void);
