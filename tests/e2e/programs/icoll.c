/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no */
/* e2e: switch=none args=plain */
/* Every nonblocking collective; all are pending at once and complete in another order than they started.
 * `plain`: without MPI_Ibarrier, which is none in stock SMPI, whose simulated times are to be the same. */
#include <unistd.h>

#include "check.h"

enum { N = 700, SLOTS = 17, AREA = 8 * N };

static int P, R, plain;
static int in[SLOTS][AREA], out[SLOTS][AREA];
static int counts[8], places[8], bytes[8], byte_places[8];
static MPI_Datatype types[8];

static void prepare(int n)
{
    for (int r = 0; r < P; r++) {
        counts[r] = n;
        places[r] = r * n;
        bytes[r] = n * (int)sizeof(int);
        byte_places[r] = r * bytes[r];
        types[r] = MPI_BYTE;
    }
    memset(out, 0, sizeof(out));
    for (int s = 0; s < SLOTS; s++)
        for (int r = 0; r < P; r++)
            check_fill(in[s] + r * n, n, R, s * 10 + r);
    check_fill(out[1], n, R == 1 % P ? 1 % P : 50, 77); /* the broadcast works in place */
}

static void start(int n, MPI_Request *q)
{
    MPI_Comm w = MPI_COMM_WORLD;
    int root = 1 % P;

    if (plain)
        CHECK_OK(MPI_Ibcast(out[0], 1, MPI_INT, root, w, &q[0]));
    else
        CHECK_OK(MPI_Ibarrier(w, &q[0]));
    CHECK_OK(MPI_Ibcast(out[1], n, MPI_INT, root, w, &q[1]));
    CHECK_OK(MPI_Igather(in[2], n, MPI_INT, out[2], n, MPI_INT, root, w, &q[2]));
    CHECK_OK(MPI_Igatherv(in[3], n, MPI_INT, out[3], counts, places, MPI_INT, root, w, &q[3]));
    CHECK_OK(MPI_Iscatter(in[4], n, MPI_INT, out[4], n, MPI_INT, root, w, &q[4]));
    CHECK_OK(MPI_Iscatterv(in[5], counts, places, MPI_INT, out[5], n, MPI_INT, root, w, &q[5]));
    CHECK_OK(MPI_Iallgather(in[6], n, MPI_INT, out[6], n, MPI_INT, w, &q[6]));
    CHECK_OK(MPI_Iallgatherv(in[7], n, MPI_INT, out[7], counts, places, MPI_INT, w, &q[7]));
    CHECK_OK(MPI_Ialltoall(in[8], n, MPI_INT, out[8], n, MPI_INT, w, &q[8]));
    CHECK_OK(MPI_Ialltoallv(in[9], counts, places, MPI_INT, out[9], counts, places, MPI_INT, w, &q[9]));
    CHECK_OK(
        MPI_Ialltoallw(in[10], bytes, byte_places, types, out[10], bytes, byte_places, types, w, &q[10]));
    CHECK_OK(MPI_Ireduce(in[11], out[11], n, MPI_INT, MPI_MAX, root, w, &q[11]));
    CHECK_OK(MPI_Iallreduce(in[12], out[12], n, MPI_INT, MPI_MAX, w, &q[12]));
    CHECK_OK(MPI_Ireduce_scatter(in[13], out[13], counts, MPI_INT, MPI_MAX, w, &q[13]));
    CHECK_OK(MPI_Ireduce_scatter_block(in[14], out[14], n, MPI_INT, MPI_MAX, w, &q[14]));
    CHECK_OK(MPI_Iscan(in[15], out[15], n, MPI_INT, MPI_MAX, w, &q[15]));
    CHECK_OK(MPI_Iexscan(in[16], out[16], n, MPI_INT, MPI_MAX, w, &q[16]));
}

/* check_value grows with the rank, so the maximum over ranks 0..last is the value of `last`. */
static void verify(int n)
{
    int root = 1 % P;

    CHECK(check_filled(out[1], n, root, 77));
    CHECK(check_filled(out[4], n, root, 40 + R));
    CHECK(check_filled(out[5], n, root, 50 + R));
    for (int r = 0; r < P; r++) {
        CHECK(R != root || check_filled(out[2] + r * n, n, r, 20));
        CHECK(R != root || check_filled(out[3] + r * n, n, r, 30));
        CHECK(check_filled(out[6] + r * n, n, r, 60));
        CHECK(check_filled(out[7] + r * n, n, r, 70));
        CHECK(check_filled(out[8] + r * n, n, r, 80 + R));
        CHECK(check_filled(out[9] + r * n, n, r, 90 + R));
        CHECK(check_filled(out[10] + r * n, n, r, 100 + R));
    }
    CHECK(R != root || check_filled(out[11], n, P - 1, 110));
    CHECK(check_filled(out[12], n, P - 1, 120));
    CHECK(check_filled(out[13], n, P - 1, 130 + R));
    CHECK(check_filled(out[14], n, P - 1, 140 + R));
    CHECK(check_filled(out[15], n, R, 150));
    CHECK(R == 0 || check_filled(out[16], n, R - 1, 160));
}

/* Some callers release these arrays while the calls are pending; Open MPI has read them by then. */
static void spoil_arrays(void)
{
    for (int r = 0; r < P; r++) {
        counts[r] = bytes[r] = places[r] = byte_places[r] = -1;
        types[r] = MPI_DATATYPE_NULL;
    }
}

static void complete(MPI_Request *q, int round)
{
    int done = 0, index, flag;

    switch (round % 4) {
    case 0:
        CHECK_OK(MPI_Waitall(SLOTS, q, MPI_STATUSES_IGNORE));
        break;
    case 1:
        for (int i = SLOTS - 1; i >= 0; i--)
            CHECK_OK(MPI_Wait(&q[i], MPI_STATUS_IGNORE));
        break;
    case 2:
        for (; done < SLOTS; done++) {
            CHECK_OK(MPI_Waitany(SLOTS, q, &index, MPI_STATUS_IGNORE));
            CHECK(index >= 0 && index < SLOTS && q[index] == MPI_REQUEST_NULL);
        }
        break;
    default:
        do
            CHECK_OK(MPI_Testall(SLOTS, q, &flag, MPI_STATUSES_IGNORE));
        while (!flag);
    }
    for (int i = 0; i < SLOTS; i++)
        CHECK(q[i] == MPI_REQUEST_NULL);
}

/* No rank is through before the last rank has begun, though others are through the next barrier meanwhile. */
static void wait_for_each(void)
{
    MPI_Request pending[2];
    double begun, over[2];
    int *global, found;

    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &found));
    for (int late = 0; late < P; late++) {
        if (R == late)
            usleep(1000);
        begun = MPI_Wtime();
        for (int i = 0; i < 2; i++)
            CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &pending[i]));
        for (int i = 1; i >= 0; i--) {
            CHECK_OK(MPI_Wait(&pending[i], MPI_STATUS_IGNORE));
            over[i] = MPI_Wtime();
        }
        CHECK_OK(MPI_Bcast(&begun, 1, MPI_DOUBLE, late, MPI_COMM_WORLD));
        CHECK(!*global || (over[0] >= begun && over[1] >= begun));
    }
}

int main(int argc, char **argv)
{
    static MPI_Request q[SLOTS];
    static const int sizes[] = {1, 20, N, 64};

    check_begin(&argc, &argv);
    plain = argc > 1;
    P = check_size;
    R = check_rank;
    if (P > 8)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int round = 0; round < 4; round++) {
        prepare(sizes[round]);
        start(sizes[round], q);
        spoil_arrays();
        TIME("started");
        complete(q, round);
        TIME("completed");
        verify(sizes[round]);
    }
    if (!plain)
        wait_for_each();
    return check_end("icoll");
}
