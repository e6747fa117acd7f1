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

#endif

#ifdef __cplusplus
}
#endif

#endif
