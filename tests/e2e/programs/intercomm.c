/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own stock=no np=5 */
/* e2e: switch=any stock=no np=4 */
/*
 * Intercommunicators: even and odd ranks face each other. Messages, collectives, duplicates, splits, merging;
 * all of it is Open MPI's, whatever the ranks switch to. (SMPI has none.)
 */
#include "check.h"

enum { N = 300 };

static MPI_Comm local, inter;
static int local_rank, local_size, remote_size, odd;

static void create(void)
{
    MPI_Group group;
    int flag, size;

    odd = check_rank % 2;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, odd, check_rank, &local));
    CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - odd, 7, &inter));
    CHECK_OK(MPI_Comm_test_inter(inter, &flag));
    CHECK(flag == 1);
    CHECK_OK(MPI_Comm_test_inter(local, &flag));
    CHECK(flag == 0);
    CHECK_OK(MPI_Comm_rank(inter, &local_rank));
    CHECK_OK(MPI_Comm_size(inter, &local_size));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote_size));
    CHECK(local_rank == check_rank / 2 && local_size + remote_size == check_size);
    CHECK_OK(MPI_Comm_remote_group(inter, &group));
    CHECK_OK(MPI_Group_size(group, &size));
    CHECK(size == remote_size);
    CHECK_OK(MPI_Group_free(&group));
}

/* Each sends to all on the other side, with a request pending across a switch. */
static void messages(MPI_Comm comm)
{
    int out[N], in[N];
    MPI_Request request;
    MPI_Status status;

    for (int i = 0; i < remote_size; i++) {
        check_fill(out, N, check_rank, i);
        CHECK_OK(MPI_Isend(out, N, MPI_INT, i, 3, comm, &request));
        SWITCH_B();
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        SWITCH_A();
    }
    for (int i = 0; i < remote_size; i++) {
        int from;
        CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, 3, comm, &status));
        from = status.MPI_SOURCE;
        CHECK_OK(MPI_Recv(in, N, MPI_INT, from, 3, comm, &status));
        CHECK(status.MPI_SOURCE == from && check_filled(in, N, 2 * from + 1 - odd, local_rank));
    }
}

static void collectives(MPI_Comm comm)
{
    int value = check_rank, got = -1, sum = 0, expected = 0, all[16], one = 1;
    int counts[16], displacements[16];
    MPI_Datatype types[16];
    MPI_Request request;

    CHECK_OK(MPI_Barrier(comm));
    /* Rank 0 of the odd side is the root. */
    CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, !odd ? 0 : local_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, comm));
    CHECK(odd || value == 1);
    value = check_rank;
    CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < remote_size; i++)
        expected += 2 * i + 1 - odd;
    CHECK(sum == expected);
    CHECK_OK(MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT,
                        odd               ? 0
                        : local_rank == 0 ? MPI_ROOT
                                          : MPI_PROC_NULL,
                        comm));
    if (!odd && local_rank == 0)
        for (int i = 0; i < remote_size; i++)
            CHECK(all[i] == 2 * i + 1);
    SWITCH_B();
    CHECK_OK(MPI_Iallreduce(&one, &got, 1, MPI_INT, MPI_SUM, comm, &request));
    SWITCH_A();
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(got == remote_size);
    for (int i = 0; i < remote_size; i++) {
        counts[i] = 1;
        displacements[i] = (int)(i * sizeof(int));
        types[i] = MPI_INT;
    }
    int out[16];
    for (int i = 0; i < remote_size; i++)
        out[i] = 100 * check_rank + i;
    CHECK_OK(MPI_Alltoallw(out, counts, displacements, types, all, counts, displacements, types, comm));
    for (int i = 0; i < remote_size; i++)
        CHECK(all[i] == 100 * (2 * i + 1 - odd) + local_rank);
}

static void children(void)
{
    MPI_Comm copy, merged, half;
    int rank, result, sum = 0;

    CHECK_OK(MPI_Comm_dup(inter, &copy));
    CHECK_OK(MPI_Comm_compare(inter, copy, &result));
    CHECK(result == MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_compare(inter, local, &result));
    CHECK(result == MPI_UNEQUAL);
    messages(copy);
    CHECK_OK(MPI_Comm_free(&copy));

    /* Without the last of each side; of two ranks nothing would remain. */
    CHECK_OK(MPI_Comm_split(inter, local_rank == 0 ? 1 : MPI_UNDEFINED, 0, &half));
    CHECK((half != MPI_COMM_NULL) == (local_rank == 0));
    if (half != MPI_COMM_NULL) {
        CHECK_OK(MPI_Comm_remote_size(half, &rank));
        CHECK(rank == 1);
        CHECK_OK(MPI_Allreduce(&check_rank, &rank, 1, MPI_INT, MPI_SUM, half));
        CHECK(rank == 1 - odd);
        CHECK_OK(MPI_Comm_free(&half));
    }

    /* The merged one is an ordinary communicator, for every model. */
    CHECK_OK(MPI_Intercomm_merge(inter, odd, &merged));
    CHECK_OK(MPI_Comm_rank(merged, &rank));
    CHECK(odd ? rank >= remote_size : rank < local_size);
    SWITCH_A();
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, merged));
    CHECK(sum == check_size * (check_size - 1) / 2);
    SWITCH_B();
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, merged));
    CHECK(sum == check_size * (check_size - 1) / 2);
    CHECK_OK(MPI_Comm_free(&merged));
}

int main(int argc, char *argv[])
{
    check_begin(&argc, &argv);
    create();
    messages(inter);
    collectives(inter);
    children();
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&local));
    return check_end("intercomm");
}
