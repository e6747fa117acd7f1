/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbourhood collectives over point-to-point messages, as Open MPI does it: SMPI has none, and Open MPI's
 * own would need the topology in the native communicator. All receives are posted first. The messages go over
 * a communicator of the middleware's, so that they cannot meet the application's.
 */
#include "middleware/topology/neighbor.h"

#include <stdlib.h>

#include "middleware/comm/routing.h"
#include "middleware/p2p/request.h"
#include "middleware/topology/topology.h"
#include "base/memory.h"

struct neighbors {
    int indegree, outdegree;
    const int *sources, *destinations;
    int *owned; /* NULL when the topology holds the lists */
    bool grid;
};

/* Before and after in each dimension (MPI 3.1 section 7.6). */
static void grid_neighbors(const struct pf_comm *comm, struct neighbors *out)
{
    const struct pf_topology_cart *cart = &comm->topology->cart;
    int *ranks = pf_malloc((2 * (size_t)cart->ndims + 1) * sizeof *ranks);
    for (int i = 0; i < cart->ndims; i++) {
        ranks[2 * i] = pf_topology_cart_neighbor(cart, comm->me, i, -1);
        ranks[2 * i + 1] = pf_topology_cart_neighbor(cart, comm->me, i, 1);
    }
    out->indegree = out->outdegree = 2 * cart->ndims;
    out->sources = out->destinations = out->owned = ranks;
    out->grid = true;
}

static void find_neighbors(const struct pf_comm *comm, struct neighbors *out)
{
    const struct pf_topology *topology = comm->topology;
    *out = (struct neighbors){0};
    if (topology->kind == MPI_CART) {
        grid_neighbors(comm, out);
    } else if (topology->kind == MPI_GRAPH) {
        out->sources = out->destinations =
            pf_topology_graph_neighbors(&topology->graph, comm->me, &out->indegree);
        out->outdegree = out->indegree;
    } else {
        out->indegree = topology->dist.indegree;
        out->outdegree = topology->dist.outdegree;
        out->sources = topology->dist.sources;
        out->destinations = topology->dist.destinations;
    }
}

/*
 * What goes backwards in a dimension of a grid arrives from the front, also where both neighbours are the
 * same rank; so messages of a grid carry the place at the receiver. Several edges of a graph between two
 * ranks differ by their order.
 */
static int send_tag(const struct neighbors *n, int i)
{
    return n->grid ? i ^ 1 : 0;
}

static int receive_tag(const struct neighbors *n, int i)
{
    return n->grid ? i : 0;
}

static const char *block_at(const struct pf_neighbor_blocks *b, int i)
{
    if (b->addresses)
        return b->buffer + b->addresses[i];
    if (!b->displs)
        return b->buffer + i * b->stride;
    struct pf_bounds bounds;
    pf_datatype_bounds(b->type, &bounds);
    return b->buffer + (MPI_Aint)b->displs[i] * (bounds.ub - bounds.lb);
}

/* Checked before anything starts, so that no half of the messages is on its way after an error. */
static int check_blocks(const struct pf_neighbor_blocks *b, int degree)
{
    for (int i = 0; i < degree; i++) {
        MPI_Datatype type = b->types ? b->types[i] : b->type;
        if (!pf_datatype_valid(type) || type == MPI_DATATYPE_NULL)
            return MPI_ERR_TYPE;
        if ((b->counts ? b->counts[i] : b->count) < 0)
            return MPI_ERR_COUNT;
    }
    return b->buffer == MPI_IN_PLACE ? MPI_ERR_ARG : MPI_SUCCESS;
}

/* Starts one message, unless the neighbour is none; returns the native code. */
static int start(struct pf_instance *in, bool sends, const struct pf_neighbor_blocks *b, int i, int peer,
                 int tag, pf_native_comm_t comm, pf_native_request_t *natives, int *started)
{
    if (peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    void *buffer = pf_native_p2p_buffer(in, block_at(b, i));
    int count = b->counts ? b->counts[i] : b->count;
    pf_native_datatype_t type = pf_native(in, b->types ? b->types[i] : b->type);
    int code = sends ? in->fn->Isend(buffer, count, type, peer, tag, comm, &natives[*started])
                     : in->fn->Irecv(buffer, count, type, peer, tag, comm, &natives[*started]);
    *started += code == MPI_SUCCESS;
    return code;
}

/* Starts all messages; returns the native code. */
static int start_all(struct pf_instance *in, pf_native_comm_t comm, const struct neighbors *n,
                     const struct pf_neighbor_blocks *send, const struct pf_neighbor_blocks *receive,
                     pf_native_request_t *natives, int *started)
{
    int code = MPI_SUCCESS;
    *started = 0;
    for (int i = 0; code == MPI_SUCCESS && i < n->indegree; i++)
        code = start(in, false, receive, i, n->sources[i], receive_tag(n, i), comm, natives, started);
    for (int i = 0; code == MPI_SUCCESS && i < n->outdegree; i++)
        code = start(in, true, send, i, n->destinations[i], send_tag(n, i), comm, natives, started);
    return code;
}

int pf_neighbor_run(struct pf_rank *r, MPI_Comm handle, struct pf_neighbor_blocks *send,
                    struct pf_neighbor_blocks *receive, MPI_Request *request)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    struct neighbors n;
    if (!comm || !comm->topology)
        return pf_call_error(r, handle, comm ? MPI_ERR_TOPOLOGY : MPI_ERR_COMM);
    find_neighbors(comm, &n);
    int error = check_blocks(send, n.outdegree);
    if (error == MPI_SUCCESS)
        error = check_blocks(receive, n.indegree);
    if (error != MPI_SUCCESS) {
        free(n.owned);
        return pf_call_error(r, handle, error);
    }
    pf_call_schedule(r, false);
    struct pf_instance *in = pf_comm_collective(r, comm);
    int started, most = n.indegree + n.outdegree;
    pf_native_request_t *natives, *room = NULL;
    struct pf_request *made = NULL;
    pf_call_native_begin(r, in);
    if (request)
        made = pf_request_new_parts(r, in, handle, most, &natives);
    else
        natives = room = pf_malloc(((size_t)most + 1) * sizeof *natives);
    pf_native_comm_t hidden = pf_native(in, (MPI_Comm)(uintptr_t)pf_comm_hidden(comm));
    int code = start_all(in, hidden, &n, send, receive, natives, &started);
    free(n.owned);
    if (request)
        return pf_request_parts_started(r, in, made, started, handle, code, request);
    if (code == MPI_SUCCESS && started > 0)
        code = in->fn->Waitall(started, natives, NULL);
    free(room);
    return pf_call_leave(r, in, handle, code);
}
