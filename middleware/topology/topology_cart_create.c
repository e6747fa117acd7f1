/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * New Cartesian communicators. The implementation in force runs its own operation and its cost counts; the
 * middleware keeps the topology. Ranks are never reordered, as MPI allows.
 */
#include <stdlib.h>

#include "middleware/comm/routing.h"
#include "middleware/topology/topology.h"
#include "base/memory.h"

static struct pf_topology *cart_new(int ndims, const int *dims, const int *periods)
{
    struct pf_topology *topology = pf_topology_new(MPI_CART);
    topology->cart.ndims = ndims;
    topology->cart.dims = pf_topology_copy(dims, ndims);
    topology->cart.periods = pf_topology_copy(periods, ndims);
    for (int i = 0; i < ndims; i++)
        topology->cart.periods[i] = topology->cart.periods[i] != 0;
    return topology;
}

/* The number of ranks of a grid, at most `size` of them; 0 when it has more or *error says what is wrong. */
static int grid_size(int ndims, const int *dims, const int *periods, int size, int *error)
{
    *error = MPI_ERR_ARG;
    if (ndims < 0 || (ndims > 0 && (!dims || !periods)))
        return 0;
    int64_t n = 1;
    for (int i = 0; i < ndims; i++) {
        if (dims[i] <= 0) {
            *error = MPI_ERR_DIMS;
            return 0;
        }
        n *= dims[i];
        if (n > size)
            return 0;
    }
    return (int)n;
}

int pf_PMPI_Cart_create(MPI_Comm handle, int ndims, const int dims[], const int periods[], int reorder,
                        MPI_Comm *newcomm)
{
    struct pf_rank *r = PF_ENTER(Cart_create);
    struct pf_comm *parent = pf_comm_of(r, handle);
    if (!parent)
        return pf_call_error(r, handle, MPI_ERR_COMM);
    int error, n = grid_size(ndims, dims, periods, parent->shared->size, &error);
    if (n == 0 || !newcomm)
        return pf_call_error(r, handle, n == 0 ? error : MPI_ERR_ARG);
    pf_call_schedule(r, parent == r->world);
    struct pf_instance *in = pf_comm_collective(r, parent);
    uint64_t sequence = parent->collectives - 1;
    pf_native_comm_t native = in->values->comm_null;
    pf_call_native_begin(r, in);
    int code = in->fn->Cart_create(pf_native(in, handle), ndims, dims, periods, 0, &native);
    if (code == MPI_SUCCESS) {
        *newcomm = MPI_COMM_NULL;
        if (parent->me < n) {
            struct pf_comm *comm = pf_comm_adopt(r, parent, sequence, parent->shared->world_ranks, n,
                                                 parent->me, false, in, native);
            comm->topology = cart_new(ndims, dims, periods);
            *newcomm = (MPI_Comm)(uintptr_t)comm;
        }
    }
    return pf_call_leave(r, in, handle, code);
}

/* The grid of the dimensions that remain. */
static struct pf_topology *sub_grid(const struct pf_topology_cart *cart, const int *remain)
{
    struct pf_topology *sub = cart_new(cart->ndims, cart->dims, cart->periods);
    sub->cart.ndims = 0;
    for (int i = 0; i < cart->ndims; i++) {
        if (!remain[i])
            continue;
        sub->cart.dims[sub->cart.ndims] = cart->dims[i];
        sub->cart.periods[sub->cart.ndims++] = cart->periods[i];
    }
    return sub;
}

/* Numbers the parts: the same for all ranks whose coordinates are equal in the dimensions that go. */
static int sub_color(const struct pf_topology_cart *cart, int rank, const int *remain)
{
    int color = 0, stride = 1;
    for (int i = cart->ndims - 1; i >= 0; i--) {
        if (!remain[i]) {
            color += rank % cart->dims[i] * stride;
            stride *= cart->dims[i];
        }
        rank /= cart->dims[i];
    }
    return color;
}

/* World ranks of the members of the caller's part, in the order of their ranks; returns their number. */
static int sub_members(const struct pf_comm *parent, const int *remain, int color, int *world_ranks, int *me)
{
    int n = 0;
    for (int i = 0; i < parent->shared->size; i++) {
        if (sub_color(&parent->topology->cart, i, remain) != color)
            continue;
        if (i == parent->me)
            *me = n;
        world_ranks[n++] = parent->shared->world_ranks[i];
    }
    return n;
}

/*
 * Both implementations run a split by color and rank for this. SMPI cannot make grids without dimensions but
 * on rank 0 and does not communicate for them, so that their shadows are made at first use.
 */
int pf_PMPI_Cart_sub(MPI_Comm handle, const int remain_dims[], MPI_Comm *newcomm)
{
    struct pf_rank *r = PF_ENTER(Cart_sub);
    struct pf_comm *parent = pf_comm_of(r, handle);
    int error;
    if (!pf_topology_of(r, handle, MPI_CART, &error))
        return pf_call_error(r, handle, error);
    if (!newcomm || (parent->topology->cart.ndims > 0 && !remain_dims))
        return pf_call_error(r, handle, MPI_ERR_ARG);
    pf_call_schedule(r, false);
    struct pf_instance *in = pf_comm_collective(r, parent);
    uint64_t sequence = parent->collectives - 1;
    int me = 0, code = MPI_SUCCESS;
    pf_native_comm_t native = NULL;
    struct pf_topology *sub = sub_grid(&parent->topology->cart, remain_dims);
    int color = sub_color(&parent->topology->cart, parent->me, remain_dims);
    pf_call_native_begin(r, in);
    if (!in->values->splits_alone || sub->cart.ndims > 0)
        code = in->fn->Comm_split(pf_native(in, handle), color, parent->me, &native);
    if (code != MPI_SUCCESS) {
        pf_topology_release(sub);
        return pf_call_leave(r, in, handle, code);
    }
    int *members = pf_malloc((size_t)parent->shared->size * sizeof *members);
    int n = sub_members(parent, remain_dims, color, members, &me);
    struct pf_comm *comm = pf_comm_adopt(r, parent, sequence, members, n, me, false, in, native);
    comm->topology = sub;
    *newcomm = (MPI_Comm)(uintptr_t)comm;
    free(members);
    return pf_call_leave(r, in, handle, code);
}

int pf_PMPI_Cart_map(MPI_Comm handle, int ndims, const int dims[], const int periods[], int *newrank)
{
    struct pf_rank *r = PF_ENTER(Cart_map);
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm)
        return pf_call_error(r, handle, MPI_ERR_COMM);
    int error, n = grid_size(ndims, dims, periods, comm->shared->size, &error);
    if (n == 0 || !newrank)
        return pf_call_error(r, handle, n == 0 ? error : MPI_ERR_ARG);
    *newrank = comm->me < n ? comm->me : MPI_UNDEFINED;
    return pf_call_return(r, MPI_SUCCESS);
}
