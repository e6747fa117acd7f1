/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own */
/*
 * One rank sleeps for a second before dup and split, and again while the others use the new communicator in
 * the other model. A shadow must be made locally: no rank may wait for the sleeper, which does not
 * communicate with it.
 */
#include "check.h"
#include <unistd.h>

static void nap(void)
{
    if (check_rank == 1)
        sleep(1);
}

/* Ranks 0 and 2 exchange something and must be done long before rank 1 awakes. */
static void without_sleeper(MPI_Comm comm, double begin)
{
    int other = 2 - check_rank, got = -1;

    if (check_rank != 0 && check_rank != 2)
        return;
    CHECK_OK(
        MPI_Sendrecv(&check_rank, 1, MPI_INT, other, 3, &got, 1, MPI_INT, other, 3, comm, MPI_STATUS_IGNORE));
    CHECK(got == other);
    CHECK(MPI_Wtime() - begin < 0.5);
    TIME("exchange");
}

int main(int argc, char **argv)
{
    MPI_Comm copy, cut;
    MPI_Datatype type;
    double begin;
    int one = 1, sum;

    check_begin(&argc, &argv);
    if (check_size < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    nap();
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    TIME("dup");
    MPI_Barrier(MPI_COMM_WORLD);
    nap();
    CHECK_OK(MPI_Comm_split(copy, check_rank / 3, check_rank, &cut));
    TIME("split");
    MPI_Type_contiguous(4, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 4; round++) {
        begin = MPI_Wtime();
        nap();
        if (round % 2)
            SWITCH_A();
        else
            SWITCH_B();
        without_sleeper(round < 2 ? copy : cut, begin);
        CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy));
        CHECK(sum == check_size);
        TIME("round");
    }
    MPI_Type_free(&type);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&cut);
    return check_end("sleeper");
}
