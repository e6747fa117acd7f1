/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no without=mpich */
/* e2e: switch=any stock=no np=5 args=large without=mpich */
/* e2e: switch=any args=times without=mpich */
/* e2e: switch=any np=5 args=times,large without=mpich */
/* Stock MPICH 4.0.2 ends this program by a segmentation fault: not in model mpich. */
/* Nonblocking reductions of derived datatypes with gaps, by operations that do not commute: results follow
 * the order of the ranks, gaps stay as they are. Stock SMPI gets all of that wrong, but not the simulated
 * times: with the argument "times" the operations do nothing and no result is looked at, so that those can be
 * compared. */
#include "check.h"

enum { KINDS = 6, ROOM = 180000, FAR = 700, SHARE = 1 << 20, PRIME = 10007, GAP = 0x5a5a5a5a };

typedef struct {
    long a, b;
} pair_t;

/* Where the two numbers of an item are, counted in longs; in the same place when they share a long. */
typedef struct {
    const char *name;
    int a, b, extent, origin;
} layout_t;

static const layout_t layouts[] = {
    {"structure", 0, 2, 4, 0}, {"columns", 0, FAR, 1, 0}, {"below", -1, 1, 4, 1},
    {"later", 2, 3, 6, 0},     {"backwards", 1, 0, 2, 0}, {"plain", 0, 0, 1, 0},
};
enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

static const layout_t *layout;
static MPI_Datatype type;
static int idle; /* the operations do nothing */
static int room; /* longs of each buffer that are in use */
static long calls, wrong_types;
static long in[KINDS][ROOM], out[KINDS][ROOM], expected[ROOM];

static MPI_Datatype make_type(const layout_t *l)
{
    MPI_Datatype pair, resized;

    if (l->a == l->b)
        return MPI_LONG;
    MPI_Type_create_hindexed(2, (const int[]){1, 1},
                             (const MPI_Aint[]){l->a * (MPI_Aint)sizeof(long), l->b * (MPI_Aint)sizeof(long)},
                             MPI_LONG, &pair);
    MPI_Type_create_resized(pair, 0, l->extent * (MPI_Aint)sizeof(long), &resized);
    MPI_Type_commit(&resized);
    MPI_Type_free(&pair);
    return resized;
}

static pair_t get(const long *base, int i)
{
    const long *item = base + layout->origin + (long)i * layout->extent;

    if (layout->a == layout->b)
        return (pair_t){*item / SHARE, *item % SHARE};
    return (pair_t){item[layout->a], item[layout->b]};
}

static void put(long *base, int i, pair_t value)
{
    long *item = base + layout->origin + (long)i * layout->extent;

    item[layout->a] = value.a;
    item[layout->b] = value.b;
    if (layout->a == layout->b)
        *item = value.a * SHARE + value.b;
}

/* x -> a x + b after each other: does not commute. */
static pair_t chain(pair_t x, pair_t y)
{
    return (pair_t){x.a * y.a % PRIME, (x.a * y.b + x.b) % PRIME};
}

static pair_t larger_and_sum(pair_t x, pair_t y)
{
    return (pair_t){x.a > y.a ? x.a : y.a, x.b + y.b};
}

static void apply(const long *x, long *y, int n, MPI_Datatype given, pair_t combine(pair_t, pair_t))
{
    calls++;
    wrong_types += given != type;
    if (idle)
        return;
    x -= layout->origin;
    y -= layout->origin;
    for (int i = 0; i < n; i++)
        put(y, i, combine(get(x, i), get(y, i)));
}

static void op_chain(void *x, void *y, int *n, MPI_Datatype *t)
{
    apply(x, y, *n, *t, chain);
}

static void op_larger_and_sum(void *x, void *y, int *n, MPI_Datatype *t)
{
    apply(x, y, *n, *t, larger_and_sum);
}

/* What `rank` contributes. */
static pair_t value(int rank, int i, int kind)
{
    return (pair_t){2 + (rank * 7 + i * 3L + kind) % 11, (rank * 13 + i + 5L * kind) % 17};
}

static pair_t value_over(int ranks, int i, int kind, pair_t combine(pair_t, pair_t))
{
    pair_t all = value(0, i, kind);

    for (int r = 1; r < ranks; r++)
        all = combine(all, value(r, i, kind));
    return all;
}

static void blank(long *area)
{
    for (int i = 0; i < room; i++)
        area[i] = GAP;
}

/* `area` is blank but for these n results, and for what an operation in place has left behind them. */
static void verify(long *area, int first, int n, int ranks, int kind, pair_t combine(pair_t, pair_t),
                   int left)
{
    if (idle)
        return;
    blank(expected);
    for (int i = n; i < left; i++)
        put(expected, i, get(area, i));
    for (int i = 0; i < n; i++)
        put(expected, i, value_over(ranks, first + i, kind, combine));
    CHECK(!memcmp(area, expected, (size_t)room * sizeof(long)));
}

static void complete(MPI_Request *q, int way)
{
    int index, flag;

    switch (way % 3) {
    case 0:
        CHECK_OK(MPI_Waitall(KINDS, q, MPI_STATUSES_IGNORE));
        break;
    case 1:
        for (int i = KINDS - 1; i >= 0; i--)
            CHECK_OK(MPI_Waitany(KINDS, q, &index, MPI_STATUS_IGNORE));
        break;
    default:
        do
            CHECK_OK(MPI_Testall(KINDS, q, &flag, MPI_STATUSES_IGNORE));
        while (!flag);
    }
}

/* All six at once; type and operation are freed while they are pending. n is per block of the scattering
 * ones. */
static void round_of(MPI_Comm comm, int n, MPI_User_function *function, pair_t combine(pair_t, pair_t),
                     int commute, int in_place, int way)
{
    int size, rank, root, counts[8], first = 0, total = 0, all, base = layout->origin;
    const void *send[KINDS];
    MPI_Request q[KINDS];
    MPI_Op op;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    root = size / 2;
    for (int r = 0; r < size; r++) {
        /* Stock SMPI hangs when it puts short messages aside and some of these are long. */
        counts[r] = r % 3 == 1 && room < ROOM ? 0 : n + r;
        first += r < rank ? counts[r] : 0;
        total += counts[r];
    }
    all = size * n;
    for (int k = 0; k < KINDS; k++) {
        long *from = in_place && (k != 0 || rank == root) ? out[k] : in[k];

        blank(in[k]);
        blank(out[k]);
        for (int i = 0; i < (k == 4 ? total : k == 5 ? all : n); i++)
            put(from, i, value(rank, i, k));
        send[k] = from == out[k] ? MPI_IN_PLACE : in[k] + base;
    }
    type = make_type(layout);
    CHECK_OK(MPI_Op_create(function, commute, &op));
    CHECK_OK(MPI_Ireduce(send[0], out[0] + base, n, type, op, root, comm, &q[0]));
    CHECK_OK(MPI_Iallreduce(send[1], out[1] + base, n, type, op, comm, &q[1]));
    CHECK_OK(MPI_Iscan(send[2], out[2] + base, n, type, op, comm, &q[2]));
    CHECK_OK(MPI_Iexscan(send[3], out[3] + base, n, type, op, comm, &q[3]));
    CHECK_OK(MPI_Ireduce_scatter(send[4], out[4] + base, counts, type, op, comm, &q[4]));
    CHECK_OK(MPI_Ireduce_scatter_block(send[5], out[5] + base, n, type, op, comm, &q[5]));
    CHECK_OK(MPI_Op_free(&op));
    if (type != MPI_LONG) {
        MPI_Datatype kept = type;

        CHECK_OK(MPI_Type_free(&kept));
    }
    TIME(layout->name);
    complete(q, way);
    TIME("completed");
    verify(out[0], 0, rank == root ? n : 0, size, 0, combine, 0);
    verify(out[1], 0, n, size, 1, combine, 0);
    verify(out[2], 0, n, rank + 1, 2, combine, 0);
    verify(out[3], 0, rank ? n : 0, rank, 3, combine, rank ? 0 : n);
    verify(out[4], first, counts[rank], size, 4, combine, in_place ? total : 0);
    verify(out[5], rank * n, n, size, 5, combine, in_place ? all : 0);
}

static int only_smpi(void)
{
    return !strcmp(check_model("E2E_A", "none"), "smpi") && !strcmp(check_model("E2E_B", "none"), "smpi");
}

static void rounds(MPI_Comm comm, const int *sizes, int count)
{
    for (int l = 0; l < LAYOUTS; l++) {
        layout = &layouts[l];
        if (idle && layout->b > layout->extent) /* stock SMPI would write behind its buffers */
            continue;
        if (idle || !only_smpi()) /* stock Open MPI 4.1.4 does, when the data begin elsewhere than at 0 */
            if (layout->a != 0 && layout->b != 0)
                continue;
        if (layout->b == FAR && sizes[0] > FAR / 8)
            continue;
        for (int i = 0; i < count; i++) {
            round_of(comm, sizes[i], op_chain, chain, 0, 0, l + i);
            round_of(comm, sizes[i], op_larger_and_sum, larger_and_sum, 1, 0, l + i + 1);
            round_of(comm, sizes[i], op_chain, chain, 0, 1, l + i + 2);
        }
    }
}

/* Zero is not the neutral element of these. */
static void exclusive_scans(void)
{
    long mine[2] = {check_rank + 2, -check_rank - 5}, got[2] = {0, 0}, product = 1;
    MPI_Request q[2];

    for (int r = 0; r < check_rank; r++)
        product *= r + 2;
    CHECK_OK(MPI_Iexscan(&mine[0], &got[0], 1, MPI_LONG, MPI_PROD, MPI_COMM_WORLD, &q[0]));
    CHECK_OK(MPI_Iexscan(&mine[1], &got[1], 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD, &q[1]));
    CHECK_OK(MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
    TIME("exclusive scans");
    CHECK(idle || check_rank == 0 || (got[0] == product && got[1] == -5));
}

int main(int argc, char **argv)
{
    int large = argc > 1 && strcmp(argv[argc - 1], "large") == 0, n = large ? 5000 : 30;
    MPI_Comm reversed;

    check_begin(&argc, &argv);
    idle = argc > 1 && strcmp(argv[1], "times") == 0;
    room = large ? ROOM : 1600;
    if (check_size > 5)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed);
    rounds(MPI_COMM_WORLD, (const int[]){n, 1, 0}, large ? 1 : 3);
    rounds(reversed, (const int[]){7}, 1);
    rounds(MPI_COMM_SELF, (const int[]){5}, 1);
    exclusive_scans();
    MPI_Comm_free(&reversed);
    MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(calls > 0 || check_size == 1);
    CHECK(wrong_types == 0);
    return check_end("reduce_types");
}
