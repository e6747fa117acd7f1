/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no np=2 */
/* The grids of MPI_Dims_create. Under mpirun Open MPI must pass this too, so the expectations are its own. */
#include "../programs/check.h"

static void expect(int nnodes, int ndims, int a, int b, int c, int d, const int fixed[])
{
    int wanted[4] = {a, b, c, d}, dims[4];

    memcpy(dims, fixed, sizeof dims);
    CHECK_OK(MPI_Dims_create(nnodes, ndims, dims));
    CHECK(memcmp(dims, wanted, (size_t)ndims * sizeof dims[0]) == 0);
}

static void wrong(int nnodes, int ndims, int first)
{
    int dims[2] = {first, first}, class = 0, error = MPI_Dims_create(nnodes, ndims, dims);

    CHECK(error != MPI_SUCCESS);
    MPI_Error_class(error, &class);
    CHECK(class == MPI_ERR_DIMS);
}

/* A hash of many grids, the same as Open MPI's. */
static void many(void)
{
    unsigned hash = 2166136261u;

    for (int n = 1; n <= 3000; n++)
        for (int ndims = 1; ndims <= 6; ndims++) {
            int dims[6] = {0}, product = 1;
            CHECK_OK(MPI_Dims_create(n, ndims, dims));
            for (int i = 0; i < ndims; i++) {
                product *= dims[i];
                CHECK(i == 0 || dims[i] <= dims[i - 1]);
                hash = (hash ^ (unsigned)dims[i]) * 16777619u;
            }
            CHECK(product == n);
        }
    CHECK(hash == 3600925687u);
    if (hash != 3600925687u)
        printf("hash %u\n", hash);
}

int main(int argc, char **argv)
{
    int none[4] = {0}, middle[4] = {0, 3}, ends[4] = {2, 0, 0, 5}, all[4] = {4, 3, 2};

    check_begin(&argc, &argv);
    expect(6, 2, 3, 2, 0, 0, none);
    expect(9, 2, 3, 3, 0, 0, none);
    expect(12, 3, 3, 2, 2, 0, none);
    expect(7, 2, 7, 1, 0, 0, none);
    expect(1024, 3, 16, 8, 8, 0, none);
    expect(2147483647, 3, 2147483647, 1, 1, 0, none);
    expect(36, 3, 4, 3, 3, 0, middle);
    expect(3, 3, 1, 3, 1, 0, middle);
    expect(360, 4, 2, 6, 6, 5, ends);
    expect(24, 3, 4, 3, 2, 0, all);
    many();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    wrong(7, 2, 2);
    wrong(8, 2, 2);
    wrong(8, 2, -1);
    wrong(0, 2, 0);
    return check_end("dims");
}
