/* SPDX-License-Identifier: BSD-3-Clause */
/* Process topologies attached to communicators: made, copied, released. */
#include "middleware/comm/comm_topology.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "middleware/include/mpi.h"

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
