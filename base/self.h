/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <simgrid/actor.h>
#include <simgrid/host.h>

/*
 * The calling process. Every simulated process of the application has one of these in SimGrid's per-actor
 * data slot; helper actors that work on behalf of a rank carry the same pointer. No rank has thread-local
 * state: all share one operating-system thread.
 */
struct ptl_process;  /* lowlevel/portals: created by the first PtlInit */
struct ucx_process;  /* lowlevel/ucx: created when the rank gets its copy of UCX's callers */
struct pf_rank;      /* middleware: the MPI state of the rank */
struct pf_shmem;     /* openshmem: the PE */
struct pf_chain_tip; /* lowlevel/engine: what its present date is made of */

typedef struct pf_self {
    int rank; /* in the job, from 0 */
    int size; /* number of processes of the job */
    sg_host_t host;
    struct ptl_process *portals; /* owned by lowlevel/portals */
    struct ucx_process *ucx[2];  /* owned by lowlevel/ucx, one for each library over it (pf_ucx_user) */
    struct pf_rank *mpi;         /* owned by middleware, NULL in a program without MPI */
    struct pf_chain_tip *path;   /* owned by lowlevel/engine, NULL unless paths are followed */
    struct pf_shmem *shmem;      /* owned by openshmem, NULL before shmem_init */
} pf_self_t;

/* The calling actor's identity, NULL for an actor that is not part of a job (and for SimGrid's maestro). */
static inline pf_self_t *pf_self(void)
{
    return (pf_self_t *)sg_actor_self_get_data();
}
