/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/*
 * dlopen() of the calling rank, also in a thread that it has made. Each rank opens a copy of its own, the
 * same one each time, of a library that pfcc has linked, or that is none of the system's, of an interpreter,
 * of what calls MPI, and of plug-ins: what uses names that only these or the rank's program define. Those of
 * pfcc never serve others (RTLD_GLOBAL counts as RTLD_LOCAL). Other libraries are opened as they are, once
 * for all ranks. Only the opening itself counts as the rank's computation.
 */
void *pf_private_open(const char *name, int flags);

/* Whether ranks have copies of the library at that path. */
bool pf_private_copied(const char *path);

/* Around what opens libraries for a rank: threads of other ranks may do the same at that time. */
void pf_private_enter(void);
void pf_private_leave(void);
