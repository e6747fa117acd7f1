/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What Open MPI's offloading components must get right beyond the programs of tests/e2e/programs: types with
 * gaps, progress of messages while a collective waits, integers of Fortran, one-sided epochs with several
 * origins.
 */
#include "../programs/check.h"

enum { N = 50, LONG = 1 << 17 };

static int P, R;

/* Every other integer. */
static MPI_Datatype gaps(int n)
{
    MPI_Datatype vector, result;
    CHECK_OK(MPI_Type_vector(n, 1, 2, MPI_INT, &vector));
    CHECK_OK(MPI_Type_create_resized(vector, 0, (MPI_Aint)(2 * n * sizeof(int)), &result));
    CHECK_OK(MPI_Type_commit(&result));
    MPI_Type_free(&vector);
    return result;
}

static void with_gaps(int root, int n)
{
    static int in[16 * 2 * N], out[16 * 2 * N];
    MPI_Datatype type = gaps(n);
    for (int i = 0; i < 2 * n; i++)
        in[i] = R == root ? 7 * i + root : -1;
    CHECK_OK(MPI_Bcast(in, 1, type, root, MPI_COMM_WORLD));
    for (int i = 0; i < 2 * n; i++)
        CHECK(in[i] == (R == root || i % 2 == 0 ? 7 * i + root : -1));
    /* Of gaps to one, contiguous to the others. */
    for (int i = 0; i < 2 * n; i++)
        in[i] = R == root ? i : -1;
    CHECK_OK(MPI_Bcast(in, R == root ? 1 : n, R == root ? type : MPI_INT, root, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        CHECK(in[i] == (R == root ? i : 2 * i));
    for (int i = 0; i < 2 * n; i++)
        in[i] = 1000 * R + i;
    for (int i = 0; i < P * 2 * n; i++)
        out[i] = -1;
    CHECK_OK(MPI_Gather(in, 1, type, out, 1, type, root, MPI_COMM_WORLD));
    for (int r = 0; R == root && r < P; r++)
        for (int i = 0; i < 2 * n; i++)
            CHECK(out[r * 2 * n + i] == (i % 2 ? -1 : 1000 * r + i));
    for (int i = 0; i < P * 2 * n; i++)
        out[i] = -1;
    MPI_Request request;
    CHECK_OK(MPI_Igather(in, 1, type, out, 1, type, root, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int r = 0; R == root && r < P; r++)
        for (int i = 0; i < 2 * n; i++)
            CHECK(out[r * 2 * n + i] == (i % 2 ? -1 : 1000 * r + i));
    for (int r = 0; r < P; r++)
        for (int i = 0; i < 2 * n; i++)
            in[r * 2 * n + i] = 500 * r + i;
    memset(out, 0, sizeof out);
    CHECK_OK(MPI_Scatter(in, 1, type, out, n, MPI_INT, root, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        CHECK(out[i] == 500 * R + 2 * i);
    MPI_Type_free(&type);
}

/* A receive that is posted before a collective is served during it: its sender comes to the collective only
 * then. */
static void progress_in_collectives(void)
{
    static char in[LONG], out[LONG];
    for (int round = 0; round < 3; round++) {
        MPI_Request request = MPI_REQUEST_NULL;
        int partner = R ^ 1, sum = 0, one = 1;
        memset(out, R + round, LONG);
        if (partner < P && R % 2 == 0)
            CHECK_OK(MPI_Irecv(in, LONG, MPI_CHAR, partner, round, MPI_COMM_WORLD, &request));
        if (partner < P && R % 2)
            CHECK_OK(MPI_Ssend(out, LONG, MPI_CHAR, partner, round, MPI_COMM_WORLD));
        if (round == 0)
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        else if (round == 1)
            CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        else
            CHECK_OK(MPI_Bcast(&one, 1, MPI_INT, P - 1, MPI_COMM_WORLD));
        CHECK(round != 1 || sum == P);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (partner < P && R % 2 == 0)
            CHECK(in[0] == partner + round && in[LONG - 1] == partner + round);
    }
}

/* Negative sums carry from one 32-bit integer into the next if they are taken for longer ones. */
static void integers(void)
{
    int in[4] = {-R - 1, R, -1, 1 << 20}, out[4];
    CHECK_OK(MPI_Allreduce(in, out, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD));
    CHECK(out[0] == -P * (P + 1) / 2 && out[1] == P * (P - 1) / 2 && out[2] == -P && out[3] == P << 20);
    CHECK_OK(MPI_Reduce(in, out, 3, MPI_INTEGER, MPI_MIN, P - 1, MPI_COMM_WORLD));
    CHECK(R != P - 1 || (out[0] == -P && out[1] == 0 && out[2] == -1));
}

/* All the others put into one rank's window, which waits for all of them. */
static void many_origins(MPI_Win win, int *memory)
{
    MPI_Group all, target, origins;
    int zero = 0, value = 100 + R;
    CHECK_OK(MPI_Win_get_group(win, &all));
    CHECK_OK(MPI_Group_incl(all, 1, &zero, &target));
    CHECK_OK(MPI_Group_excl(all, 1, &zero, &origins));
    if (R == 0) {
        memset(memory, 0, N * sizeof *memory);
        CHECK_OK(MPI_Win_post(origins, 0, win));
        CHECK_OK(MPI_Win_wait(win));
        for (int r = 1; r < P; r++)
            CHECK(memory[r] == 100 + r);
    } else {
        CHECK_OK(MPI_Win_start(target, 0, win));
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, 0, R, 1, MPI_INT, win));
        CHECK_OK(MPI_Win_complete(win));
    }
    MPI_Group_free(&all);
    MPI_Group_free(&target);
    MPI_Group_free(&origins);
}

static void passive(MPI_Win win, int *memory)
{
    int right = (R + 1) % P, old = -5, got, other = R + 7, compare = 3;
    memset(memory, 0, N * sizeof *memory);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(0, win));
    const double half = 0.5;
    for (int r = 0; r < P; r++)
        CHECK_OK(MPI_Accumulate(&half, 1, MPI_DOUBLE, r, 2, 1, MPI_DOUBLE, MPI_SUM, win));
    CHECK_OK(MPI_Win_flush_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    double sum;
    memcpy(&sum, memory + 2, sizeof sum);
    CHECK(sum == 0.5 * P);
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    memory[0] = 3;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    CHECK_OK(MPI_Compare_and_swap(&other, &compare, &old, MPI_INT, right, 0, win));
    CHECK_OK(MPI_Win_flush(right, win));
    CHECK(old == 3);
    CHECK_OK(MPI_Get(&got, 1, MPI_INT, right, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_unlock(right, win));
    CHECK(got == R + 7);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* More requests than the component makes room for at first. */
static void many_requests(MPI_Win win, int *memory)
{
    enum { MANY = 20 };
    int right = (R + 1) % P, in[MANY];
    MPI_Request requests[MANY];
    for (int i = 0; i < MANY; i++) {
        memory[i] = check_value(R, i, 5);
        in[i] = -1;
    }
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < MANY; i++)
        CHECK_OK(MPI_Rget(&in[i], 1, MPI_INT, right, i, 1, MPI_INT, win, &requests[i]));
    CHECK_OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK(check_filled(in, MANY, right, 5));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int *memory;
    check_begin(&argc, &argv);
    P = check_size;
    R = check_rank;
    for (int root = 0; root < P; root++) {
        with_gaps(root, 3);
        with_gaps(root, N);
    }
    TIME("gaps");
    progress_in_collectives();
    integers();
    TIME("progress");
    CHECK_OK(
        MPI_Win_allocate(N * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    many_origins(win, memory);
    many_origins(win, memory);
    passive(win, memory);
    many_requests(win, memory);
    CHECK_OK(MPI_Win_free(&win));
    TIME("windows");
    return check_end("offload");
}
