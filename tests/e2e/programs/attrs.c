/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any */
/* Attributes: copy and delete callbacks run once per event, with the application's own handles. */
#include "check.h"
#include <limits.h>

static int copies, deletes, failures;
static MPI_Comm expected_old, deleted_comm;
static int token = 77, extra = 5;

static int copy(MPI_Comm old, int keyval, void *extra_state, void *in, void *out, int *flag)
{
    (void)keyval;
    copies++;
    failures += old != expected_old || extra_state != &extra || in != &token;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void *value, void *extra_state)
{
    (void)keyval;
    deletes++;
    deleted_comm = comm;
    failures += extra_state != &extra || value != &token;
    return MPI_SUCCESS;
}

static int type_deletes;

static int type_delete(MPI_Datatype type, int keyval, void *value, void *extra_state)
{
    (void)type, (void)keyval, (void)extra_state;
    type_deletes += value == &token;
    return MPI_SUCCESS;
}

static void on_comm(void)
{
    MPI_Comm a, b, c;
    int key, quiet, flag, sum = 0;
    void *value;

    CHECK_OK(MPI_Comm_create_keyval(copy, delete, &key, &extra));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &quiet, NULL));
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    CHECK_OK(MPI_Comm_get_attr(a, key, &value, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Comm_set_attr(a, key, &token));
    CHECK_OK(MPI_Comm_set_attr(a, quiet, &token));
    CHECK_OK(MPI_Comm_get_attr(a, key, &value, &flag));
    CHECK(flag && value == &token);
    expected_old = a;
    MPI_Comm_dup(a, &b);
    CHECK(copies == 1 && deletes == 0);
    CHECK_OK(MPI_Comm_get_attr(b, key, &value, &flag));
    CHECK(flag && value == &token);
    CHECK_OK(MPI_Comm_get_attr(b, quiet, &value, &flag));
    CHECK(!flag);
    MPI_Comm_split(a, 0, 0, &c); /* split copies no attributes */
    CHECK_OK(MPI_Comm_get_attr(c, key, &value, &flag));
    CHECK(!flag && copies == 1);
    MPI_Comm_free(&c);
    CHECK(deletes == 0);
    deleted_comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_delete_attr(b, key));
    CHECK(deletes == 1 && deleted_comm == b);
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, b)); /* materialises b wherever it must */
    MPI_Comm_free(&b);
    CHECK(deletes == 1);
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, a));
    MPI_Comm_free(&a);
    CHECK(deletes == 2 && copies == 1 && failures == 0);
    CHECK_OK(MPI_Comm_free_keyval(&key));
    CHECK(key == MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Comm_free_keyval(&quiet));
}

static void on_type(void)
{
    MPI_Datatype t, u;
    int key, flag;
    void *value;

    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, type_delete, &key, NULL));
    MPI_Type_contiguous(2, MPI_INT, &t);
    CHECK_OK(MPI_Type_set_attr(t, key, &token));
    MPI_Type_dup(t, &u);
    CHECK_OK(MPI_Type_get_attr(u, key, &value, &flag));
    CHECK(flag && value == &token);
    MPI_Type_free(&t);
    MPI_Type_free(&u); /* the copy may keep the original alive until now */
    CHECK(type_deletes == 2);
    CHECK_OK(MPI_Type_free_keyval(&key));
}

/* What the standard promises about the attributes of MPI_COMM_WORLD. */
static void predefined(void)
{
    int *value, flag;

    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *value >= 32767);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag));
    CHECK(!flag || *value == 0 || *value == 1);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag));
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    on_comm();
    on_type();
    predefined();
    TIME("end");
    return check_end("attrs");
}
