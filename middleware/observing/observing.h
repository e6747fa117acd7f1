/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/observed.h"

/* The calls by pf_MPI_ names come through here, in and out (surface/entries.py). `code` is what the call
 * returns, MPI_SUCCESS when that is no error code. MPI_Abort has no way out. */
void pf_observe_begin(struct pf_observed *call, int fn, const void *site);
void pf_observe_end(struct pf_observed *call, int code);
