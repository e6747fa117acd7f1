/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions about Cartesian communicators; the middleware answers them by itself. */

#include "middleware/comm/routing.h"
#include "middleware/topology/topology.h"

/* The rank at some coordinates, MPI_PROC_NULL when they are outside a dimension that is not periodic. */
static int rank_at(const struct pf_topology_cart *cart, const int *coords)
{
    int rank = 0;
    for (int i = 0; i < cart->ndims; i++) {
        int at = coords[i], dim = cart->dims[i];
        if ((at < 0 || at >= dim) && !cart->periods[i])
            return MPI_PROC_NULL;
        at %= dim;
        rank = rank * dim + (at < 0 ? at + dim : at);
    }
    return rank;
}

int pf_topology_cart_neighbor(const struct pf_topology_cart *cart, int rank, int direction, int disp)
{
    int stride = 1, dim = cart->dims[direction];
    for (int i = direction + 1; i < cart->ndims; i++)
        stride *= cart->dims[i];
    int at = rank / stride % dim;
    int64_t there = (int64_t)at + disp;
    if ((there < 0 || there >= dim) && !cart->periods[direction])
        return MPI_PROC_NULL;
    there %= dim;
    if (there < 0)
        there += dim;
    return rank + ((int)there - at) * stride;
}

int pf_PMPI_Cartdim_get(MPI_Comm handle, int *ndims)
{
    struct pf_rank *r = PF_ENTER(Cartdim_get);
    int error;
    const struct pf_topology *topology = pf_topology_of(r, handle, MPI_CART, &error);
    if (!topology)
        return pf_call_error(r, handle, error);
    if (!ndims)
        return pf_call_error(r, handle, MPI_ERR_ARG);
    *ndims = topology->cart.ndims;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Cart_get(MPI_Comm handle, int maxdims, int dims[], int periods[], int coords[])
{
    struct pf_rank *r = PF_ENTER(Cart_get);
    int error;
    const struct pf_topology *topology = pf_topology_of(r, handle, MPI_CART, &error);
    if (!topology)
        return pf_call_error(r, handle, error);
    const struct pf_topology_cart *cart = &topology->cart;
    int n = cart->ndims < maxdims ? cart->ndims : maxdims;
    if (maxdims < 0 || (n > 0 && (!dims || !periods || !coords)))
        return pf_call_error(r, handle, MPI_ERR_ARG);
    int rank = pf_comm_of(r, handle)->me;
    for (int i = cart->ndims - 1; i >= 0; i--) {
        if (i < n) {
            dims[i] = cart->dims[i];
            periods[i] = cart->periods[i];
            coords[i] = rank % cart->dims[i];
        }
        rank /= cart->dims[i];
    }
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Cart_rank(MPI_Comm handle, const int coords[], int *rank)
{
    struct pf_rank *r = PF_ENTER(Cart_rank);
    int error;
    const struct pf_topology *topology = pf_topology_of(r, handle, MPI_CART, &error);
    if (!topology)
        return pf_call_error(r, handle, error);
    if (!rank || (topology->cart.ndims > 0 && !coords))
        return pf_call_error(r, handle, MPI_ERR_ARG);
    int found = rank_at(&topology->cart, coords);
    if (found ==
        MPI_PROC_NULL) /* erroneous outside of a dimension that is not periodic: MPI 3.1 section 7.5.5 */
        return pf_call_error(r, handle, MPI_ERR_ARG);
    *rank = found;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Cart_coords(MPI_Comm handle, int rank, int maxdims, int coords[])
{
    struct pf_rank *r = PF_ENTER(Cart_coords);
    int error;
    const struct pf_topology *topology = pf_topology_of(r, handle, MPI_CART, &error);
    if (!topology)
        return pf_call_error(r, handle, error);
    const struct pf_topology_cart *cart = &topology->cart;
    if (rank < 0 || rank >= pf_comm_of(r, handle)->shared->size)
        return pf_call_error(r, handle, MPI_ERR_RANK);
    int n = cart->ndims < maxdims ? cart->ndims : maxdims;
    if (maxdims < 0 || (n > 0 && !coords))
        return pf_call_error(r, handle, MPI_ERR_ARG);
    for (int i = cart->ndims - 1; i >= 0; i--) {
        if (i < n)
            coords[i] = rank % cart->dims[i];
        rank /= cart->dims[i];
    }
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Cart_shift(MPI_Comm handle, int direction, int disp, int *source, int *dest)
{
    struct pf_rank *r = PF_ENTER(Cart_shift);
    int error;
    const struct pf_topology *topology = pf_topology_of(r, handle, MPI_CART, &error);
    if (!topology)
        return pf_call_error(r, handle, error);
    if (direction < 0 || direction >= topology->cart.ndims)
        return pf_call_error(r, handle, MPI_ERR_DIMS);
    if (!source || !dest)
        return pf_call_error(r, handle, MPI_ERR_ARG);
    int me = pf_comm_of(r, handle)->me;
    /* The negation of the smallest integer is no integer; -disp is the same place in a ring only for the
     * others. */
    if (disp == INT32_MIN)
        return pf_call_error(r, handle, MPI_ERR_ARG);
    *source = pf_topology_cart_neighbor(&topology->cart, me, direction, -disp);
    *dest = pf_topology_cart_neighbor(&topology->cart, me, direction, disp);
    return pf_call_return(r, MPI_SUCCESS);
}
