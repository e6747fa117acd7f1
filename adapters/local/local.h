/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/adapter.h"

/*
 * What a rank does alone: datatypes, operations, groups, infos, statuses, error codes, and the numbers of
 * MPI's named values. Adapters share it, so that one that communicates in its own way needs no second
 * datatype engine. The engine is that of SMPI 3.32; types.h has what its C interface does not offer.
 */

/* Is the engine's version here that all of this depends on? Returns a pf_error; writes the reason when not.
 */
int pf_local_probe(char *why, size_t why_size);

/* The named values. What depends on the way of communication is zero: it is the adapter's to set. */
extern const struct pf_native_values pf_local_values;

/* Fills in the functions that do not communicate; the others stay as they are. `struct pf_own_fn` is that of
 * the engine's mpi.h. */
struct pf_own_fn;
void pf_local_install(struct pf_own_fn *fn);

/* Fills a table of PF_PREDEFINED_LIMIT native handles: everything but the communicators. */
void pf_local_predefined(void **table);

/* MPI_Pack_size, with handles of the engine. */
int pf_local_pack_size(int count, void *type, void *comm, int *size);

/* MPI_Pack and MPI_Unpack, with handles of the engine. */
int pf_local_pack(const void *from, int count, void *type, void *packed, int size, int *position, void *comm);
int pf_local_unpack(const void *packed, int size, int *position, void *to, int count, void *type, void *comm);

/* Slots of struct pf_adapter_ops. */
void pf_local_status_get(const void *native, struct pf_native_status_view *out);
int pf_local_error_class(struct pf_instance *in, int code);
