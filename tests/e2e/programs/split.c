/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any */
/* Communicators made by split and dup, used by collectives only, so that any schedule may run it. */
#include "check.h"

/* Sums the ranks of the members and compares with what the colours say. */
static void use(MPI_Comm comm, int colour, int expected_size, int expected_sum, const char *label)
{
    int in[2] = {check_rank, colour}, out[2] = {0, 0}, size, rank, first = -1;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    CHECK(size == expected_size);
    CHECK_OK(MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, comm));
    CHECK(out[0] == expected_sum);
    CHECK(out[1] == colour * expected_size);
    if (rank == 0)
        first = check_rank;
    CHECK_OK(MPI_Bcast(&first, 1, MPI_INT, 0, comm));
    CHECK(first >= 0 && first < check_size);
    TIME(label);
}

/* Even and odd ranks, in reverse order. */
static void halves(void)
{
    MPI_Comm half, copy;
    int colour = check_rank % 2, members = 0, sum = 0, rank, last = -1;

    for (int r = colour; r < check_size; r += 2) {
        members++;
        sum += r;
        last = r;
    }
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, colour, -check_rank, &half));
    MPI_Comm_rank(half, &rank);
    CHECK(rank == (last - check_rank) / 2);
    use(half, colour, members, sum, "half");
    CHECK_OK(MPI_Comm_dup(half, &copy));
    use(copy, colour, members, sum, "copy");
    CHECK_OK(MPI_Comm_free(&half));
    CHECK(half == MPI_COMM_NULL);
    use(copy, colour, members, sum, "copy-alone");
    CHECK_OK(MPI_Comm_free(&copy));
}

/* Only rank 0 and the last one take part. */
static void undefined(void)
{
    int in = check_rank == 0 || check_rank == check_size - 1;
    MPI_Comm pair;

    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, in ? 5 : MPI_UNDEFINED, 0, &pair));
    CHECK((pair != MPI_COMM_NULL) == in);
    if (in) {
        use(pair, 5, check_size > 1 ? 2 : 1, check_size - 1, "pair");
        MPI_Comm_free(&pair);
    }
}

/* Many short-lived communicators: context ids must be given back or last long enough. */
static void churn(void)
{
    for (int i = 0; i < 20; i++) {
        MPI_Comm a, b;
        int one = 1, sum = 0;

        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &a));
        CHECK_OK(MPI_Comm_split(a, check_rank / 2, check_rank, &b));
        CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, i % 2 ? a : b));
        CHECK(sum == (i % 2 ? check_size : check_rank / 2 == (check_size - 1) / 2 && check_size % 2 ? 1 : 2));
        MPI_Comm_free(&a);
        MPI_Comm_free(&b);
    }
    TIME("churn");
}

int main(int argc, char **argv)
{
    MPI_Comm self;

    check_begin(&argc, &argv);
    TIME("begin");
    halves();
    undefined();
    churn();
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &self));
    use(self, 3, 1, check_rank, "self");
    MPI_Comm_free(&self);
    TIME("end");
    return check_end("split");
}
