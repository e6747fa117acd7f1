/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/object.h"

/* Reduction operations of the user. Each implementation gets a closure that passes our handles on. */
struct pf_op;

/* The native handle for a call that uses the operation with this datatype. Implementations have one object
 * for MPI_INT, MPI_INTEGER and MPI_LOGICAL: if it is predefined, the user's function gets the one of the
 * latest call. */
pf_native_op_t pf_op_native(struct pf_instance *in, MPI_Op handle, MPI_Datatype datatype);

/* Whether the standard has a logical or bitwise operation for the datatype, or for MPI_LOGICAL this operation
 * (MPI 3.1 section 5.9.2). Not all implementations know: to some MPI_LOGICAL is MPI_INT. MPI_BYTE becomes
 * MPI_UNSIGNED_CHAR where the standard has no operation on it, but Open MPI and MPICH do. */
bool pf_op_suits(MPI_Op handle, MPI_Datatype *datatype);

/* Whether it suits the datatypes of an accumulate. MPI_BYTE stays where the other one is derived of it. */
bool pf_op_suits_both(MPI_Op handle, MPI_Datatype *origin, MPI_Datatype *target);

void pf_op_retain(MPI_Op handle);
void pf_op_release(MPI_Op handle);

/* The native shadow of a user's operation. */
extern const struct pf_object_ops pf_op_ops;
