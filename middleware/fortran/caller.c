/* SPDX-License-Identifier: BSD-3-Clause */
/* What the Fortran interface must know about its caller. */
#include <pthread.h>

#include "middleware/comm/comm.h"
#include "middleware/core/job_state.h"
#include "middleware/core/rank.h"
#include "middleware/fortran/fortran.h"
#include "middleware/topology/topology.h"

/* NULL in a thread of a rank, whose call will be refused. */
static struct pf_rank *caller(void)
{
    pf_self_t *self = pthread_equal(pthread_self(), pf_job_state.thread) ? pf_self() : NULL;
    return self ? self->mpi : NULL;
}

void pf_fortran_called_from(const void *site)
{
    struct pf_rank *r = caller();
    if (!r || r->state != PF_RANK_RUNNING)
        return;
    r->fortran_site = site;
    r->reopens = r->reopens || r->open;
    r->open = false; /* so that the next call looks for it; calls from C do not pay for that */
}

void pf_fortran_attribute(int begins)
{
    struct pf_rank *r = caller();
    if (r)
        r->fortran_attribute = begins;
}

int pf_fortran_peers(MPI_Comm handle)
{
    struct pf_rank *r = caller();
    const struct pf_comm *comm = r ? pf_comm_of(r, handle) : NULL;
    return comm ? pf_comm_peers(comm) : 0;
}

int pf_fortran_neighbors(MPI_Comm handle, int sends)
{
    struct pf_rank *r = caller();
    const struct pf_comm *comm = r ? pf_comm_of(r, handle) : NULL;
    const struct pf_topology *topology = comm ? comm->topology : NULL;
    int count = 0;
    if (!topology)
        return 0;
    switch (topology->kind) {
    case MPI_CART:
        return 2 * topology->cart.ndims;
    case MPI_DIST_GRAPH:
        return sends ? topology->dist.outdegree : topology->dist.indegree;
    default:
        (void)pf_topology_graph_neighbors(&topology->graph, comm->me, &count);
        return count;
    }
}
