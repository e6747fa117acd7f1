/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* The file of a library of ours, as below; false if there is none. */
bool pf_own_library_find(char path[PATH_MAX], const char *installed, const char *built);

/* Opens a library of ours with MPI's own names: from its place next to libparfocal in an installation, in a
 * folder of its own since another MPI's may be next to it, or in the build directory. Ends the process with
 * one line if it is in neither. */
void *pf_own_library_open(const char *installed, const char *built);

/* The one with Open MPI's binary interface (ompi_abi/). The dynamic linker then finds it for what needs
 * libmpi.so.40. */
void *pf_own_library_open_openmpi(void);
