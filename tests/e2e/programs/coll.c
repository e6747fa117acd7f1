/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any */
/* Every blocking collective, with v and w variants, MPI_IN_PLACE, several roots and sizes. */
#include "check.h"

enum { MOST = 3000 };

static int P, R;                          /* size and rank, under short names */
static int in[16 * MOST], out[16 * MOST]; /* for up to 16 ranks */
static int counts[16], places[16];

/* Rank r contributes r + 1 + extra elements, placed one after the other with a gap of one. */
static int ragged(int extra)
{
    int at = 0;

    for (int r = 0; r < P; r++) {
        counts[r] = r + 1 + extra;
        places[r] = at;
        at += counts[r] + 1;
    }
    return at;
}

static void bcast_reduce(int n, int root)
{
    check_fill(in, n, R == root ? root : 99, n);
    CHECK_OK(MPI_Bcast(in, n, MPI_INT, root, MPI_COMM_WORLD));
    CHECK(check_filled(in, n, root, n));

    for (int i = 0; i < n; i++)
        in[i] = R + i;
    memset(out, 0xee, sizeof(out));
    CHECK_OK(MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
    for (int i = 0; R == root && i < n; i++)
        CHECK(out[i] == P * (P - 1) / 2 + P * i);
    if (R == root)
        CHECK_OK(MPI_Reduce(MPI_IN_PLACE, in, n, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD));
    else
        CHECK_OK(MPI_Reduce(in, NULL, n, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD));
    for (int i = 0; R == root && i < n; i++)
        CHECK(in[i] == P - 1 + i);
}

/* Bits, of as many bytes as are no words; buffers change as soon as they may, and a root that is late. */
static void reduce_bits(int n, int root)
{
    static const MPI_Op ops[] = {MPI_BXOR, MPI_BOR, MPI_BAND};
    unsigned char *mine = (unsigned char *)in, *all = (unsigned char *)out;
    int token = 0;

    for (int o = 0; o < 3; o++) {
        for (int i = 0; i < n; i++)
            mine[i] = (unsigned char)(R * 37 + i * 11);
        memset(all, 0x5a, (size_t)n + 1);
        if (R == root && P > 1)
            MPI_Recv(&token, 1, MPI_INT, (root + 1) % P, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (R == (root + 1) % P && P > 1)
            MPI_Send(&token, 1, MPI_INT, root, 9, MPI_COMM_WORLD);
        CHECK_OK(MPI_Reduce(mine, all, n, MPI_BYTE, ops[o], root, MPI_COMM_WORLD));
        memset(mine, 0xff, (size_t)n);
        for (int i = 0; i < n && R == root; i++) {
            unsigned char expected = o == 2 ? 0xff : 0;
            for (int r = 0; r < P; r++) {
                unsigned char value = (unsigned char)(r * 37 + i * 11);
                expected = o == 0 ? expected ^ value : o == 1 ? expected | value : expected & value;
            }
            CHECK(all[i] == expected);
        }
        CHECK(all[n] == 0x5a);
    }
}

static void allreduce_scan(int n)
{
    for (int i = 0; i < n; i++)
        in[i] = (R + 1) * (i % 7 + 1);
    CHECK_OK(MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        CHECK(out[i] == P * (P + 1) / 2 * (i % 7 + 1));
    memcpy(out, in, n * sizeof(int));
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        CHECK(out[i] == i % 7 + 1);
    CHECK_OK(MPI_Scan(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        CHECK(out[i] == (R + 1) * (R + 2) / 2 * (i % 7 + 1));
    CHECK_OK(MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; R > 0 && i < n; i++)
        CHECK(out[i] == R * (R + 1) / 2 * (i % 7 + 1));
}

static void gather_scatter(int n, int root)
{
    check_fill(in, n, R, 1);
    CHECK_OK(MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD));
    for (int r = 0; R == root && r < P; r++)
        CHECK(check_filled(out + r * n, n, r, 1));
    if (R == root) {
        memset(out, 0, sizeof(out));
        memcpy(out + R * n, in, n * sizeof(int));
        CHECK_OK(MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD));
        for (int r = 0; r < P; r++)
            CHECK(check_filled(out + r * n, n, r, 1));
    } else {
        CHECK_OK(MPI_Gather(in, n, MPI_INT, NULL, 0, MPI_INT, root, MPI_COMM_WORLD));
    }
    for (int r = 0; r < P; r++)
        check_fill(in + r * n, n, r, 2);
    CHECK_OK(MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD));
    CHECK(check_filled(out, n, R, 2));
    if (R == root)
        CHECK_OK(MPI_Scatter(in, n, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, root, MPI_COMM_WORLD));
    else
        CHECK_OK(MPI_Scatter(NULL, 0, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD));
    CHECK(check_filled(R == root ? in + R * n : out, n, R, 2));
}

static void ragged_gather_scatter(int extra, int root)
{
    int total = ragged(extra);

    check_fill(in, counts[R], R, 3);
    memset(out, 0xee, sizeof(out));
    CHECK_OK(MPI_Gatherv(in, counts[R], MPI_INT, out, counts, places, MPI_INT, root, MPI_COMM_WORLD));
    for (int r = 0; R == root && r < P; r++) {
        CHECK(check_filled(out + places[r], counts[r], r, 3));
        CHECK(out[places[r] + counts[r]] == (int)0xeeeeeeee);
    }
    CHECK_OK(MPI_Allgatherv(in, counts[R], MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < P; r++)
        CHECK(check_filled(out + places[r], counts[r], r, 3));
    memset(in, 0, total * sizeof(int));
    check_fill(in + places[R], counts[R], R, 4);
    CHECK_OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < P; r++)
        CHECK(check_filled(in + places[r], counts[r], r, 4));
    memset(out, 0xee, sizeof(out));
    CHECK_OK(MPI_Scatterv(in, counts, places, MPI_INT, out, counts[R], MPI_INT, root, MPI_COMM_WORLD));
    CHECK(check_filled(out, counts[R], R, 4));
    CHECK(out[counts[R]] == (int)0xeeeeeeee);
}

static void all_to_all(int n)
{
    static MPI_Datatype types[16];
    static int bytes[16], byte_places[16];

    check_fill(in, n, R, 5);
    CHECK_OK(MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < P; r++)
        CHECK(check_filled(out + r * n, n, r, 5));
    for (int r = 0; r < P; r++)
        check_fill(in + r * n, n, R, r);
    CHECK_OK(MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < P; r++)
        CHECK(check_filled(out + r * n, n, r, R));
    CHECK_OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD));
    CHECK(!memcmp(in, out, (size_t)P * n * sizeof(int)));

    /* Alltoallv and w: to r go min(R, r) + 1 elements, in slots of n; w counts in bytes and alternates its
     * types. */
    for (int r = 0; r < P; r++) {
        counts[r] = (r < R ? r : R) + 1;
        places[r] = r * n;
        types[r] = r % 2 ? MPI_INT : MPI_BYTE;
        bytes[r] = r % 2 ? counts[r] : counts[r] * (int)sizeof(int);
        byte_places[r] = places[r] * (int)sizeof(int);
        check_fill(in + r * n, n, R, r + 6);
    }
    memset(out, 0, sizeof(out));
    CHECK_OK(MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < P; r++)
        CHECK(check_filled(out + r * n, counts[r], r, R + 6));
    memset(out, 0, sizeof(out));
    for (int r = 0; r < P; r++) { /* both sides must agree on the type signature: bytes throughout */
        types[r] = MPI_BYTE;
        bytes[r] = counts[r] * (int)sizeof(int);
    }
    CHECK_OK(MPI_Alltoallw(in, bytes, byte_places, types, out, bytes, byte_places, types, MPI_COMM_WORLD));
    for (int r = 0; r < P; r++)
        CHECK(check_filled(out + r * n, counts[r], r, R + 6));
}

static void reduce_scatter(int n)
{
    int mine = 0;

    for (int r = 0; r < P; r++)
        counts[r] = n + r % 2;
    for (int r = 0; r < R; r++)
        mine += counts[r];
    for (int i = 0; i < P * (n + 1); i++)
        in[i] = R * 2 + i;
    CHECK_OK(MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < counts[R]; i++)
        CHECK(out[i] == P * (P - 1) + P * (mine + i));
    CHECK_OK(MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        CHECK(out[i] == P * (P - 1) + P * (R * n + i));
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 5, 300, 2500};

    check_begin(&argc, &argv);
    P = check_size;
    R = check_rank;
    for (int s = 0; s < 4; s++) {
        bcast_reduce(sizes[s], s % P);
        TIME("bcast-reduce");
        reduce_bits(4 * sizes[s] - 1, (s + 1) % P);
        TIME("reduce-bits");
        allreduce_scan(sizes[s]);
        TIME("allreduce-scan");
        gather_scatter(sizes[s], (s + 1) % P);
        TIME("gather-scatter");
        ragged_gather_scatter(sizes[s] - 1, (s + 2) % P);
        TIME("ragged");
        all_to_all(sizes[s] < 16 ? 16 : sizes[s]);
        TIME("all-to-all");
        reduce_scatter(sizes[s]);
        TIME("reduce-scatter");
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        TIME("barrier");
    }
    return check_end("coll");
}
