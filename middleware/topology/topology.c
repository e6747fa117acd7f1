/* SPDX-License-Identifier: BSD-3-Clause */
/* Process topologies attached to communicators: made, copied, released. */
#include "middleware/topology/topology.h"

#include <stdlib.h>
#include <string.h>

#include "middleware/core/call.h"
#include "base/memory.h"

struct pf_topology *pf_topology_new(int kind)
{
    struct pf_topology *topology = pf_calloc(1, sizeof *topology);
    topology->kind = kind;
    topology->references = 1;
    return topology;
}

struct pf_topology *pf_topology_retain(struct pf_topology *topology)
{
    if (topology)
        topology->references++;
    return topology;
}

void pf_topology_release(struct pf_topology *topology)
{
    if (!topology || --topology->references > 0)
        return;
    if (topology->kind == MPI_CART) {
        free(topology->cart.dims);
        free(topology->cart.periods);
    } else if (topology->kind == MPI_GRAPH) {
        free(topology->graph.index);
        free(topology->graph.edges);
    } else {
        free(topology->dist.sources);
        free(topology->dist.destinations);
        free(topology->dist.source_weights);
        free(topology->dist.destination_weights);
    }
    free(topology);
}

int *pf_topology_copy(const int *values, int count)
{
    int *copy = pf_malloc((count > 0 ? (size_t)count : 1) * sizeof *copy);
    if (count > 0)
        memcpy(copy, values, (size_t)count * sizeof *copy);
    return copy;
}

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
    if (!comm)
        return pf_call_error(r, handle, MPI_ERR_COMM);
    if (!status)
        return pf_call_error(r, handle, MPI_ERR_ARG);
    *status = comm->topology ? comm->topology->kind : MPI_UNDEFINED;
    return pf_call_return(r, MPI_SUCCESS);
}
