/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "base/export.h"

/*
 * The checking layer (PARFOCAL_CHECK), as the rest of the middleware sees it. README.md says how it works,
 * docs/check.md what it finds. Without it every function here does nothing.
 */

/* The exit status of a run that would have ended well and in which something was found. */
#define PF_CHECK_STATUS 86

struct pf_rank;

/* Whether the layer lies around the MPI functions in this run. The dynamic linker asks while it loads the
 * application, which may be before anything else of ours is ready: a variable is. */
extern bool pf_check_on;

/* Puts the layer around the MPI functions; works before the application is loaded only. */
PF_EXPORT void pf_check_enable(void);

/* MPI_Init of a rank: watches it from now on. Returns false without the layer. */
bool pf_check_start(struct pf_rank *r);

/* A deadlock or livelock: no rank can go on. */
PF_EXPORT void pf_check_stuck(void);

/* It has left main() without MPI_Finalize. */
void pf_check_unfinalized(const struct pf_rank *r);

/* MPI_Init or MPI_Init_thread was called again. */
void pf_check_twice(struct pf_rank *r, int fn, const void *site);

/* Prints how much was found, and returns the exit status of a run that would have ended with `status`: that,
 * or PF_CHECK_STATUS instead of 0. */
PF_EXPORT int pf_check_status(int status);
