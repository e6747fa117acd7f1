/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "adapters/openmpi/family.h"
#include "adapters/openmpi/private/private.h"
#include "adapters/openmpi/stack.h"

/* The files of which instances are made: Open MPI's libraries, the glue, and the plugins. */

enum pf_core {
#define X(name, file) PF_CORE_##name,
    PF_OMPI_LIBRARIES(X)
#undef X
        PF_CORE_GLUE,
    PF_CORE_COUNT
};

/* Finds and maps the libraries and the stack's plugins, and checks that everything an instance needs is
 * there, in the right version. */
bool pf_parts_find(struct pf_ompi_stack *stack, char *why, size_t n);

struct pf_family *pf_parts_core(enum pf_core which);

/* The library of Open MPI's plugins' common code with this name (libmca_common_*), mapped at first use. */
struct pf_family *pf_parts_common(const char *name, char *why, size_t n);

/* A plugin by its path, mapped at first use. */
struct pf_family *pf_parts_plugin(const char *path, char *why, size_t n);

/* Calls `each` with the path of every plugin of the stack; stops at the first non-zero result and returns it.
 */
int pf_parts_each_plugin(const struct pf_ompi_stack *stack, int (*each)(const char *path, void *arg),
                         void *arg);
