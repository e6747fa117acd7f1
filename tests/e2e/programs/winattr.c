/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no */
/* What the middleware keeps of a window: name, attributes with their callbacks, error handler. */
#include "check.h"

static int deletions, handled;

static int delete (MPI_Win win, int key, void *value, void *extra)
{
    (void)win, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void handler(MPI_Win *win, int *code, ...)
{
    (void)win;
    CHECK(*code == MPI_ERR_OTHER);
    handled++;
}

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Errhandler own, got;
    char name[MPI_MAX_OBJECT_NAME];
    void *value;
    int memory[4], key, flag, length;

    check_begin(&argc, &argv);
    CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_name(win, "halo"));
    CHECK_OK(MPI_Win_get_name(win, name, &length));
    CHECK(length == 4 && !strcmp(name, "halo"));

    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete, &key, NULL));
    CHECK_OK(MPI_Win_set_attr(win, key, memory));
    CHECK_OK(MPI_Win_get_attr(win, key, &value, &flag));
    CHECK(flag && value == memory);
    CHECK_OK(MPI_Win_delete_attr(win, key));
    CHECK(deletions == 1);
    CHECK_OK(MPI_Win_get_attr(win, key, &value, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Win_set_attr(win, key, memory));

    CHECK_OK(MPI_Win_create_errhandler(handler, &own));
    CHECK_OK(MPI_Win_set_errhandler(win, own));
    CHECK_OK(MPI_Win_get_errhandler(win, &got));
    CHECK(got == own);
    CHECK_OK(MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
    CHECK(handled == 1);
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_Errhandler_free(&own));
    CHECK_OK(MPI_Win_free(&win));
    CHECK(deletions == 2);
    CHECK_OK(MPI_Win_free_keyval(&key));
    return check_end("winattr");
}
