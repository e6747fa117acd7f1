/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"

/*
 * The application's main(), one private copy per rank. SMPI asks a copy for "main" and finds ours, because
 * pfstart.c (tools/pfcc) hides the application's; so each rank's main() is called from here and may be left
 * early.
 */

/* A copy of the application has been loaded; called by its first constructor, in the rank's own actor. */
PF_EXPORT void pf_program_loaded(int (*program)(int, char **, char **));

/* The number of the calling rank's program (core/job_programs.h); 0 outside of ranks. */
int pf_program_number(void);

/* main() in the calling rank's copy; NULL outside of it. */
const void *pf_program_of_caller(void);

/* The rank called exit(): its main() returns `status`. Does not unwind the stack, since exit() does not
 * either (and the unwinder would end at the first noexcept function, which exit() is in C++). Returns if the
 * caller is not a rank. */
void pf_program_exit(int status);
