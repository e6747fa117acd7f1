/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_TEST_PORTALS_PLAN_H
#define PF_TEST_PORTALS_PLAN_H

#include "world.h"

/* Puts that start all at once, and when each rank's last one was acknowledged. */
struct exchange {
    int from, to; /* ranks */
    size_t bytes;
    int count;
};

#define MIB ((size_t)1 << 20)

enum { PLAN_RANKS = 400 };

/* Runs the plan (its last entry has count 0) and returns the duration for each rank that sends, 0 for the
 * others. The result is valid until the next run. A message is at most 8 MiB. */
const double *plan_run(const struct world *world, const struct exchange *plan);

/* The same for a star of nodes with the defaults of world.h. */
const double *plan_run_star(const struct exchange *plan, int nodes, int ranks_per_node);

/* Fails unless the value is within `tolerance` (relative) of the expected one. */
void plan_assert_near(double value, double expected, double tolerance);
void plan_assert_between(double value, double low, double high);

#endif
