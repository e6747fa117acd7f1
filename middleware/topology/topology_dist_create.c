/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Dist_graph_create: any member may define any edge, so members exchange what they know. Open MPI does
 * it by itself. In SMPI, which has no graphs, the middleware exchanges over SMPI's own collectives, at their
 * cost.
 *
 * The edges of a member are then sorted by rank and weight. MPI leaves the order open; this one is the same
 * in every model, and several edges between the same two ranks come in the same order on both sides.
 */
#include <stdlib.h>
#include <string.h>

#include "middleware/comm/routing.h"
#include "middleware/object/info.h"
#include "middleware/topology/topology.h"
#include "base/memory.h"

/* The arguments of a call. */
struct edges {
    int n;
    const int *sources, *degrees, *destinations, *weights;
    int total; /* of the degrees */
    bool weighted;
};

/* One end of an edge, as its member gets it. */
struct edge_end {
    int outgoing;
    int other;
    int weight;
};

static int compare_ends(const void *a, const void *b)
{
    const struct edge_end *x = a, *y = b;
    if (x->outgoing != y->outgoing)
        return x->outgoing < y->outgoing ? -1 : 1;
    if (x->other != y->other)
        return x->other < y->other ? -1 : 1;
    return x->weight < y->weight ? -1 : x->weight > y->weight;
}

/* Fills both lists from the ends, in order. */
static void fill(struct pf_topology_dist *dist, struct edge_end *ends, int count, bool weighted)
{
    qsort(ends, (size_t)count, sizeof *ends, compare_ends);
    dist->indegree = 0;
    while (dist->indegree < count && !ends[dist->indegree].outgoing)
        dist->indegree++;
    dist->outdegree = count - dist->indegree;
    dist->weighted = weighted;
    size_t in = (size_t)dist->indegree + 1, out = (size_t)dist->outdegree + 1;
    dist->sources = pf_malloc(in * sizeof(int));
    dist->destinations = pf_malloc(out * sizeof(int));
    dist->source_weights = weighted ? pf_malloc(in * sizeof(int)) : NULL;
    dist->destination_weights = weighted ? pf_malloc(out * sizeof(int)) : NULL;
    for (int i = 0; i < count; i++) {
        int at = ends[i].outgoing ? i - dist->indegree : i;
        (ends[i].outgoing ? dist->destinations : dist->sources)[at] = ends[i].other;
        if (weighted)
            (ends[i].outgoing ? dist->destination_weights : dist->source_weights)[at] = ends[i].weight;
    }
}

/* What the implementation has worked out. */
static int ask_native(struct pf_instance *in, pf_native_comm_t native, struct pf_topology_dist *dist)
{
    int indegree, outdegree, weighted;
    int code = in->fn->Dist_graph_neighbors_count(native, &indegree, &outdegree, &weighted);
    if (code != MPI_SUCCESS)
        return code;
    size_t degree = (size_t)indegree + (size_t)outdegree;
    int *ranks = pf_calloc(2 * degree + 1, sizeof *ranks), *weights = ranks + degree;
    struct edge_end *ends = pf_malloc((degree + 1) * sizeof *ends);
    int *no = in->values->unweighted;
    code = in->fn->Dist_graph_neighbors(native, indegree, ranks, weighted ? weights : no, outdegree,
                                        ranks + indegree, weighted ? weights + indegree : no);
    for (int i = 0; i < indegree + outdegree; i++)
        ends[i] = (struct edge_end){i >= indegree, ranks[i], weights[i]};
    if (code == MPI_SUCCESS)
        fill(dist, ends, indegree + outdegree, weighted != 0);
    free(ranks);
    free(ends);
    return code;
}

/* Sorts the ends of the caller's edges by the member that they belong to; counts[i] and starts[i] are in
 * ints. */
static struct edge_end *ends_by_member(const struct edges *edges, int size, int *counts, int *starts)
{
    struct edge_end *ends = pf_malloc((2 * (size_t)edges->total + 1) * sizeof *ends);
    int *next = pf_calloc((size_t)size + 1, sizeof *next);
    const int per_end = sizeof *ends / sizeof(int);
    memset(counts, 0, (size_t)size * sizeof *counts);
    for (int i = 0, edge = 0; i < edges->n; i++)
        for (int j = 0; j < edges->degrees[i]; j++, edge++) {
            counts[edges->sources[i]] += per_end;
            counts[edges->destinations[edge]] += per_end;
        }
    for (int i = 0; i < size; i++) {
        starts[i] = i > 0 ? starts[i - 1] + counts[i - 1] : 0;
        next[i] = starts[i] / per_end;
    }
    for (int i = 0, edge = 0; i < edges->n; i++)
        for (int j = 0; j < edges->degrees[i]; j++, edge++) {
            int source = edges->sources[i], destination = edges->destinations[edge];
            int weight = edges->weighted ? edges->weights[edge] : 0;
            ends[next[source]++] = (struct edge_end){true, destination, weight};
            ends[next[destination]++] = (struct edge_end){false, source, weight};
        }
    free(next);
    return ends;
}

/* Sends each member its edges, over collectives of the implementation on the new communicator. */
static int exchange(struct pf_instance *in, pf_native_comm_t native, int size, const struct edges *edges,
                    struct pf_topology_dist *dist)
{
    int *counts = pf_malloc(4 * (size_t)size * sizeof *counts);
    int *starts = counts + size, *their_counts = starts + size, *their_starts = their_counts + size;
    pf_native_datatype_t type = pf_native(in, MPI_INT);
    struct edge_end *mine = ends_by_member(edges, size, counts, starts), *all = NULL;
    int code = in->fn->Alltoall(counts, 1, type, their_counts, 1, type, native);
    if (code == MPI_SUCCESS) {
        for (int i = 0; i < size; i++)
            their_starts[i] = i > 0 ? their_starts[i - 1] + their_counts[i - 1] : 0;
        int total = their_starts[size - 1] + their_counts[size - 1];
        all = pf_malloc((size_t)total * sizeof(int) + sizeof *all);
        code = in->fn->Alltoallv(mine, counts, starts, type, all, their_counts, their_starts, type, native);
        if (code == MPI_SUCCESS)
            fill(dist, all, total / (int)(sizeof *all / sizeof(int)), edges->weighted);
    }
    free(all);
    free(mine);
    free(counts);
    return code;
}

static bool valid_edges(struct edges *edges, int size)
{
    if (edges->n < 0 ||
        (edges->n > 0 && (!edges->sources || !edges->degrees || !edges->destinations || !edges->weights)))
        return false;
    edges->weighted = edges->weights != MPI_UNWEIGHTED; /* MPI_WEIGHTS_EMPTY: no edge of a weighted graph */
    bool has_weights = pf_topology_weights_given(edges->weights);
    for (int i = 0; i < edges->n; i++) {
        if (edges->sources[i] < 0 || edges->sources[i] >= size || edges->degrees[i] < 0)
            return false;
        for (int j = 0; j < edges->degrees[i]; j++, edges->total++)
            if (edges->destinations[edges->total] < 0 || edges->destinations[edges->total] >= size ||
                (has_weights && edges->weights[edges->total] < 0))
                return false;
    }
    return edges->total == 0 || has_weights || !edges->weighted;
}

static int create_native(struct pf_instance *in, pf_native_comm_t parent, int size, const struct edges *edges,
                         MPI_Info info, pf_native_comm_t *native, struct pf_topology_dist *dist)
{
    int code, nothing = 0;
    const int *weights = !edges->weighted                            ? in->values->unweighted
                         : pf_topology_weights_given(edges->weights) ? edges->weights
                                                                     : &nothing;
    code = in->fn->Dist_graph_create(parent, edges->n, edges->sources, edges->degrees, edges->destinations,
                                     weights, pf_native(in, info), 0, native);
    if (code != MPI_SUCCESS)
        return code;
    return in->fn->Dist_graph_neighbors ? ask_native(in, *native, dist)
                                        : exchange(in, *native ? *native : parent, size, edges, dist);
}

int pf_PMPI_Dist_graph_create(MPI_Comm handle, int n, const int sources[], const int degrees[],
                              const int destinations[], const int weights[], MPI_Info info, int reorder,
                              MPI_Comm *newcomm)
{
    struct pf_rank *r = PF_ENTER(Dist_graph_create);
    struct pf_comm *parent = pf_comm_of(r, handle);
    if (!parent)
        return pf_call_error(r, handle, MPI_ERR_COMM);
    struct edges edges = {
        .n = n, .sources = sources, .degrees = degrees, .destinations = destinations, .weights = weights};
    int size = parent->shared->size;
    if (!newcomm || !valid_edges(&edges, size))
        return pf_call_error(r, handle, MPI_ERR_ARG);
    if (info != MPI_INFO_NULL && !pf_info_of(info))
        return pf_call_error(r, handle, MPI_ERR_INFO);
    pf_call_schedule(r, parent == r->world);
    struct pf_instance *in = pf_comm_collective(r, parent);
    uint64_t sequence = parent->collectives - 1;
    struct pf_topology *topology = pf_topology_new(MPI_DIST_GRAPH);
    pf_native_comm_t native = NULL;
    pf_call_native_begin(r, in);
    int code = create_native(in, pf_native(in, handle), size, &edges, info, &native, &topology->dist);
    if (code != MPI_SUCCESS) {
        pf_topology_release(topology);
        return pf_call_leave(r, in, handle, code);
    }
    struct pf_comm *comm =
        pf_comm_adopt(r, parent, sequence, parent->shared->world_ranks, size, parent->me, false, in, native);
    comm->topology = topology;
    *newcomm = (MPI_Comm)(uintptr_t)comm;
    return pf_call_leave(r, in, handle, code);
}
