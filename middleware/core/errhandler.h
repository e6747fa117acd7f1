/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/object.h"

/* Error handlers live in the middleware only; natives always return codes. */
enum pf_errhandler_kind { PF_ERRHANDLER_COMM, PF_ERRHANDLER_WIN, PF_ERRHANDLER_FILE };

/* A new handler for objects of that kind, with one reference; MPI_ERRHANDLER_NULL without memory.
 * `function` has the type that goes with the kind. */
MPI_Errhandler pf_errhandler_new(struct pf_rank *r, enum pf_errhandler_kind kind, void (*function)(void));

/* Is it a predefined handler or one that has not been freed? */
bool pf_errhandler_valid(MPI_Errhandler handle);

/* Replaces the handler of an object. Returns an MPI error class. */
int pf_errhandler_set(MPI_Errhandler *slot, MPI_Errhandler handle, enum pf_errhandler_kind kind);

/* The handler of an object, which the caller frees. Returns an MPI error class. */
int pf_errhandler_get(const MPI_Errhandler *slot, MPI_Errhandler *out);

void pf_errhandler_retain(MPI_Errhandler handle);
void pf_errhandler_release(MPI_Errhandler handle);

/* Runs the handler of `comm` (of MPI_COMM_WORLD when it is no valid communicator) for an error code of the
 * middleware. Returns the code when the handler returns; MPI_ERRORS_ARE_FATAL ends the job with one line that
 * names rank, function, call site. */
int pf_errhandler_raise(struct pf_rank *r, MPI_Comm comm, int code);

/* Runs a handler for an object; `handle` is the address of the object's handle. Returns the code. */
int pf_errhandler_run(struct pf_rank *r, MPI_Errhandler handler, void *handle, int code);

/* ---- error_code.c ---- */

/* The text of an error code of the middleware, predefined or added by the user; NULL for an unknown one. */
const char *pf_errhandler_text(int code);

/* The class of an error code of the middleware; MPI_ERR_UNKNOWN for an unknown one. */
int pf_errhandler_class(struct pf_rank *r, int code);

/* Adds a code of the application to a class; a class (0) is a code that is its own class. Returns the code,
 * 0 without memory. */
int pf_error_code_add(struct pf_rank *r, int error_class);

/* Where the text of an added code is kept, MPI_MAX_ERROR_STRING bytes; NULL for any other code. */
char *pf_error_code_added_text(struct pf_rank *r, int code);
