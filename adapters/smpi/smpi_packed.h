/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Blocking reductions and scans of items whose data lie outside of their extents, where SMPI's buffers end.
 * SMPI does the communication, message for message, and reduces packed items by an operation of ours, which
 * unpacks them for the user's.
 */
struct pf_own_fn;
void pf_smpi_packed_install(struct pf_own_fn *fn);

/* Two arrays of so many items of a type (an MPI_Datatype of SMPI), as malloc would align them: pointers to
 * their first items, which may lie outside. Returns their memory. */
void *pf_smpi_packed_arrays(void *type, int count, char **one, char **other);

/* The scans; `inclusive` is MPI_Scan. Arguments as there, handles of SMPI. */
int pf_smpi_packed_scan(bool inclusive, const void *send, void *receive, int count, void *type, void *op,
                        void *comm);
