/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"
#include "middleware/process/private.h"

/*
 * Programs that were built against the standard ABI of MPI 5.0: ordinary executables that need
 * libmpi_abi.so.0 and were linked by any compiler. Their references are bound when their image is made: MPI's
 * functions to the middleware, those of loader/libc.def to the simulated world. Programs in C that were built
 * for Open MPI are bound in the same way, to the library that has its binary interface (ompi_abi/).
 */

extern PF_EXPORT const struct pf_private_kind pf_abi_programs, pf_openmpi_programs;

/* What a reference of that name leads to in the caller's program, which is such a copy, if that and its
 * libraries do not define it. */
bool pf_abi_answer(const char *name, void **value);
