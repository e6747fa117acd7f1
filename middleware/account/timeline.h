/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * When each rank visited which (phase, model) pair, for the JSON summary. Only kept when PARFOCAL_TIMELINE
 * says how many visits of a rank may be kept: a long run may change its model millions of times.
 */
struct pf_timeline;
struct json_t;

/* The empty timeline of a rank; NULL when none is wanted, which the next two take as well. Lives to the end
 * of the run. */
struct pf_timeline *pf_timeline_open(int rank);

/* The rank visits the pair `row` (pf_account_rows) from simulated time `now` (seconds) on. A visit that took
 * no simulated time is forgotten. Visits that are too many are not kept. */
void pf_timeline_visit(struct pf_timeline *timeline, int row, double now);

/* The present visit ends at simulated time `now`, the last one of the rank if no other follows. */
void pf_timeline_end(struct pf_timeline *timeline, double now);

/* All timelines, in the order of the ranks: a new array, whose reference the caller takes. */
struct json_t *pf_timelines_json(void);
