/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_OPENMPI_OPENMPI_H
#define PF_OPENMPI_OPENMPI_H

#include <stdbool.h>
#include <stddef.h>

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

/* Can Open MPI be used here for `size` ranks? Checks version, plugins, limits and space and loads nothing.
 * Returns an enum pf_error, and in `why` one line that says what to do. */
int pf_ompi_probe(int size, char *why, size_t n);

/* Once per process, before the instances: checks as pf_ompi_probe and keeps a copy of the job. */
int pf_ompi_open(const struct pf_ompi_job *job, char *why, size_t n);

/* Loads and initialises the instances of all ranks, from a rank's actor, at the current simulated date and at
 * no simulated time; other ranks go on. A second caller waits for the first. Returns an enum pf_error. */
int pf_ompi_instances_create(char *why, size_t n);

/* The instance of a rank, NULL before it has been created. */
struct pf_ompi_instance *pf_ompi_instance(int rank);

/* A function or object of the rank's libmpi, such as "PMPI_Send" or "ompi_mpi_comm_world"; NULL when there is
 * none. */
void *pf_ompi_symbol(struct pf_ompi_instance *inst, const char *name);

/* Before every native call: a call that finds nothing to do returns instead of blocking from fatigue. */
void pf_ompi_enter(struct pf_ompi_instance *inst, int network);

/* A communicator over ranks of the world, made locally. All members pass the same `id`, an id of the hub in
 * [0, pf_ompi_shadow_limit) that no other live communicator has. Returns MPI_SUCCESS or a native error class.
 */
int pf_ompi_comm_shadow(struct pf_ompi_instance *inst, const int *world_ranks, int n, int my_index, int id,
                        void **native);
int pf_ompi_shadow_limit(void);
struct pf_intercomm_recipe;
int pf_ompi_intercomm_shadow(struct pf_ompi_instance *inst, const struct pf_intercomm_recipe *recipe,
                             void **native);

/* Frees a communicator, shadow or not; local. */
void pf_ompi_comm_release(struct pf_ompi_instance *inst, void *native);

/* Is there a shadow of this id, if only one that was freed and that operations in progress keep? */
bool pf_ompi_comm_kept(const struct pf_ompi_instance *inst, int id);

/* A window over `comm`, a communicator that nothing else uses and that the window takes over: made locally,
 * at no simulated time. The members must be at rest. Returns a native error. */
struct pf_glue_window;
int pf_ompi_window_shadow(struct pf_ompi_instance *inst, const struct pf_glue_window *recipe, void *comm,
                          void **native);

/* A fence epoch of the window begins here, although no fence is called. Local; a native error. */
int pf_ompi_window_open(struct pf_ompi_instance *inst, void *native);

/* The window's end, without its barrier. Local; a native error. */
int pf_ompi_window_free(struct pf_ompi_instance *inst, void *native);

/* After Open MPI has made a window by itself, which gets ERRORS_RETURN, and before it frees one. */
void pf_ompi_window_made(struct pf_ompi_instance *inst, void *native);
void pf_ompi_window_gone(struct pf_ompi_instance *inst, const void *native);

/* A communicator that Open MPI itself has made gets ERRORS_RETURN. (WORLD, SELF and shadows have it.) */
void pf_ompi_comm_errors_return(struct pf_ompi_instance *inst, void *native);

/* Would a native wait for this request return at once? No side effect. */
bool pf_ompi_request_done(struct pf_ompi_instance *inst, const void *request);

/* Makes Open MPI do what can be done now, by an actor that works on behalf of the rank. Never blocks. */
void pf_ompi_progress(struct pf_ompi_instance *inst);

/* Has Open MPI's progress work to do: calls back, in the context of the network's events, when the rank's NIC
 * state changes. NULL ends it. Meant for waking a helper actor that then calls pf_ompi_progress. */
void pf_ompi_set_notify(struct pf_ompi_instance *inst, void (*notify)(void *arg), void *arg);

#endif
