/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "adapters/openmpi/glue/glue.h"
#include "base/self.h"

/*
 * One stock Open MPI per simulated rank, all in this process. Native handles travel as void pointers: this
 * header needs none of Open MPI's. Native functions come from pf_ompi_symbol and are called by the rank's own
 * actor.
 */

/* The job. `ranks` has `size` entries, which live as long as the process and are complete when instances are
 * made. */
struct pf_ompi_job {
    int size;
    pf_self_t *const *ranks;
    void (*on_abort)(int rank, int status); /* Open MPI wants to end the job; must not return */
};

struct pf_ompi_instance;

/* What is below Open MPI, and the copies over it (stack.h). */
struct pf_ompi_stack;
extern struct pf_ompi_stack pf_ompi_portals, pf_ompi_ucx;

/* Can Open MPI be used over this stack here for `size` ranks? Checks version, plugins, limits and space and
 * loads nothing. Returns an enum pf_error, and in `why` one line that says what to do. */
int pf_ompi_probe(struct pf_ompi_stack *stack, int size, char *why, size_t n);

/* Once per stack, before the instances: checks as pf_ompi_probe and keeps a copy of the job. */
int pf_ompi_open(struct pf_ompi_stack *stack, const struct pf_ompi_job *job, char *why, size_t n);

/* Loads and initialises the instances of all ranks, from a rank's actor, at the current simulated date and at
 * no simulated time; other ranks go on. A second caller waits for the first. Returns an enum pf_error. */
int pf_ompi_instances_create(struct pf_ompi_stack *stack, char *why, size_t n);

/* The instance of a rank, NULL before it has been created. */
struct pf_ompi_instance *pf_ompi_instance(const struct pf_ompi_stack *stack, int rank);

/* A function or object of the rank's libmpi, such as "PMPI_Send" or "ompi_mpi_comm_world"; NULL when there is
 * none. */
void *pf_ompi_symbol(struct pf_ompi_instance *inst, const char *name);

/* Before every native call: a call that finds nothing to do returns instead of blocking from fatigue. */
void pf_ompi_enter(struct pf_ompi_instance *inst, int network);

/* What the rank's Open MPI does beyond its native functions: communicators and windows made locally, requests
 * looked at. By the rank's own actor, as native functions are. */
const struct pf_glue *pf_ompi_glue(const struct pf_ompi_instance *inst);

/* Makes Open MPI do what can be done now, by an actor that works on behalf of the rank. Never blocks.
 * The stack's set_notify reports when that is worth while. */
void pf_ompi_progress(struct pf_ompi_instance *inst);
