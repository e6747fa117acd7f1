/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "loader/elf_file.h"

/* The file of a library of ours, as below; false if there is none. */
bool pf_own_library_find(char path[PATH_MAX], const char *installed, const char *built);

/* Opens a library of ours with MPI's own names: from its place next to libparfocal in an installation, in a
 * folder of its own since another MPI's may be next to it, or in the build directory. Ends the process with
 * one line if it is in neither. */
void *pf_own_library_open(const char *installed, const char *built);

/* The one with Open MPI's binary interface (ompi_abi/). The dynamic linker then finds it for what needs
 * libmpi.so.40. */
void *pf_own_library_open_openmpi(void);

/* What a reference to a name of MPI or Open MPI leads to there; NULL: it is no such name, or is not there. */
void *pf_own_library_of_openmpi(const char *name);

/* The same of a predefined handle, which is a constant wherever a program of an image takes the address of
 * the variable of that name; NULL: it is none, or the caller's program is not in an image. */
void *pf_own_library_handle(const char *name);

/* The one for its Fortran. */
void pf_own_library_open_fortran(void);

/* Where that is; false if there is none. */
bool pf_own_library_find_fortran(char path[PATH_MAX]);

/* Whether an object needs Open MPI, itself or by what it needs. */
bool pf_own_library_is_for_openmpi(const struct pf_elf *elf);

/* Where a library is that it needs: for Open MPI's own for Fortran, ours. False for Open MPI's first one. */
bool pf_own_library_needed(char path[PATH_MAX], const struct pf_elf *elf, const char *name);
