/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no mpirun=no */
/* What this version does not implement: a clear MPI error from each call, and the run goes on. */
#include "check.h"

static int class_of(int code)
{
    int class;

    CHECK_OK(MPI_Error_class(code, &class));
    return class;
}

static int convert(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    (void)user, (void)type, (void)count, (void)file, (void)position, (void)extra;
    return MPI_SUCCESS;
}

static int extent(MPI_Datatype type, MPI_Aint *result, void *extra)
{
    (void)type, (void)extra;
    *result = 4;
    return MPI_SUCCESS;
}

#define REFUSED(call) CHECK(class_of(call) == MPI_ERR_UNSUPPORTED_OPERATION)

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Info infos[1] = {MPI_INFO_NULL};
    char port[MPI_MAX_PORT_NAME] = "port", *commands[1] = {"nothing"};
    int codes[1], counts[1] = {1}, one = 1, sum = 0;

    check_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    REFUSED(MPI_Comm_spawn("nothing", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm, codes));
    REFUSED(
        MPI_Comm_spawn_multiple(1, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD, &comm, codes));
    REFUSED(MPI_Open_port(MPI_INFO_NULL, port));
    REFUSED(MPI_Publish_name("service", MPI_INFO_NULL, port));
    REFUSED(MPI_Lookup_name("service", MPI_INFO_NULL, port));
    REFUSED(MPI_Unpublish_name("service", MPI_INFO_NULL, port));
    REFUSED(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm));
    REFUSED(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm));
    REFUSED(MPI_Comm_join(0, &comm));
    REFUSED(MPI_Close_port(port));
    REFUSED(MPI_Register_datarep("own", convert, convert, extent, NULL));
    CHECK(comm == MPI_COMM_NULL);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == check_size);
    return check_end("refused");
}
