/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "adapters/openmpi/family.h"
#include "adapters/openmpi/stack.h"

/*
 * The libraries of an instance as one image (loader/image.h), which is how instances are made unless the
 * configuration asks for clones, or the image has to be refused.
 */

/* Whether an image is to be tried. */
bool pf_ompi_image_wanted(void);

/* Makes the image of all that was found for the stack (parts.h), once, with room for the instances of so many
 * ranks. False, and why, if it is refused. */
bool pf_ompi_image_make(struct pf_ompi_stack *stack, int ranks, char *why, size_t n);

/* Has what Open MPI reads in each wait fetched when this rank is woken. */
void pf_ompi_image_fetch(const struct pf_ompi_stack *stack, pf_self_t *self);

/* One of its libraries for this rank, as pf_clone_load(). Its calls lead to where hooks.h has them. */
void *pf_ompi_image_load(const struct pf_ompi_stack *stack, const struct pf_family *member, int rank,
                         char *why, size_t n);
