/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any */
/* User-defined operations: the function is called with the application's own datatype handles, in every
 * model. */
#include "ranges.h"

/* 2x2 matrices do not commute: the result shows the order of the ranks. */
static void multiply(void *in, void *inout, int *n, MPI_Datatype *type)
{
    long *a = in, *b = inout;

    calls++;
    wrong_types += *type != MPI_LONG;
    for (int i = 0; i + 3 < *n; i += 4) {
        long c[4] = {a[i] * b[i] + a[i + 1] * b[i + 2], a[i] * b[i + 1] + a[i + 1] * b[i + 3],
                     a[i + 2] * b[i] + a[i + 3] * b[i + 2], a[i + 2] * b[i + 1] + a[i + 3] * b[i + 3]};

        memcpy(b + i, c, sizeof(c));
    }
}

/* Reductions of all kinds in the model in force. */
static void blocking(MPI_Op op)
{
    range_t in[N], out[N];

    fill(in);
    memset(out, 0, sizeof(out));
    CHECK_OK(MPI_Allreduce(in, out, N, range_type, op, MPI_COMM_WORLD));
    CHECK(joined(out));
    CHECK_OK(MPI_Reduce(in, out, N, range_type, op, check_size - 1, MPI_COMM_WORLD));
    CHECK(check_rank != check_size - 1 || joined(out));
    CHECK_OK(MPI_Scan(in, out, N, range_type, op, MPI_COMM_WORLD));
    CHECK(out[0].least == 0 && out[0].greatest == check_rank);
    fill(in);
    fill(out);
    calls = 0;
    CHECK_OK(MPI_Reduce_local(in, out, N, range_type, op));
    CHECK(calls > 0);
    CHECK(out[3].sum == 2 * in[3].sum && out[3].least == in[3].least);
}

static void ordered(MPI_Op op)
{
    long in[4] = {1, check_rank + 1, 0, 1}, expected[4] = {1, 0, 0, 1}, out[4] = {0};

    /* Products of {1 a; 0 1} commute; a factor {1 0; 1 1} on odd ranks spoils that. */
    if (check_rank % 2)
        in[1] = 0, in[2] = 1;
    for (int r = 0; r < check_size; r++) {
        long m[4] = {1, r + 1, 0, 1};
        int four = 4;
        MPI_Datatype t = MPI_LONG;

        if (r % 2)
            m[1] = 0, m[2] = 1;
        multiply(expected, m, &four, &t);
        memcpy(expected, m, sizeof(m));
    }
    CHECK_OK(MPI_Allreduce(in, out, 4, MPI_LONG, op, MPI_COMM_WORLD));
    CHECK(!memcmp(out, expected, sizeof(out)));
}

static MPI_Datatype expected_type;

static void look(void *in, void *inout, int *n, MPI_Datatype *type)
{
    wrong_types += *type != expected_type;
}

/* Some implementations have one object for several names, and the function gets that of the call. */
static void names(void)
{
    static const MPI_Datatype types[] = {MPI_INT,     MPI_INTEGER,          MPI_LOGICAL,   MPI_INT32_T,
                                         MPI_DOUBLE,  MPI_DOUBLE_PRECISION, MPI_CHARACTER, MPI_CHAR,
                                         MPI_COMPLEX, MPI_2INTEGER,         MPI_2INT};
    MPI_Request request;
    MPI_Op op;
    long in[2] = {0, 0}, out[2] = {0, 0};

    CHECK_OK(MPI_Op_create(look, 1, &op));
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        expected_type = types[i];
        CHECK_OK(MPI_Allreduce(in, out, 1, expected_type, op, MPI_COMM_WORLD));
        CHECK_OK(MPI_Reduce_local(in, out, 1, expected_type, op));
        CHECK_OK(MPI_Iallreduce(in, out, 1, expected_type, op, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Op_free(&op));
}

int main(int argc, char **argv)
{
    MPI_Op op, product;
    int commutes;

    check_begin(&argc, &argv);
    make_type();
    CHECK_OK(MPI_Op_create(join, 1, &op));
    CHECK_OK(MPI_Op_create(multiply, 0, &product));
    MPI_Op_commutative(product, &commutes);
    CHECK(!commutes);
    MPI_Op_commutative(op, &commutes);
    CHECK(commutes);
    names();
    for (int round = 0; round < 3; round++) {
        blocking(op);
        ordered(product);
        TIME("blocking");
    }
    MPI_Op_free(&op);
    MPI_Op_free(&product);
    CHECK(wrong_types == 0);
    MPI_Type_free(&range_type);
    return check_end("userop");
}
