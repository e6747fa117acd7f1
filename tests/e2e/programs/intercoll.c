/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own stock=no np=5 */
/* e2e: switch=any stock=no np=7 without=mpich */
/* Stock MPICH 4.0.2 fails with these sides (MPI_Bcast): not in model mpich. */
/*
 * All collectives on an intercommunicator with sides of different sizes, blocking and not, with each member
 * of a side as the root.
 */
#include "check.h"

enum { N = 5, MOST = 16 };

static MPI_Comm local, inter;
static int me, size, others, side;

/* Ranks of the world of the other side's members; what a member sends to another one. */
static int world_of(int other)
{
    return side ? check_size - others + other : other;
}

static int item(int from, int to, int i)
{
    return 1000 * from + 10 * to + i;
}

static int root_argument(int root_side, int root)
{
    if (side != root_side)
        return root;
    return me == root ? MPI_ROOT : MPI_PROC_NULL;
}

static MPI_Request request;
static int nonblocking;

/* Calls the function or its nonblocking variant. */
#define CALL(Name, iname, ...)                                                                               \
    do {                                                                                                     \
        if (nonblocking) {                                                                                   \
            CHECK_OK(MPI_I##iname(__VA_ARGS__, inter, &request));                                            \
            SWITCH_B();                                                                                      \
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                 \
            SWITCH_A();                                                                                      \
        } else {                                                                                             \
            CHECK_OK(MPI_##Name(__VA_ARGS__, inter));                                                        \
        }                                                                                                    \
    } while (0)

static void rooted(int root_side, int root)
{
    int argument = root_argument(root_side, root), gets = side != root_side, is_root = argument == MPI_ROOT;
    int root_world = root_side == side ? check_rank : world_of(root), buffer[N], all[MOST * N], sum[N];
    int counts[MOST], displs[MOST], at = 0;

    for (int i = 0; i < N; i++)
        buffer[i] = is_root ? item(check_rank, 0, i) : -1;
    CALL(Bcast, bcast, buffer, N, MPI_INT, argument);
    for (int i = 0; gets && i < N; i++)
        CHECK(buffer[i] == item(root_world, 0, i));

    for (int i = 0; i < N; i++)
        buffer[i] = item(check_rank, root, i);
    CALL(Gather, gather, buffer, N, MPI_INT, all, N, MPI_INT, argument);
    for (int i = 0; is_root && i < others * N; i++)
        CHECK(all[i] == item(world_of(i / N), root, i % N));
    for (int i = 0; i < others; i++) {
        counts[i] = i % N;
        displs[i] = at;
        at += counts[i] + 1;
    }
    /* For the others they mean nothing, also for the one whose own number is the root's. */
    const int *root_counts = is_root ? counts : NULL, *root_displs = is_root ? displs : NULL;
    CALL(Gatherv, gatherv, buffer, me % N, MPI_INT, all, root_counts, root_displs, MPI_INT, argument);
    for (int i = 0; is_root && i < others; i++)
        for (int j = 0; j < counts[i]; j++)
            CHECK(all[displs[i] + j] == item(world_of(i), root, j));

    for (int i = 0; i < others * N; i++)
        all[i] = item(check_rank, i / N, i % N);
    CALL(Scatter, scatter, all, N, MPI_INT, buffer, N, MPI_INT, argument);
    for (int i = 0; gets && i < N; i++)
        CHECK(buffer[i] == item(root_world, me, i));
    for (int i = 0; i < others; i++)
        for (int j = 0; j < counts[i]; j++)
            all[displs[i] + j] = item(check_rank, i, j);
    CALL(Scatterv, scatterv, all, root_counts, root_displs, MPI_INT, buffer, me % N, MPI_INT, argument);
    for (int i = 0; gets && i < me % N; i++)
        CHECK(buffer[i] == item(root_world, me, i));

    for (int i = 0; i < N; i++)
        buffer[i] = check_rank + i;
    CALL(Reduce, reduce, buffer, sum, N, MPI_INT, MPI_SUM, argument);
    for (int i = 0; is_root && i < N; i++) {
        int expected = 0;
        for (int j = 0; j < others; j++)
            expected += world_of(j) + i;
        CHECK(sum[i] == expected);
    }
}

static void gathering(void)
{
    int mine[N], all[MOST * N], counts[MOST], displs[MOST], at = 0;

    if (nonblocking)
        CHECK_OK(MPI_Ibarrier(inter, &request));
    else
        CHECK_OK(MPI_Barrier(inter));
    if (nonblocking)
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < N; i++)
        mine[i] = item(check_rank, 0, i);
    /* The sides send blocks of different sizes. */
    int ours = side ? N : N - 2, theirs = side ? N - 2 : N;
    CALL(Allgather, allgather, mine, ours, MPI_INT, all, theirs, MPI_INT);
    for (int i = 0; i < others * theirs; i++)
        CHECK(all[i] == item(world_of(i / theirs), 0, i % theirs));
    for (int i = 0; i < others; i++) {
        counts[i] = i % N;
        displs[i] = at;
        at += counts[i] + 1;
    }
    CALL(Allgatherv, allgatherv, mine, me % N, MPI_INT, all, counts, displs, MPI_INT);
    for (int i = 0; i < others; i++)
        for (int j = 0; j < counts[i]; j++)
            CHECK(all[displs[i] + j] == item(world_of(i), 0, j));
}

static void exchanging(void)
{
    int out[MOST * N], in[MOST * N], counts[MOST], displs[MOST], bytes[MOST];
    MPI_Datatype types[MOST];

    for (int i = 0; i < others * N; i++)
        out[i] = item(check_rank, i / N, i % N);
    CALL(Alltoall, alltoall, out, N, MPI_INT, in, N, MPI_INT);
    for (int i = 0; i < others * N; i++)
        CHECK(in[i] == item(world_of(i / N), me, i % N));
    for (int i = 0; i < others; i++) {
        counts[i] = (i + me) % N;
        displs[i] = i * N;
        bytes[i] = i * N * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    memset(in, -1, sizeof in);
    CALL(Alltoallv, alltoallv, out, counts, displs, MPI_INT, in, counts, displs, MPI_INT);
    for (int i = 0; i < others; i++)
        for (int j = 0; j < N; j++)
            CHECK(in[displs[i] + j] == (j < counts[i] ? item(world_of(i), me, j) : -1));
    memset(in, -1, sizeof in);
    CALL(Alltoallw, alltoallw, out, counts, bytes, types, in, counts, bytes, types);
    for (int i = 0; i < others; i++)
        for (int j = 0; j < N; j++)
            CHECK(in[displs[i] + j] == (j < counts[i] ? item(world_of(i), me, j) : -1));
}

static void reducing(void)
{
    int out[MOST * MOST], in[MOST * MOST], counts[MOST], total = size * others, first = 0;

    for (int i = 0; i < total; i++)
        out[i] = check_rank + i;
    CALL(Allreduce, allreduce, out, in, total, MPI_INT, MPI_SUM);
    int sum = 0;
    for (int i = 0; i < others; i++)
        sum += world_of(i);
    for (int i = 0; i < total; i++)
        CHECK(in[i] == sum + others * i);
    CALL(Reduce_scatter_block, reduce_scatter_block, out, in, others, MPI_INT, MPI_SUM);
    for (int i = 0; i < others; i++)
        CHECK(in[i] == sum + others * (me * others + i));
    /* All but the last member get one less, the last one the rest. */
    for (int i = 0; i < size; i++)
        counts[i] = i < size - 1 ? others - 1 : total - (size - 1) * (others - 1);
    for (int i = 0; i < me; i++)
        first += counts[i];
    CALL(Reduce_scatter, reduce_scatter, out, in, counts, MPI_INT, MPI_SUM);
    for (int i = 0; i < counts[me]; i++)
        CHECK(in[i] == sum + others * (first + i));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    side = check_rank < check_size / 3 ? 1 : 0;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, side, check_rank, &local));
    CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side ? check_size / 3 : 0, 1, &inter));
    CHECK_OK(MPI_Comm_rank(inter, &me));
    CHECK_OK(MPI_Comm_size(inter, &size));
    CHECK_OK(MPI_Comm_remote_size(inter, &others));
    for (nonblocking = 0; nonblocking < 2; nonblocking++) {
        for (int s = 0; s < 2; s++)
            for (int root = 0; root < (s == side ? size : others); root++)
                rooted(s, root);
        gathering();
        exchanging();
        reducing();
    }
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&local));
    return check_end("intercoll");
}
