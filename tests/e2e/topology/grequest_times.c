/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any np=2 */
/* What stock SMPI does with generalized requests takes the time that it takes there. */
#include "../programs/check.h"

static int query(void *state, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    *(int *)state = -1;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int flag = 1, state = 3;
    MPI_Request request;

    check_begin(&argc, &argv);
    for (int round = 0; round < 3; round++) {
        state = 3;
        CHECK_OK(MPI_Grequest_start(query, release, cancel, &state, &request));
        TIME("start");
        for (int i = 0; i < round; i++) {
            CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            CHECK(!flag);
            TIME("in vain");
        }
        CHECK_OK(MPI_Grequest_complete(request));
        TIME("complete");
        if (round == 1) {
            CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            CHECK(flag);
        } else {
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        CHECK(request == MPI_REQUEST_NULL && state == -1);
        TIME("done");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    TIME("end");
    return check_end("grequest_times");
}
