/* SPDX-License-Identifier: BSD-3-Clause */
/* What topology a communicator has. */
#include "middleware/topology/topology.h"

#include "middleware/comm/routing.h"

const struct pf_topology *pf_topology_of(struct pf_rank *r, MPI_Comm handle, int kind, int *error)
{
    const struct pf_comm *comm = pf_comm_of(r, handle);
    *error = !comm ? MPI_ERR_COMM : MPI_ERR_TOPOLOGY;
    return comm && comm->topology && comm->topology->kind == kind ? comm->topology : NULL;
}

int pf_PMPI_Topo_test(MPI_Comm handle, int *status)
{
    struct pf_rank *r = PF_ENTER(Topo_test);
    const struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm || !status)
        return pf_call_error(r, handle, comm ? MPI_ERR_ARG : MPI_ERR_COMM);
    *status = comm->topology ? comm->topology->kind : MPI_UNDEFINED;
    return pf_call_return(r, MPI_SUCCESS);
}
