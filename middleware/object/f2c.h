/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "mpi.h"

/* What the generated MPI_Comm_c2f(), MPI_Comm_f2c() and the like call: `null` for an unused number. */
MPI_Fint pf_fortran_number(const void *handle);
void *pf_fortran_handle(MPI_Fint number, const void *null);
