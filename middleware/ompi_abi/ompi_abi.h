/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdlib.h>

#include "base/export.h"
#include "ompi_values.h"

/*
 * What Open MPI's binary interface has otherwise than the middleware's, for the entry points that
 * surface/ompi_entries.py writes (ompi_entries.c). Compiled with Open MPI's own mpi.h: here MPI_ANY_SOURCE is
 * Open MPI's, and `in` goes from it to the middleware.
 */

/* The middleware's MPI_Status. */
struct pf_abi_status {
    int source, tag, error;
    int reserved[5]; /* middleware/core/status.h */
};

/* Fills in `own` with what Open MPI's status holds, and returns it; NULL for MPI_STATUS_IGNORE. */
struct pf_abi_status *pf_status_begin(const MPI_Status *status, struct pf_abi_status *own);
void pf_status_end(MPI_Status *status, const struct pf_abi_status *own);

/* The same for arrays, which are released at the end. `used`: how many the call has filled in, if its code
 * says that it has filled in any. */
struct pf_abi_status *pf_statuses_begin(const MPI_Status *statuses, int count);
void pf_statuses_end(MPI_Status *statuses, struct pf_abi_status *own, int used, int code);

/* Room for a text of any length that the middleware writes; copies it (unless `text` is NULL) as far as there
 * is room, and its length. */
char *pf_text_begin(void);
void pf_text_end(char *text, char *own, int *length, size_t room);

/* Arrays of values: a copy that the caller releases, and in place. */
int *pf_ints_in(const int *values, int count, int (*translate)(int));
void pf_ints_out(int *values, int count, int (*translate)(int));

/* The same array, or what stands for none. */
int *pf_weights_in(const int *weights);

/* Attributes that are named values; `value` is where a call has written the address of one. */
void pf_attribute_out(int keyval, void *value);

/* Where the caller's next call of the middleware comes from, for diagnoses (middleware/fortran/caller.c). */
PF_EXPORT void pf_fortran_called_from(const void *site);

/* Ends the run. */
void pf_abi_absent(const char *name) __attribute__((noreturn));
