/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "loader/elf_file.h"
#include "middleware/process/private.h"

/*
 * The copies of a program as private mappings of one image in memory (loader/image.h), instead of a file and
 * five mappings for each rank. A program that needs the dynamic linker gets copies as before, with the same
 * results: one with thread-local variables, functions for the end, or libraries of its own, or one
 * that calls dlopen.
 */

struct pf_image;

/* Makes the image. NULL if this program has to be copied as files. */
struct pf_image *pf_private_image_make(const struct pf_elf *program, int ranks);

/* The same of a program of another kind, the last one of `files`, after its own libraries. It has no other
 * way: NULL says why, and `missing` is what pf_image_plan says or NULL. */
struct pf_image *pf_private_image_make_kind(const struct pf_private_kind *kind,
                                            const struct pf_elf *const *files, int count, int ranks,
                                            const char **missing, char *why, size_t n);

/* Loads the copy of a rank, whose constructors run: the program, or one of its libraries, which come before.
 * Returns what is loaded. */
void *pf_private_image_load(struct pf_image *image, const struct pf_elf *file, int rank);
