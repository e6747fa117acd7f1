/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "base/export.h"

/* What the launcher gives to a program of our own, of which each rank has a copy in the same process. The
 * launcher keeps it until the end of the run. */
PF_EXPORT void pf_hand(void *what);

/* NULL if nothing was given. */
PF_EXPORT void *pf_handed(void);

/* The rank that calls this plays a trace: what it does between its calls is not measured as computation.
 * After MPI_Init. */
PF_EXPORT void pf_handed_plays(void);

/* The run is about to end because of what was given: where its ranks are explains nothing. */
PF_EXPORT void pf_handed_refuse(void);
bool pf_handed_refused(void);
