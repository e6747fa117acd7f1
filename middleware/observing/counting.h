/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <mpi.h>
#include <stdbool.h>

#include "adapters/model.h"
#include "pf_fn.h"

/* Whether the calls are counted. The dynamic linker reads it while it loads the application
 * (surface/entries.py), so it is found without a table that might not be filled yet. */
extern bool pf_counting_on __attribute__((visibility("hidden")));

/* The model in force for the calling rank, to which a call that begins now will be counted: PF_MODEL_NONE
 * before MPI_Init. */
enum pf_model pf_counting_model(void);

/* Counts one call of function `fn` (PF_FN_...) that began in `model` and returned `code`, an error class or
 * code of ours. PF_MODEL_NONE: the model that the rank has now, or the starting one while it has none. */
void pf_counting_add(int fn, enum pf_model model, int code);
