/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_ERRHANDLER_H
#define PF_MIDDLEWARE_ERRHANDLER_H

#include "middleware/core/object.h"

/* Error handlers live in the hub only; natives always return codes. */
void pf_errhandler_retain(MPI_Errhandler handle);
void pf_errhandler_release(MPI_Errhandler handle);

/* Runs the handler of `comm` (of MPI_COMM_WORLD when it is no valid communicator) for an error code of the
 * hub. Returns the code when the handler returns; MPI_ERRORS_ARE_FATAL ends the job with one line that names
 * rank, function, call site. */
int pf_errhandler_raise(struct pf_rank *r, MPI_Comm comm, int code);

/* The same for windows and files, whose handlers are found by the functions below. */
int pf_errhandler_raise_win(struct pf_rank *r, MPI_Win win, int code);
int pf_errhandler_raise_file(struct pf_rank *r, MPI_File file, int code);

/* The text of an error code of the hub, predefined or added by the user; NULL for an unknown one. */
const char *pf_errhandler_text(int code);

/* The class of an error code of the hub; MPI_ERR_UNKNOWN for an unknown one. */
int pf_errhandler_class(struct pf_rank *r, int code);

/* Windows and files are defined elsewhere: where the error handler of one is kept, NULL when the handle is
 * none. Weak stand-ins that know none serve a build without them. */
MPI_Errhandler *pf_win_errhandler(struct pf_rank *r, MPI_Win win);
MPI_Errhandler *pf_file_errhandler(struct pf_rank *r, MPI_File file);

#endif
