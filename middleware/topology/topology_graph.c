/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs that every member knows as a whole. */

#include "middleware/comm/routing.h"
#include "middleware/topology/topology.h"

/* The error class of what is wrong with a graph, MPI_SUCCESS when nothing is. */
static int check_graph(int nnodes, const int *index, const int *edges, int size)
{
    if (nnodes < 0 || nnodes > size || (nnodes > 0 && (!index || !edges)))
        return MPI_ERR_ARG;
    for (int i = 0; i < nnodes; i++)
        if (index[i] < (i > 0 ? index[i - 1] : 0))
            return MPI_ERR_ARG;
    for (int i = 0; nnodes > 0 && i < index[nnodes - 1]; i++)
        if (edges[i] < 0 || edges[i] >= nnodes)
            return MPI_ERR_ARG;
    return MPI_SUCCESS;
}

static struct pf_topology *graph_new(int nnodes, const int *index, const int *edges)
{
    struct pf_topology *topology = pf_topology_new(MPI_GRAPH);
    topology->graph.nnodes = nnodes;
    topology->graph.index = pf_topology_copy(index, nnodes);
    topology->graph.edges = pf_topology_copy(edges, index[nnodes - 1]);
    return topology;
}

int pf_PMPI_Graph_create(MPI_Comm handle, int nnodes, const int index[], const int edges[], int reorder,
                         MPI_Comm *newcomm)
{
    struct pf_rank *r = PF_ENTER(Graph_create);
    struct pf_comm *parent = pf_comm_of(r, handle);
    if (!parent)
        return pf_call_error(r, handle, MPI_ERR_COMM);
    int error = newcomm ? check_graph(nnodes, index, edges, parent->shared->size) : MPI_ERR_ARG;
    if (error != MPI_SUCCESS)
        return pf_call_error(r, handle, error);
    *newcomm = MPI_COMM_NULL;
    if (nnodes == 0) /* for all members: MPI 3.1 section 7.5.3 */
        return pf_call_return(r, MPI_SUCCESS);
    pf_call_schedule(r, parent == r->world);
    struct pf_instance *in = pf_comm_collective(r, parent);
    uint64_t sequence = parent->collectives - 1;
    pf_native_comm_t native = in->values->comm_null;
    pf_call_native_begin(r, in);
    int code = in->fn->Graph_create(pf_native(in, handle), nnodes, index, edges, 0, &native);
    if (code == MPI_SUCCESS && parent->me < nnodes) {
        struct pf_comm *comm = pf_comm_adopt(r, parent, sequence, parent->shared->world_ranks, nnodes,
                                             parent->me, false, in, native);
        comm->topology = graph_new(nnodes, index, edges);
        *newcomm = (MPI_Comm)(uintptr_t)comm;
    }
    return pf_call_leave(r, in, handle, code);
}

int pf_PMPI_Graph_map(MPI_Comm handle, int nnodes, const int index[], const int edges[], int *newrank)
{
    struct pf_rank *r = PF_ENTER(Graph_map);
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm)
        return pf_call_error(r, handle, MPI_ERR_COMM);
    int error = newrank && nnodes > 0 ? check_graph(nnodes, index, edges, comm->shared->size) : MPI_ERR_ARG;
    if (error != MPI_SUCCESS)
        return pf_call_error(r, handle, error);
    *newrank = comm->me < nnodes ? comm->me : MPI_UNDEFINED;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Graphdims_get(MPI_Comm handle, int *nnodes, int *nedges)
{
    struct pf_rank *r = PF_ENTER(Graphdims_get);
    int error;
    const struct pf_topology *topology = pf_topology_of(r, handle, MPI_GRAPH, &error);
    if (!topology)
        return pf_call_error(r, handle, error);
    if (!nnodes || !nedges)
        return pf_call_error(r, handle, MPI_ERR_ARG);
    *nnodes = topology->graph.nnodes;
    *nedges = topology->graph.index[*nnodes - 1];
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Graph_get(MPI_Comm handle, int maxindex, int maxedges, int index[], int edges[])
{
    struct pf_rank *r = PF_ENTER(Graph_get);
    int error;
    const struct pf_topology *topology = pf_topology_of(r, handle, MPI_GRAPH, &error);
    if (!topology)
        return pf_call_error(r, handle, error);
    if (maxindex < 0 || maxedges < 0 || (maxindex > 0 && !index) || (maxedges > 0 && !edges))
        return pf_call_error(r, handle, MPI_ERR_ARG);
    const struct pf_topology_graph *graph = &topology->graph;
    for (int i = 0; i < maxindex && i < graph->nnodes; i++)
        index[i] = graph->index[i];
    for (int i = 0; i < maxedges && i < graph->index[graph->nnodes - 1]; i++)
        edges[i] = graph->edges[i];
    return pf_call_return(r, MPI_SUCCESS);
}

const int *pf_topology_graph_neighbors(const struct pf_topology_graph *graph, int rank, int *count)
{
    int first = rank > 0 ? graph->index[rank - 1] : 0;
    *count = graph->index[rank] - first;
    return graph->edges + first;
}

int pf_PMPI_Graph_neighbors_count(MPI_Comm handle, int rank, int *nneighbors)
{
    struct pf_rank *r = PF_ENTER(Graph_neighbors_count);
    int error;
    const struct pf_topology *topology = pf_topology_of(r, handle, MPI_GRAPH, &error);
    if (!topology)
        return pf_call_error(r, handle, error);
    if (rank < 0 || rank >= topology->graph.nnodes)
        return pf_call_error(r, handle, MPI_ERR_RANK);
    if (!nneighbors)
        return pf_call_error(r, handle, MPI_ERR_ARG);
    pf_topology_graph_neighbors(&topology->graph, rank, nneighbors);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Graph_neighbors(MPI_Comm handle, int rank, int maxneighbors, int neighbors[])
{
    struct pf_rank *r = PF_ENTER(Graph_neighbors);
    int error, count;
    const struct pf_topology *topology = pf_topology_of(r, handle, MPI_GRAPH, &error);
    if (!topology)
        return pf_call_error(r, handle, error);
    if (rank < 0 || rank >= topology->graph.nnodes)
        return pf_call_error(r, handle, MPI_ERR_RANK);
    if (maxneighbors < 0 || (maxneighbors > 0 && !neighbors))
        return pf_call_error(r, handle, MPI_ERR_ARG);
    const int *edges = pf_topology_graph_neighbors(&topology->graph, rank, &count);
    for (int i = 0; i < maxneighbors && i < count; i++)
        neighbors[i] = edges[i];
    return pf_call_return(r, MPI_SUCCESS);
}
