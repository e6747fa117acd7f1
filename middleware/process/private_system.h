/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "loader/elf_file.h"

/*
 * Libraries of the system of which each rank has a copy (private.h), because they keep data that belong to
 * one process: gfortran's and interpreters' always, and those that PARFOCAL_PRIVATE or `pfcc -private` names.
 * The copy's calls of the C library are led to what the rank has of it.
 */

/* Reads PARFOCAL_PRIVATE, and what pfcc has noted in the program. Ends the process with one line when a name
 * is none of a library, or that of one that must exist once. */
void pf_private_system_ask(const struct pf_elf *program);

/* Whether any were asked for. */
bool pf_private_system_any(void);

/* Whether a library of that file name is one of them. */
bool pf_private_system_is(const char *name);

/* Whether what a library of that file name changes is known to carry nothing between ranks. */
bool pf_private_system_harmless(const char *name);

/* At the end of the run: warns of names that no library had. */
void pf_private_system_report(void);

/* Where the dynamic linker finds it; false if it does not. */
bool pf_private_system_find(char path[PATH_MAX], const char *name);

/* A plug-in of a copy, such as a module of an interpreter, uses names that only the copy defines. Makes them
 * weak, so that the plug-in's own copy can be loaded without them; false if it uses none, and not Open MPI.
 */
bool pf_private_system_plugs(struct pf_elf *elf);

/* Leads those names of a loaded plug-in, and its calls, to what the calling rank has. */
void pf_private_system_plug(void *loaded);

/* Leads what a copy uses and another one defines, `to` that. */
void pf_private_system_lead(void *copy, void *to);

/* From now on such names also lead to what this copy of the calling rank defines. */
void pf_private_system_serve(void *handle);

/* What opens a rank's copy of that library, as dlopen would, and leads its calls. NULL: it is none of them.
 */
typedef void *pf_private_system_open(const char *path, int flags);
pf_private_system_open *pf_private_system_opener(const char *name);
