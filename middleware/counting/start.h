/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_COUNTING_START_H
#define PF_MIDDLEWARE_COUNTING_START_H

#include "base/export.h"

/* Counts every MPI call from now on; the summary shows it. Works before the application is loaded only. */
PF_EXPORT void pf_counting_start(void);

#endif
