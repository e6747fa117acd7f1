/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no */
/* e2e: switch=any stock=no np=5 */
/* e2e: switch=any np=5 args=times */
/* Blocking reductions by an operation that does not commute, also in place and of a derived datatype. Stock
 * SMPI combines nothing in such scans, in the same simulated time: with the argument "times" no result is
 * looked at. */
#include "check.h"

enum { MOST = 5000, PRIME = 10007 };

typedef struct {
    int factor, summand; /* the map x -> factor * x + summand modulo a prime */
} map_t;

static int P, R, look = 1;
static map_t in[MOST], out[MOST];

static map_t after(map_t first, map_t then)
{
    map_t both = {first.factor * then.factor % PRIME, (then.factor * first.summand + then.summand) % PRIME};
    return both;
}

static void compose(void *a, void *b, int *count, MPI_Datatype *type)
{
    const map_t *first = a;
    map_t *then = b;
    (void)type;
    for (int i = 0; i < *count; i++)
        then[i] = after(first[i], then[i]);
}

static map_t of_rank(int rank, int i)
{
    map_t map = {2 + rank * 7 + i % 3, 5 + rank * rank + i % 11};
    return map;
}

static map_t of_ranks(int last, int i)
{
    map_t all = of_rank(0, i);
    for (int rank = 1; rank <= last; rank++)
        all = after(all, of_rank(rank, i));
    return all;
}

static void fill(int n)
{
    for (int i = 0; i < n; i++) {
        in[i] = of_rank(R, i);
        out[i] = (map_t){-1, -1};
    }
}

static void expect(int n, int last)
{
    for (int i = 0; i < n && look; i++) {
        map_t right = of_ranks(last, i);
        CHECK(out[i].factor == right.factor && out[i].summand == right.summand);
    }
}

static void scans(int n, MPI_Datatype type, MPI_Op op)
{
    fill(n);
    CHECK_OK(MPI_Scan(in, out, n, type, op, MPI_COMM_WORLD));
    expect(n, R);
    TIME("scan");
    fill(n);
    memcpy(out, in, sizeof *in * (size_t)n);
    CHECK_OK(MPI_Scan(MPI_IN_PLACE, out, n, type, op, MPI_COMM_WORLD));
    expect(n, R);
    TIME("scan in place");
    fill(n);
    CHECK_OK(MPI_Exscan(in, out, n, type, op, MPI_COMM_WORLD));
    if (R > 0)
        expect(n, R - 1);
    TIME("exscan");
    fill(n);
    memcpy(out, in, sizeof *in * (size_t)n);
    CHECK_OK(MPI_Exscan(MPI_IN_PLACE, out, n, type, op, MPI_COMM_WORLD));
    if (R > 0)
        expect(n, R - 1);
    TIME("exscan in place");
}

static void reductions(int n, MPI_Datatype type, MPI_Op op)
{
    fill(n);
    CHECK_OK(MPI_Allreduce(in, out, n, type, op, MPI_COMM_WORLD));
    expect(n, P - 1);
    TIME("allreduce");
    for (int root = 0; root < P; root++) {
        fill(n);
        CHECK_OK(MPI_Reduce(in, out, n, type, op, root, MPI_COMM_WORLD));
        if (R == root)
            expect(n, P - 1);
        TIME("reduce");
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 3, 900, MOST};
    MPI_Datatype pair;
    MPI_Op op;

    check_begin(&argc, &argv);
    look = argc < 2;
    P = check_size;
    R = check_rank;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    for (int s = 0; s < 4; s++) {
        scans(sizes[s], pair, op);
        reductions(sizes[s], pair, op);
        scans(sizes[s], MPI_2INT, op);
        reductions(sizes[s], MPI_2INT, op);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    return check_end("inorder");
}
