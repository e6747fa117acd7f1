/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"

/*
 * OpenMP by GCC's library, which the process has once. What it keeps for the thread that begins a parallel
 * region (the team, its threads, what omp_set_num_threads() has set) lies in thread-local memory, and all
 * ranks live in one thread: that memory changes when another rank goes on, and each rank has threads of its
 * own.
 *
 * A region takes as long as its longest thread from barrier to barrier, as if each had a core, or the time of
 * all threads divided by the rank's cores, if that is longer. What exceeds the time of the rank's own thread,
 * with its calls and waits in the region, is added to what the rank has computed.
 */

/* A program of a rank calls this function of the library: from now on each rank has its own state. */
void pf_openmp_found(const void *function);

/* Whose region the calling thread works in, NULL: it is none of a team, or the rank's own. */
struct pf_process *pf_openmp_process(void);

/* The simulated date (s) that such a thread sees: that of the region's begin, and its own time since; 0 for
 * others. */
double pf_openmp_date(void);

/* At the end of the run, from the thread in which ranks lived: says how much other threads have computed for
 * which no rank was charged, if it is much. */
PF_EXPORT void pf_openmp_warn(void);
