/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any np=2 stock=no */
/*
 * The highest tag that MPI_TAG_UB allows is found by calls that do not name it: in a receive, a probe and a
 * matched probe (which stock SMPI has not). A higher one is an error in Open MPI, also where its header has
 * room for it.
 */
#include "check.h"

static void exchange(int tag)
{
    int out = tag % 1000, in = -1, found = 0;
    MPI_Status status;
    MPI_Message message;
    if (check_rank == 0) {
        for (int i = 0; i < 3; i++)
            CHECK_OK(MPI_Send(&out, 1, MPI_INT, 1, tag, MPI_COMM_WORLD));
        return;
    }
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK(in == out && status.MPI_TAG == tag);
    CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == tag);
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &status));
    while (!found)
        CHECK_OK(MPI_Improbe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &message, &status));
    CHECK(status.MPI_TAG == tag);
    CHECK_OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &status));
    CHECK(in == out && status.MPI_TAG == tag);
}

static void too_high(int tag)
{
    const char *model = getenv("E2E_A");
    int class = MPI_SUCCESS;
    if (!model || strcmp(model, "portals") != 0)
        return;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MPI_Error_class(MPI_Send(&tag, 1, MPI_INT, 1 - check_rank, tag, MPI_COMM_WORLD), &class);
    CHECK(class == MPI_ERR_TAG);
}

int main(int argc, char **argv)
{
    int *bound = NULL, flag = 0;
    check_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag));
    CHECK(flag);
    exchange(1);
    exchange(*bound);
    too_high(*bound + 1);
    return check_end("tags");
}
