/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Dims_create: arithmetic only. */
#include "middleware/comm/routing.h"

/* No integer has more prime factors. */
#define MAX_FACTORS 31

/* Prime factors in ascending order; returns their number. */
static int factorize(int number, int factors[MAX_FACTORS])
{
    int n = 0;
    for (int prime = 2; (int64_t)prime * prime <= number; prime++)
        for (; number % prime == 0; number /= prime)
            factors[n++] = prime;
    if (number > 1)
        factors[n++] = number;
    return n;
}

/* The free dimension (marked by a negative size) that is smallest so far. */
static int smallest(int ndims, const int dims[])
{
    int found = -1;
    for (int i = 0; i < ndims; i++)
        if (dims[i] < 0 && (found < 0 || -dims[i] < -dims[found]))
            found = i;
    return found;
}

/* Turns the marked sizes into sizes, largest first, in their places. */
static void settle(int ndims, int dims[])
{
    for (int i = 0; i < ndims; i++) {
        int largest = i;
        if (dims[i] > 0)
            continue;
        for (int j = i + 1; j < ndims; j++)
            if (dims[j] < dims[largest])
                largest = j;
        int size = -dims[largest];
        dims[largest] = dims[i];
        dims[i] = size;
    }
}

/*
 * The largest prime factor that is left goes to the smallest dimension, as in Open MPI and SMPI, so that
 * programs see the grids that they are used to.
 */
static int share_out(int nnodes, int ndims, int dims[])
{
    int left = nnodes, free_dims = 0, factors[MAX_FACTORS];
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0 || (dims[i] > 0 && left % dims[i] != 0))
            return MPI_ERR_DIMS;
        if (dims[i] > 0)
            left /= dims[i];
        else
            free_dims++;
    }
    if (free_dims == 0)
        return left == 1 ? MPI_SUCCESS : MPI_ERR_DIMS;
    for (int i = 0; i < ndims; i++)
        if (dims[i] == 0)
            dims[i] = -1;
    for (int n = factorize(left, factors); n > 0; n--)
        dims[smallest(ndims, dims)] *= factors[n - 1];
    settle(ndims, dims);
    return MPI_SUCCESS;
}

int pf_PMPI_Dims_create(int nnodes, int ndims, int dims[])
{
    struct pf_rank *r = PF_ENTER(Dims_create);
    if (nnodes < 1 || ndims < 0)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_DIMS);
    if (ndims > 0 && !dims)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    int error = ndims > 0 ? share_out(nnodes, ndims, dims) : MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    return pf_call_return(r, MPI_SUCCESS);
}
