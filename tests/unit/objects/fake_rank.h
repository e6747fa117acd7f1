/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_RANK_H
#define FAKE_RANK_H

#include "middleware/comm/routing.h"

/* A rank without a simulation: MPI calls of this program come from it. Error handlers return. */
struct pf_rank *fake_rank(int rank, int size);

/* Errors that ended "the job" are caught here: the last status, 0 when there was none. */
extern int fake_aborted;

#endif
