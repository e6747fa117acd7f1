/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"
#include "middleware/process/private.h"

/*
 * Programs that were built against the standard ABI of MPI 5.0: ordinary executables that need
 * libmpi_abi.so.0 and were linked by any compiler. Their references are bound when their image is made: MPI's
 * functions to the middleware, those of loader/libc.def to the simulated world.
 */

extern PF_EXPORT const struct pf_private_kind pf_abi_programs;

/* Opens a library of ours with MPI's own names: from its place next to libparfocal in an installation, in a
 * folder of its own since another MPI's may be next to it, or in the build directory. Ends the process with
 * one line if it is in neither. */
void *pf_abi_open(const char *installed, const char *built);
