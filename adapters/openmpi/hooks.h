/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "adapters/openmpi/stack.h"

/*
 * Open MPI believes that it has a process of its own. Where that belief would touch the real process (its
 * environment, its exit, its clock, its 1,024 thread keys) the calls of a clone are led to functions that
 * answer from the simulated world: those of the C library by loader/libc.def, those of the stack by it. Only
 * the clone's own import table changes; the C library and all other objects stay as they are.
 */

/*
 * Leads the imports of the library behind a dlopen handle to the hooks, and its calls of MPI functions to
 * `libmpi` (also a handle; NULL while there is none yet): libsimgrid exports the same names. Returns how many
 * entries changed.
 */
int pf_hooks_install(const struct pf_ompi_stack *stack, void *library, void *libmpi);

/* What stands for functions of Portals. */
void *pf_hooks_portals(const char *name);

/* The same for an image, whose calls of MPI functions lead to its own in any case (struct pf_image_plan); the
 * argument is the stack. */
bool pf_hooks_find(const char *name, bool undefined, const void *arg, void **value);

/*
 * Leads the imports whose names begin with `prefix` to the exports of another library, both behind dlopen
 * handles: Open MPI loads its plugins so that one can use what another exports, we load them apart. The
 * library must bind its functions lazily. Returns how many entries changed.
 */
int pf_hooks_bind(void *library, const char *prefix, void *provider);

/* Leads the library's own references to its exported function `name` elsewhere, however it was linked; NULL:
 * nowhere. */
int pf_hooks_replace(void *library, const char *name, void *value);

/* Whether a search that found nothing is the first one since the calling actor's rank entered Open MPI. */
extern bool (*pf_hooks_first_search)(void);

/* The calling actor's rank pays simulated time (s) for Open MPI's own work. */
extern void (*pf_hooks_pay)(double seconds);

/* One round of the progress functions of the calling actor's Open MPI. */
extern void (*pf_hooks_progress)(void);
