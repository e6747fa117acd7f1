/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/*
 * gfortran's library. It holds what belongs to one process: the table of units (each rank may open unit 10),
 * their buffers, the arguments of the command line, the state of random_number. So each rank gets a copy
 * (private.h), and the copy's calls of the C library are led to the simulated world: STOP ends the rank, and
 * cpu_time, system_clock and date_and_time show simulated time.
 */

/* Whether a library of that name is it. */
bool pf_fortran_runtime_is(const char *name);

/* Leads the calls of a copy in an image (loader/image.h) instead, before it begins. */
void pf_fortran_runtime_lead(void *loaded);

/* dlopen of a rank's copy, whose calls are led from then on. NULL when the linker refuses it (dlerror). */
void *pf_fortran_runtime_open(const char *path, int flags);
