/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What stands for the dynamic linker's functions in a program whose libraries it does not know (abi.h): those
 * of the rank's copy are found there, with the C library and MPI as the program sees them; other libraries
 * are opened as in programs of pfcc (private_open.h). A handle is the dynamic linker's or a library's
 * place in the copy (loader/image.h), which is never closed.
 */

/* The function that answers references of this name; NULL: the name is not one of these. */
void *pf_abi_linker(const char *name);
