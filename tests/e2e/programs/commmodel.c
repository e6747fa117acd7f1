/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own */
/*
 * Communicators bound to a model: in one phase, rows of a grid run in one model and columns in another,
 * whatever the ranks switch to. Their times show it: a bound communicator costs what its model costs.
 */
#include <time.h>

#include "check.h"

enum { N = 100 };

static void ring(MPI_Comm comm, int tag)
{
    int rank, size, out[N], in[N];
    MPI_Request request;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    check_fill(out, N, rank, tag);
    CHECK_OK(MPI_Irecv(in, N, MPI_INT, (rank + size - 1) % size, tag, comm, &request));
    CHECK_OK(MPI_Send(out, N, MPI_INT, (rank + 1) % size, tag, comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(check_filled(in, N, (rank + size - 1) % size, tag));
    CHECK_OK(MPI_Sendrecv(out, N, MPI_INT, (rank + 1) % size, tag, in, N, MPI_INT, (rank + size - 1) % size,
                          tag, comm, MPI_STATUS_IGNORE));
    CHECK(check_filled(in, N, (rank + size - 1) % size, tag));
}

static double timed_ring(MPI_Comm comm)
{
    /* Ranks leave a barrier of MPICH at dates that depend on what was before: here they begin at one date. */
    double now = MPI_Wtime(), latest, begin;
    CHECK_OK(MPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    begin = latest + 1e-4;
    if (check_simulated())
        nanosleep(&(struct timespec){.tv_nsec = (long)((begin - MPI_Wtime()) * 1e9)}, NULL);
    begin = MPI_Wtime();
    ring(comm, 4);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return MPI_Wtime() - begin;
}

int main(int argc, char *argv[])
{
    MPI_Comm row, column, copy;
    MPI_Info info;
    const char *a = check_model("E2E_A", "smpi"), *b = check_model("E2E_B", "portals");
    int sum;

    check_begin(&argc, &argv);
    SWITCH_A();
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank / 2, 0, &row));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &column));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "parfocal_model", b));
    CHECK_OK(MPI_Comm_set_info(row, info));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy));
    CHECK_OK(MPI_Info_free(&info));
    CHECK(pf_comm_model_set(column, a) == 0);

    /* Ranks are in different models, and all their messages meet. */
    for (int round = 0; round < 4; round++) {
        if ((check_rank + round) % 3 == 0)
            SWITCH_B();
        else
            SWITCH_A();
        ring(row, round);
        ring(column, round);
        ring(copy, round);
        CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, copy));
        CHECK(sum == check_size * (check_size - 1) / 2);
        CHECK_OK(MPI_Barrier(row));
    }

    /* A bound ring takes as long as the same ring in its model. */
    SWITCH_B();
    double fine = timed_ring(MPI_COMM_WORLD);
    double bound = timed_ring(copy);
    SWITCH_A();
    CHECK(pf_comm_model_set(copy, NULL) == 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    double coarse = timed_ring(MPI_COMM_WORLD);
    double freed = timed_ring(copy);
    if (check_simulated()) {
        CHECK(bound > 0.99 * fine && bound < 1.01 * fine);
        CHECK(freed > 0.99 * coarse && freed < 1.01 * coarse);
    }
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_free(&row));
    CHECK_OK(MPI_Comm_free(&column));
    return check_end("commmodel");
}
