/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no mpirun=no */
/*
 * Names of MPI-1 that MPI 3 has removed and codes still use: they mean what their successors mean. Open MPI's
 * header hides them from its own users.
 */
#include "check.h"

static int copies, deletions;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval;
    CHECK(extra == &copies);
    *(void **)out = (char *)in + 1;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value;
    CHECK(extra == &copies);
    deletions++;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    MPI_Comm other;
    char text[4];
    void *value;
    int key, flag;

    CHECK_OK(MPI_Keyval_create(copy, delete, &key, &copies));
    CHECK_OK(MPI_Attr_put(MPI_COMM_WORLD, key, text));
    CHECK_OK(MPI_Attr_get(MPI_COMM_WORLD, key, &value, &flag));
    CHECK(flag && value == text);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    CHECK(copies == 1);
    CHECK_OK(MPI_Attr_get(other, key, &value, &flag));
    CHECK(flag && value == text + 1);
    CHECK_OK(MPI_Attr_delete(other, key));
    CHECK(deletions == 1);
    CHECK_OK(MPI_Attr_get(other, key, &value, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Comm_free(&other));
    CHECK_OK(MPI_Attr_delete(MPI_COMM_WORLD, key));
    CHECK(deletions == 2);
    CHECK_OK(MPI_Keyval_free(&key));
    CHECK(key == MPI_KEYVAL_INVALID);
}

static int handled;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

static void errhandlers(void)
{
    MPI_Errhandler own, got, before;

    CHECK_OK(MPI_Errhandler_get(MPI_COMM_WORLD, &before));
    CHECK_OK(MPI_Errhandler_create(handler, &own));
    CHECK_OK(MPI_Errhandler_set(MPI_COMM_WORLD, own));
    CHECK_OK(MPI_Errhandler_get(MPI_COMM_WORLD, &got));
    CHECK(got == own);
    CHECK(MPI_Send(&handled, 1, MPI_INT, check_size, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(handled == 1);
    CHECK_OK(MPI_Errhandler_set(MPI_COMM_WORLD, before));
    CHECK_OK(MPI_Errhandler_free(&own));
    CHECK_OK(MPI_Errhandler_free(&got));
}

/* The first and the third of three words, whichever way the type was made. */
static void exchange(MPI_Datatype type)
{
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    int out[4] = {check_rank, -1, check_rank + 100, -1}, in[4] = {-2, -2, -2, -2};

    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Sendrecv(out, 1, type, right, 1, in, 1, type, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(in[0] == left && in[1] == -2 && in[2] == left + 100 && in[3] == -2);
    CHECK_OK(MPI_Type_free(&type));
}

static void types(void)
{
    MPI_Datatype type;
    MPI_Aint extent, lb, ub, where[2] = {0, 2 * sizeof(int)}, first, third;
    int lengths[2] = {1, 1}, words[4];

    CHECK_OK(MPI_Type_hvector(2, 1, 2 * sizeof(int), MPI_INT, &type));
    CHECK_OK(MPI_Type_extent(type, &extent));
    CHECK_OK(MPI_Type_lb(type, &lb));
    CHECK_OK(MPI_Type_ub(type, &ub));
    CHECK(extent == 3 * sizeof(int) && lb == 0 && ub == extent);
    exchange(type);
    CHECK_OK(MPI_Type_hindexed(2, lengths, where, MPI_INT, &type));
    exchange(type);
    CHECK_OK(MPI_Type_struct(2, lengths, where, (MPI_Datatype[]){MPI_INT, MPI_INT}, &type));
    exchange(type);
    CHECK_OK(MPI_Address(&words[0], &first));
    CHECK_OK(MPI_Address(&words[2], &third));
    CHECK(third - first == 2 * (MPI_Aint)sizeof(int));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    attributes();
    errhandlers();
    types();
    return check_end("removed");
}
