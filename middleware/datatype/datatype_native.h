/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/datatype/datatype.h"

/* Keeps the table behind pf_datatype_from_native: a shadow exists, or is about to be freed. */
void pf_datatype_native_add(struct pf_rank *r, int impl, void *native, MPI_Datatype handle);
void pf_datatype_native_remove(struct pf_rank *r, int impl, void *native);
