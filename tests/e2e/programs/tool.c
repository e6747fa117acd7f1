/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no mpirun=no */
/*
 * The tool interface, which has no variables and no categories here, as the standard allows: numbers are
 * zero, and what names a variable, a handle, or an index gets the error for one that does not exist.
 */
#include "check.h"

static void control_variables(void)
{
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    MPI_Datatype type;
    MPI_T_enum values;
    char name[8], text[8];
    int number = 5, length = 8, text_length = 8, verbosity, bind, scope, count, value = 0;

    CHECK_OK(MPI_T_cvar_get_num(&number));
    CHECK(number == 0);
    CHECK(MPI_T_cvar_get_info(0, name, &length, &verbosity, &type, &values, text, &text_length, &bind,
                              &scope) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_get_index("nothing", &number) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_cvar_handle_alloc(0, NULL, &handle, &count) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_read(handle, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_write(handle, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, name, &length) != MPI_SUCCESS);
    CHECK(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &value, name, &length) != MPI_SUCCESS);
}

static void performance_variables(void)
{
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    MPI_Datatype type;
    MPI_T_enum values;
    char name[8], text[8];
    int number = 5, length = 8, text_length = 8, verbosity, class, bind, readonly, continuous, atomic, count,
        value = 0;

    CHECK_OK(MPI_T_pvar_get_num(&number));
    CHECK(number == 0);
    CHECK(MPI_T_pvar_get_info(0, name, &length, &verbosity, &class, &type, &values, text, &text_length, &bind,
                              &readonly, &continuous, &atomic) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_pvar_get_index("nothing", MPI_T_PVAR_CLASS_COUNTER, &number) == MPI_T_ERR_INVALID_NAME);
    CHECK_OK(MPI_T_pvar_session_create(&session));
    CHECK(session != MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_pvar_handle_alloc(session, 0, NULL, &handle, &count) == MPI_T_ERR_INVALID_INDEX);
    CHECK_OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK_OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK_OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK(MPI_T_pvar_start(session, handle) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_write(session, handle, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_readreset(session, handle, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_T_ERR_INVALID_HANDLE);
    CHECK_OK(MPI_T_pvar_session_free(&session));
    CHECK(session == MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_T_ERR_INVALID_SESSION);
}

static void categories(void)
{
    char name[8], text[8];
    int number = 5, length = 8, text_length = 8, cvars, pvars, children, list[1], stamp = -1, later = -2;

    CHECK_OK(MPI_T_category_get_num(&number));
    CHECK(number == 0);
    CHECK(MPI_T_category_get_info(0, name, &length, text, &text_length, &cvars, &pvars, &children) ==
          MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_index("nothing", &number) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_category_get_cvars(0, 1, list) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_pvars(0, 1, list) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_categories(0, 1, list) == MPI_T_ERR_INVALID_INDEX);
    CHECK_OK(MPI_T_category_changed(&stamp));
    CHECK_OK(MPI_T_category_changed(&later));
    CHECK(stamp == later);
}

int main(int argc, char **argv)
{
    int provided, number;

    CHECK(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    check_begin(&argc, &argv);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_finalize());
    control_variables();
    performance_variables();
    categories();
    CHECK_OK(MPI_T_finalize());
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    return check_end("tool");
}
