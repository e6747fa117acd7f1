/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no */
/* Datatypes that SMPI lacks (distributed arrays, Fortran's kinds), their properties, and memory of MPI's. */
#include "check.h"

/* A matrix of N x N in blocks of rows: every rank sends its part to rank 0, which sees the whole. */
static void darray(void)
{
    enum { N = 12 };
    int sizes[2] = {N, N}, distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {check_size, 1}, mine = 0, packed[N * N],
        matrix[N * N];
    MPI_Datatype type;
    MPI_Status status;

    CHECK_OK(MPI_Type_create_darray(check_size, check_rank, 2, sizes, distribs, arguments, grid, MPI_ORDER_C,
                                    MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_size(type, &mine));
    mine /= (int)sizeof(int);
    check_fill(packed, mine, check_rank, 1);
    memset(matrix, 0, sizeof matrix);
    CHECK_OK(MPI_Sendrecv(packed, mine, MPI_INT, 0, 1, matrix, check_rank == 0 ? 1 : 0, type,
                          check_rank == 0 ? 0 : MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    if (check_rank == 0) {
        CHECK(!memcmp(matrix, packed, sizeof(int) * (size_t)mine));
        for (int r = 1; r < check_size; r++) {
            MPI_Datatype theirs;
            int n, at = 0, rows = (N + check_size - 1) / check_size;

            CHECK_OK(MPI_Type_create_darray(check_size, r, 2, sizes, distribs, arguments, grid, MPI_ORDER_C,
                                            MPI_INT, &theirs));
            CHECK_OK(MPI_Type_commit(&theirs));
            CHECK_OK(MPI_Type_size(theirs, &n));
            CHECK_OK(MPI_Recv(matrix, 1, theirs, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            check_fill(packed, n / (int)sizeof(int), r, 1);
            for (int row = r * rows; row < (r + 1) * rows && row < N; row++)
                for (int column = 0; column < N; column++)
                    CHECK(matrix[row * N + column] == packed[at++]);
            CHECK_OK(MPI_Type_free(&theirs));
        }
    }
    CHECK_OK(MPI_Type_free(&type));
}

static void kinds(void)
{
    MPI_Datatype real, complex, integer, found;
    int size, right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    double out[2] = {check_rank + 0.5, 1}, in[2] = {0, 0};

    CHECK_OK(MPI_Type_create_f90_real(12, MPI_UNDEFINED, &real));
    CHECK_OK(MPI_Type_size(real, &size));
    CHECK(size == 8);
    CHECK_OK(MPI_Type_create_f90_complex(12, MPI_UNDEFINED, &complex));
    CHECK_OK(MPI_Type_size(complex, &size));
    CHECK(size == 16);
    CHECK_OK(MPI_Type_create_f90_integer(8, &integer));
    CHECK_OK(MPI_Type_size(integer, &size));
    CHECK(size == 4);
    CHECK_OK(
        MPI_Sendrecv(out, 2, real, right, 2, in, 1, complex, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(in[0] == left + 0.5 && in[1] == 1);
    CHECK_OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &found));
    CHECK_OK(MPI_Type_size(found, &size));
    CHECK(size == 8 && found != MPI_DATATYPE_NULL);
}

static int deletions;

static int delete (MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void properties(void)
{
    MPI_Datatype type;
    MPI_Count lb, extent, size;
    char name[MPI_MAX_OBJECT_NAME];
    int length, key, flag;
    void *value;

    CHECK_OK(MPI_Type_vector(3, 1, 4, MPI_DOUBLE, &type));
    CHECK_OK(MPI_Type_get_extent_x(type, &lb, &extent));
    CHECK(lb == 0 && extent == 9 * (MPI_Count)sizeof(double));
    CHECK_OK(MPI_Type_get_true_extent_x(type, &lb, &extent));
    CHECK(lb == 0 && extent == 9 * (MPI_Count)sizeof(double));
    CHECK_OK(MPI_Type_size_x(type, &size));
    CHECK(size == 3 * (MPI_Count)sizeof(double));
    CHECK_OK(MPI_Type_set_name(type, "column"));
    CHECK_OK(MPI_Type_get_name(type, name, &length));
    CHECK(length == 6 && !strcmp(name, "column"));
    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete, &key, NULL));
    CHECK_OK(MPI_Type_set_attr(type, key, name));
    CHECK_OK(MPI_Type_get_attr(type, key, &value, &flag));
    CHECK(flag && value == name);
    CHECK_OK(MPI_Type_delete_attr(type, key));
    CHECK(deletions == 1);
    CHECK_OK(MPI_Type_free_keyval(&key));
    CHECK_OK(MPI_Type_free(&type));
}

static void addresses(void)
{
    MPI_Aint base, third;
    MPI_Status status;
    MPI_Count count;
    int *memory;

    CHECK_OK(MPI_Alloc_mem(4 * sizeof(int), MPI_INFO_NULL, &memory));
    memory[3] = 5;
    CHECK_OK(MPI_Get_address(memory, &base));
    CHECK_OK(MPI_Get_address(memory + 3, &third));
    CHECK(MPI_Aint_add(base, 3 * sizeof(int)) == third);
    CHECK(MPI_Aint_diff(third, base) == 3 * (MPI_Aint)sizeof(int));
    CHECK(*(int *)MPI_Aint_add((MPI_Aint)memory, 12) == 5);
    CHECK_OK(MPI_Free_mem(memory));
    memset(&status, 0, sizeof status);
    CHECK_OK(MPI_Status_set_elements_x(&status, MPI_INT, 7));
    CHECK_OK(MPI_Get_elements_x(&status, MPI_INT, &count));
    CHECK(count == 7);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    darray();
    kinds();
    properties();
    addresses();
    return check_end("typemore");
}
