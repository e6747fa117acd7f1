/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no */
/* Info objects, and what the environment answers. */
#include "check.h"

static void info(void)
{
    MPI_Info a, b;
    int n, flag, length;
    char key[MPI_MAX_INFO_KEY + 1], value[32];

    CHECK_OK(MPI_Info_create(&a));
    CHECK_OK(MPI_Info_set(a, "colour", "blue"));
    CHECK_OK(MPI_Info_set(a, "size", "12"));
    CHECK_OK(MPI_Info_set(a, "colour", "green"));
    CHECK_OK(MPI_Info_get_nkeys(a, &n));
    CHECK(n == 2);
    CHECK_OK(MPI_Info_dup(a, &b));
    CHECK_OK(MPI_Info_delete(a, "colour"));
    CHECK_OK(MPI_Info_get(a, "colour", 31, value, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Info_get(b, "colour", 31, value, &flag));
    CHECK(flag && !strcmp(value, "green"));
    CHECK_OK(MPI_Info_get_valuelen(b, "size", &length, &flag));
    CHECK(flag && length == 2);
    CHECK_OK(MPI_Info_get_nthkey(a, 0, key));
    CHECK(!strcmp(key, "size"));
    CHECK_OK(MPI_Info_free(&a));
    CHECK(a == MPI_INFO_NULL);
    CHECK_OK(MPI_Info_free(&b));
}

static void environment(void)
{
    int version, subversion, length, flag;
    char name[MPI_MAX_PROCESSOR_NAME];
    static char library[MPI_MAX_LIBRARY_VERSION_STRING];
    double t;

    CHECK_OK(MPI_Get_version(&version, &subversion));
    CHECK(version == 3);
    CHECK_OK(MPI_Get_library_version(library, &length));
    CHECK(length > 0);
    CHECK_OK(MPI_Get_processor_name(name, &length));
    CHECK(length > 0 && (int)strlen(name) == length);
    CHECK_OK(MPI_Initialized(&flag));
    CHECK(flag);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK(!flag);
    t = MPI_Wtime();
    CHECK(MPI_Wtime() >= t);
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1);
    CHECK_OK(MPI_Pcontrol(1));
}

int main(int argc, char **argv)
{
    int provided = -1, flag, main_thread = 0, status;

    MPI_Initialized(&flag);
    CHECK(!flag);
    CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK(provided >= MPI_THREAD_SINGLE);
    CHECK_OK(MPI_Query_thread(&flag));
    CHECK(flag == provided);
    CHECK_OK(MPI_Is_thread_main(&main_thread));
    info();
    environment();
    TIME("end");
    status = check_end("info");
    MPI_Finalized(&flag);
    return flag ? status : 3;
}
