/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/errhandler.h"

/* What the calls on the error handlers of communicators, windows and files have in common. */

/* The calls that make a handler, to their end. */
int pf_errhandler_create(struct pf_rank *r, enum pf_errhandler_kind kind, void (*function)(void),
                         MPI_Errhandler *out);

/* The end of a call: with an error of this class, if it is one. */
int pf_errhandler_finish(struct pf_rank *r, MPI_Comm comm, int error);
