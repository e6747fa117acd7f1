/* SPDX-License-Identifier: BSD-3-Clause */
/* Parfocal's own interface for applications: choose the model of the simulation from inside the program.
 *
 * One source serves both worlds. Compiled with pfcc or pfcxx these functions act; compiled with a plain mpicc
 * they are empty, so the calls may stay in the program. Nothing here communicates or costs simulated time.
 */
#ifndef PARFOCAL_H
#define PARFOCAL_H

#ifdef __cplusplus
extern "C" {
#endif

#ifdef PARFOCAL /* pfcc and our mpi.h define it */

/* Sends the operations that this rank starts from now on to another model ("analytic", "smpi", "portals",
 * "packet"). Operations that are pending stay with the model that started them. Call it between MPI_Init and
 * MPI_Finalize, on each rank; outside it does nothing and returns non-zero. A model that does not exist or
 * cannot be loaded ends the run with one line that says why. */
int pf_model_switch(const char *model);

/* The name of the model in force for this rank: a constant string, never NULL. */
const char *pf_model_current(void);

/* Begins the phase `name` of the application on this rank and ends the one before. The summary reports per
 * phase, and a schedule (pfrun -schedule NAME=MODEL) switches the model here. The name is copied; NULL stands
 * for "other". Returns 0, or non-zero outside MPI_Init .. MPI_Finalize, where it does nothing. */
int pf_phase(const char *name);

#ifdef MPI_VERSION /* mpi.h comes first */
/* Binds a communicator to a model: everything on it that starts from now on runs there, whatever model is in
 * force. NULL sets it free again. All members call it, at a point that no message of the communicator
 * crosses; no rank waits for the others. A duplicate is bound as its original. The same without this header:
 * the info key "parfocal_model" in MPI_Comm_dup_with_info or MPI_Comm_set_info. Returns 0, or non-zero for a
 * handle that is no communicator. A model that cannot be loaded ends the run with one line.
 * Intercommunicators are always Open MPI's. */
int pf_comm_model_set(MPI_Comm comm, const char *model);
#endif

#else

static inline int pf_model_switch(const char *model)
{
    (void)model;
    return 0;
}

static inline const char *pf_model_current(void)
{
    return "none";
}

static inline int pf_phase(const char *name)
{
    (void)name;
    return 0;
}

#ifdef MPI_VERSION
static inline int pf_comm_model_set(MPI_Comm comm, const char *model)
{
    (void)comm;
    (void)model;
    return 0;
}
#endif

#endif

#ifdef __cplusplus
}
#endif

#endif
