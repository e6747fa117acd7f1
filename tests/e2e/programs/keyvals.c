/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no mpirun=no */
/*
 * A keyval that has been freed lives on while attributes use it (MPI 3.1 section 6.7.2): its number still
 * finds and deletes them. A duplicate that a copy function refuses is the null handle.
 */
#include "check.h"

static int dropped;

static int drop(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    dropped++;
    return MPI_SUCCESS;
}

static int refuse(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)type;
    (void)keyval;
    (void)extra;
    (void)in;
    (void)out;
    (void)flag;
    return MPI_ERR_OTHER;
}

static void freed_keyval(void)
{
    int keyval, number, again, value = 5, *found = NULL, flag = 0;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &keyval, NULL));
    number = again = keyval;
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &value));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    CHECK(keyval == MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, number, &found, &flag));
    CHECK(flag && found == &value);
    CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, number, &value) != MPI_SUCCESS);
    CHECK_OK(MPI_Comm_free_keyval(&again));
    CHECK(dropped == 0);
    CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, number));
    CHECK(dropped == 1);
    CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, number) !=
          MPI_SUCCESS); /* with its last attribute it is gone */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void refused_duplicate(void)
{
    MPI_Datatype type, copy = MPI_INT;
    int keyval;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(2, MPI_INT, &type);
    CHECK_OK(MPI_Type_create_keyval(refuse, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL));
    CHECK_OK(MPI_Type_set_attr(type, keyval, NULL));
    CHECK(MPI_Type_dup(type, &copy) != MPI_SUCCESS);
    CHECK(copy == MPI_DATATYPE_NULL);
    MPI_Type_free_keyval(&keyval);
    MPI_Type_free(&type);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    freed_keyval();
    refused_duplicate();
    return check_end("keyvals");
}
