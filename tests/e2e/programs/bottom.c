/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no */
/* e2e: switch=any stock=no np=3 */
/* Collectives from and to MPI_BOTTOM: the datatype holds the addresses. Each buffer is given so in turn, the
 * other one in the usual way. Stock SMPI takes its MPI_BOTTOM for an address, so that most results are wrong
 * there. */
#include "check.h"

enum { BLOCK = 4, MOST = 64 };

static int np, rank;
static int in[MOST * BLOCK], out[MOST * BLOCK];
static MPI_Datatype from,
    to; /* a block of `in` and of `out` by its address; the next item is the next block */

/* Two pieces, so that it is no contiguous type. */
static MPI_Datatype absolute(int *array)
{
    MPI_Aint where[2];
    int lengths[2] = {1, BLOCK - 1};
    MPI_Datatype pieces, block;
    MPI_Get_address(array, &where[0]);
    MPI_Get_address(array + 1, &where[1]);
    MPI_Type_create_hindexed(2, lengths, where, MPI_INT, &pieces);
    MPI_Type_create_resized(pieces, where[0], BLOCK * sizeof(int), &block);
    MPI_Type_commit(&block);
    MPI_Type_free(&pieces);
    return block;
}

static int value(int sender, int receiver, int i)
{
    return 10000 * sender + 100 * receiver + i;
}

static void prepare(int every)
{
    for (int p = 0; p < np; p++)
        for (int i = 0; i < BLOCK; i++)
            in[p * BLOCK + i] = value(rank, every ? p : 0, i);
    for (int i = 0; i < MOST * BLOCK; i++)
        out[i] = -1;
}

/* The blocks of `out`, of which block p comes from sender + p * step. */
static void check_blocks(const char *what, int blocks, int sender, int step, int receiver)
{
    for (int p = 0; p < blocks; p++)
        for (int i = 0; i < BLOCK; i++)
            CHECK(out[p * BLOCK + i] == value(sender + p * step, receiver, i));
    for (int i = blocks * BLOCK; i < np * BLOCK; i++)
        CHECK(out[i] == -1);
    TIME(what);
}

/* The arguments for a buffer: by its address in the datatype, or as an array. */
#define SEND(n)                                                                                              \
    absolute_send ? MPI_BOTTOM : (void *)in, absolute_send ? (n) : (n)*BLOCK, absolute_send ? from : MPI_INT
#define RECEIVE(n)                                                                                           \
    absolute_send ? (void *)out : MPI_BOTTOM, absolute_send ? (n)*BLOCK : (n), absolute_send ? MPI_INT : to

static void rooted(int absolute_send)
{
    for (int root = 0; root < np; root++) {
        prepare(1);
        for (int i = 0; i < BLOCK && rank == root; i++)
            out[i] = in[i];
        MPI_Bcast(RECEIVE(1), root, MPI_COMM_WORLD);
        check_blocks("bcast", 1, root, 0, 0);
        prepare(0);
        MPI_Gather(SEND(1), RECEIVE(1), root, MPI_COMM_WORLD);
        check_blocks("gather", rank == root ? np : 0, 0, 1, 0);
        prepare(1);
        MPI_Scatter(SEND(1), RECEIVE(1), root, MPI_COMM_WORLD);
        check_blocks("scatter", 1, root, 0, rank);
        MPI_Request request;
        prepare(0);
        MPI_Igather(SEND(1), RECEIVE(1), root, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_blocks("igather", rank == root ? np : 0, 0, 1, 0);
        prepare(1);
        MPI_Iscatter(SEND(1), RECEIVE(1), root, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_blocks("iscatter", 1, root, 0, rank);
    }
}

static void rooted_counts(int absolute_send)
{
    int counts[MOST], places[MOST], unit = absolute_send ? 1 : BLOCK;
    for (int p = 0; p < np; p++) {
        counts[p] = unit;
        places[p] = p * unit;
    }
    int other[MOST], there[MOST];
    for (int p = 0; p < np; p++) {
        other[p] = absolute_send ? BLOCK : 1;
        there[p] = p * other[p];
    }
    for (int root = 0; root < np; root++) {
        prepare(0);
        MPI_Gatherv(SEND(1), absolute_send ? (void *)out : MPI_BOTTOM, other, there,
                    absolute_send ? MPI_INT : to, root, MPI_COMM_WORLD);
        check_blocks("gatherv", rank == root ? np : 0, 0, 1, 0);
        prepare(1);
        MPI_Scatterv(absolute_send ? MPI_BOTTOM : (void *)in, counts, places, absolute_send ? from : MPI_INT,
                     RECEIVE(1), root, MPI_COMM_WORLD);
        check_blocks("scatterv", 1, root, 0, rank);
    }
    prepare(0);
    MPI_Allgatherv(SEND(1), absolute_send ? (void *)out : MPI_BOTTOM, other, there,
                   absolute_send ? MPI_INT : to, MPI_COMM_WORLD);
    check_blocks("allgatherv", np, 0, 1, 0);
    prepare(1);
    MPI_Alltoallv(absolute_send ? MPI_BOTTOM : (void *)in, counts, places, absolute_send ? from : MPI_INT,
                  absolute_send ? (void *)out : MPI_BOTTOM, other, there, absolute_send ? MPI_INT : to,
                  MPI_COMM_WORLD);
    check_blocks("alltoallv", np, 0, 1, rank);
}

static void all(int absolute_send)
{
    MPI_Request request;
    prepare(0);
    MPI_Allgather(SEND(1), RECEIVE(1), MPI_COMM_WORLD);
    check_blocks("allgather", np, 0, 1, 0);
    prepare(1);
    MPI_Alltoall(SEND(1), RECEIVE(1), MPI_COMM_WORLD);
    check_blocks("alltoall", np, 0, 1, rank);
    prepare(0);
    MPI_Iallgather(SEND(1), RECEIVE(1), MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_blocks("iallgather", np, 0, 1, 0);
    prepare(1);
    MPI_Ialltoall(SEND(1), RECEIVE(1), MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_blocks("ialltoall", np, 0, 1, rank);
}

/* Types of their own for each peer, all of absolute addresses. */
static void types_of_peers(void)
{
    MPI_Datatype sent[MOST], got[MOST];
    int ones[MOST], zeros[MOST];
    for (int p = 0; p < np; p++) {
        sent[p] = absolute(in + p * BLOCK);
        got[p] = absolute(out + p * BLOCK);
        ones[p] = 1;
        zeros[p] = 0;
    }
    prepare(1);
    MPI_Alltoallw(MPI_BOTTOM, ones, zeros, sent, MPI_BOTTOM, ones, zeros, got, MPI_COMM_WORLD);
    check_blocks("alltoallw", np, 0, 1, rank);
    for (int p = 0; p < np; p++) {
        MPI_Type_free(&sent[p]);
        MPI_Type_free(&got[p]);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    rank = check_rank;
    np = check_size;
    from = absolute(in);
    to = absolute(out);
    for (int absolute_send = 0; absolute_send < 2; absolute_send++) {
        rooted(absolute_send);
        rooted_counts(absolute_send);
        all(absolute_send);
    }
    types_of_peers();
    MPI_Type_free(&from);
    MPI_Type_free(&to);
    return check_end("bottom");
}
