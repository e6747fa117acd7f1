/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/object.h"

/* Reduction operations of the user. Each implementation gets a closure that passes our handles on. */
struct pf_op;

void pf_op_retain(MPI_Op handle);
void pf_op_release(MPI_Op handle);

/* The native shadow of a user's operation. */
extern const struct pf_object_ops pf_op_ops;
