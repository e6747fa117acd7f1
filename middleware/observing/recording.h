/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

struct pf_rank;

/*
 * The calls of a run for pfrun -replay (docs/replay.md), as PARFOCAL_REPLAY_RECORD asks. The entries of the
 * MPI functions go through record_* of record_core.h then.
 */
extern bool pf_recording_on __attribute__((visibility("hidden"))); /* as pf_counting_on */

/* A call begins at this date of the rank, its computation before it charged. */
void pf_recording_entered(struct pf_rank *r, double date);

/* After MPI_Init, and before MPI_Finalize. */
void pf_recording_init(void);
void pf_recording_finalize(void);
