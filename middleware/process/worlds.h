/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/job_state.h"

/* The worlds of the run: one, or one for each job of a workload. */

/* Makes them, with the models and schedules that they begin in; ends the process with one line where these
 * are none. Once: later calls do nothing. */
void pf_worlds_read(void);

/* The ranks of the whole run are `size`: each world knows its own. */
void pf_worlds_number(int size);

/* The one that a rank belongs to, once they are numbered. */
struct pf_world *pf_world_of(int rank);

/* One bit (1 << model) for each model that a world starts in, or that its schedule names. */
unsigned pf_world_models(const struct pf_world *world);

/* The calling actor is about to begin as this rank: waits until its job may begin. */
void pf_world_await(int rank);

/* The rank's main() is over, with this status. */
void pf_world_left(int rank, int status);
