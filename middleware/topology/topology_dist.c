/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs of which each member knows its own edges. */

#include "middleware/comm/routing.h"
#include "middleware/object/info.h"
#include "middleware/topology/topology.h"

/* A list of edges of one member: ranks, and weights when the graph has them. */
static bool valid_list(int count, const int *ranks, const int *weights, int size)
{
    if (count < 0 || (count > 0 && (!ranks || !weights)))
        return false;
    bool weighted = pf_topology_weights_given(weights);
    for (int i = 0; i < count; i++)
        if (((ranks[i] < 0 || ranks[i] >= size) && ranks[i] != MPI_PROC_NULL) || (weighted && weights[i] < 0))
            return false;
    return true;
}

static struct pf_topology *adjacent_new(int indegree, const int *sources, const int *source_weights,
                                        int outdegree, const int *destinations,
                                        const int *destination_weights)
{
    struct pf_topology *topology = pf_topology_new(MPI_DIST_GRAPH);
    struct pf_topology_dist *dist = &topology->dist;
    dist->indegree = indegree;
    dist->outdegree = outdegree;
    dist->sources = pf_topology_copy(sources, indegree);
    dist->destinations = pf_topology_copy(destinations, outdegree);
    dist->weighted = source_weights != MPI_UNWEIGHTED || destination_weights != MPI_UNWEIGHTED;
    if (pf_topology_weights_given(source_weights))
        dist->source_weights = pf_topology_copy(source_weights, indegree);
    if (pf_topology_weights_given(destination_weights))
        dist->destination_weights = pf_topology_copy(destination_weights, outdegree);
    return topology;
}

/* Implementations make the communicator without looking at the edges, so that they get none. */
static int adjacent_native(struct pf_instance *in, pf_native_comm_t parent, MPI_Info info,
                           pf_native_comm_t *native)
{
    int *none = in->values->unweighted;
    return in->fn->Dist_graph_create_adjacent(parent, 0, NULL, none, 0, NULL, none, pf_native(in, info), 0,
                                              native);
}

int pf_PMPI_Dist_graph_create_adjacent(MPI_Comm handle, int indegree, const int sources[],
                                       const int sourceweights[], int outdegree, const int destinations[],
                                       const int destweights[], MPI_Info info, int reorder, MPI_Comm *newcomm)
{
    struct pf_rank *r = PF_ENTER(Dist_graph_create_adjacent);
    struct pf_comm *parent = pf_comm_of(r, handle);
    if (!parent)
        return pf_call_error(r, handle, MPI_ERR_COMM);
    int size = parent->shared->size;
    if (!newcomm || !valid_list(indegree, sources, sourceweights, size) ||
        !valid_list(outdegree, destinations, destweights, size))
        return pf_call_error(r, handle, MPI_ERR_ARG);
    if (info != MPI_INFO_NULL && !pf_info_of(info))
        return pf_call_error(r, handle, MPI_ERR_INFO);
    pf_call_schedule(r, parent == r->world);
    struct pf_instance *in = pf_comm_collective(r, parent);
    uint64_t sequence = parent->collectives - 1;
    pf_native_comm_t native = NULL;
    pf_call_native_begin(r, in);
    int code = adjacent_native(in, pf_native(in, handle), info, &native);
    if (code == MPI_SUCCESS) {
        struct pf_comm *comm = pf_comm_adopt(r, parent, sequence, parent->shared->world_ranks, size,
                                             parent->me, false, in, native);
        comm->topology = adjacent_new(indegree, sources, sourceweights, outdegree, destinations, destweights);
        *newcomm = (MPI_Comm)(uintptr_t)comm;
    }
    return pf_call_leave(r, in, handle, code);
}

int pf_PMPI_Dist_graph_neighbors_count(MPI_Comm handle, int *indegree, int *outdegree, int *weighted)
{
    struct pf_rank *r = PF_ENTER(Dist_graph_neighbors_count);
    int error;
    const struct pf_topology *topology = pf_topology_of(r, handle, MPI_DIST_GRAPH, &error);
    if (!topology)
        return pf_call_error(r, handle, error);
    if (!indegree || !outdegree || !weighted)
        return pf_call_error(r, handle, MPI_ERR_ARG);
    *indegree = topology->dist.indegree;
    *outdegree = topology->dist.outdegree;
    *weighted = topology->dist.weighted;
    return pf_call_return(r, MPI_SUCCESS);
}

static void list_copy(int limit, int count, const int *from_ranks, const int *from_weights, int *ranks,
                      int *weights)
{
    if (limit > count)
        limit = count;
    for (int i = 0; i < limit; i++)
        ranks[i] = from_ranks[i];
    for (int i = 0; from_weights && pf_topology_weights_given(weights) && i < limit; i++)
        weights[i] = from_weights[i];
}

int pf_PMPI_Dist_graph_neighbors(MPI_Comm handle, int maxindegree, int sources[], int sourceweights[],
                                 int maxoutdegree, int destinations[], int destweights[])
{
    struct pf_rank *r = PF_ENTER(Dist_graph_neighbors);
    int error;
    const struct pf_topology *topology = pf_topology_of(r, handle, MPI_DIST_GRAPH, &error);
    if (!topology)
        return pf_call_error(r, handle, error);
    if (maxindegree < 0 || maxoutdegree < 0 || (maxindegree > 0 && !sources) ||
        (maxoutdegree > 0 && !destinations))
        return pf_call_error(r, handle, MPI_ERR_ARG);
    const struct pf_topology_dist *dist = &topology->dist;
    list_copy(maxindegree, dist->indegree, dist->sources, dist->source_weights, sources, sourceweights);
    list_copy(maxoutdegree, dist->outdegree, dist->destinations, dist->destination_weights, destinations,
              destweights);
    return pf_call_return(r, MPI_SUCCESS);
}
