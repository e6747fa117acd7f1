/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_PRIVATE_IMAGE_H
#define PF_MIDDLEWARE_PRIVATE_IMAGE_H

#include <stdbool.h>

#include "loader/elf_file.h"

/*
 * The copies of a program as private mappings of one image in memory (loader/image.h), instead of a file and
 * five mappings for each rank. What takes the dynamic linker gets copies as before, and nobody sees a
 * difference: a program with thread-local variables, functions for the end, or libraries of its own, or one
 * that calls dlopen.
 */

/* Makes the image, the first time. False if this program has to be copied as files. */
bool pf_private_image_make(const struct pf_elf *program, int ranks);

/* Loads the copy of a rank, whose constructors run. */
void pf_private_image_load(const struct pf_elf *program, int rank);

#endif
