/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=coll np=3 stock=no */
/* e2e: switch=coll np=4 stock=no args=2000 */
/*
 * Types whose data lie outside their extent or have gaps: user operations on them, and exchanges in place,
 * also nonblocking and with messages that wait for their receivers. And the room that they need when packed.
 */
#include "check.h"

enum { MARGIN = 64 };

static struct kind {
    MPI_Datatype type;
    int parts, places[2], extent; /* bytes */
} kinds[4], *kind;
static int items = 5;

static void make(struct kind *k, int parts, int first, int second, int lower, int extent)
{
    int lengths[] = {1, 1};
    MPI_Aint places[] = {first, second};
    MPI_Datatype plain;
    *k = (struct kind){.parts = parts, .places = {first, second}, .extent = extent};
    CHECK_OK(MPI_Type_create_hindexed(parts, lengths, places, MPI_INT, &plain));
    CHECK_OK(MPI_Type_create_resized(plain, lower, extent, &k->type));
    CHECK_OK(MPI_Type_commit(&k->type));
    CHECK_OK(MPI_Type_free(&plain));
}

static int *part(char *buffer, int item, int i)
{
    return (int *)(buffer + (long)item * kind->extent + kind->places[i]);
}

static char *room(int count)
{
    char *memory = calloc(1, 2 * MARGIN + (size_t)count * (size_t)kind->extent);
    return memory + MARGIN;
}

static void drop(char *buffer)
{
    free(buffer - MARGIN);
}

static void fill(char *buffer, int first, int count, int value)
{
    for (int item = 0; item < count; item++)
        for (int i = 0; i < kind->parts; i++)
            *part(buffer, first + item, i) = value + item % 7 + 100 * i;
}

static int holds(char *buffer, int first, int count, int times, int value)
{
    for (int item = 0; item < count; item++)
        for (int i = 0; i < kind->parts; i++)
            if (*part(buffer, first + item, i) != value + times * (item % 7 + 100 * i))
                return 0;
    return 1;
}

static void sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int item = 0; item < *count; item++)
        for (int i = 0; i < kind->parts; i++)
            *part(inout, item, i) += *part(in, item, i);
}

/* The call, or the nonblocking one and a wait for it. */
#define EITHER(later, call, nonblocking)                                                                     \
    do {                                                                                                     \
        MPI_Request request = MPI_REQUEST_NULL;                                                              \
        if (later)                                                                                           \
            CHECK_OK(nonblocking);                                                                           \
        else                                                                                                 \
            CHECK_OK(call);                                                                                  \
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                     \
    } while (0)

/* The sum of what ranks 0 to `rank` have filled in, each its number and 1. */
static int sum_to(int rank)
{
    return (rank + 1) * (rank + 2) / 2;
}

static void reductions(int in_place, int later)
{
    enum { ROOT = 1 };
    int n = items, counts[16], size = check_size, me = check_rank;
    char *own = room(n * size), *result = room(n * size);
    const void *send = in_place ? MPI_IN_PLACE : own;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Datatype type = kind->type;
    MPI_Op op;
    CHECK_OK(MPI_Op_create(sum, 1, &op));
    for (int call = 0; call < 6; call++) {
        if (call == 1 && later && kind->places[0] != 0)
            continue; /* libnbc of stock Open MPI makes a wrong buffer (docs/stock.md) */
        for (int block = 0; block < size; block++) {
            counts[block] = n;
            fill(own, block * n, n, me + 1);
            fill(result, block * n, n, me + 1);
        }
        int times = size, value = sum_to(size - 1);
        switch (call) {
        case 0:
            EITHER(later, MPI_Allreduce(send, result, n, type, op, world),
                   MPI_Iallreduce(send, result, n, type, op, world, &request));
            break;
        case 1:
            send = in_place && me == ROOT ? MPI_IN_PLACE : own;
            EITHER(later, MPI_Reduce(send, result, n, type, op, ROOT, world),
                   MPI_Ireduce(send, result, n, type, op, ROOT, world, &request));
            send = in_place ? MPI_IN_PLACE : own;
            times = me == ROOT ? times : 1;
            value = me == ROOT ? value : me + 1;
            break;
        case 2:
            EITHER(later, MPI_Scan(send, result, n, type, op, world),
                   MPI_Iscan(send, result, n, type, op, world, &request));
            times = me + 1;
            value = sum_to(me);
            break;
        case 3:
            EITHER(later, MPI_Exscan(send, result, n, type, op, world),
                   MPI_Iexscan(send, result, n, type, op, world, &request));
            times = me > 0 ? me : 1;
            value = me > 0 ? sum_to(me - 1) : 1;
            break;
        case 4:
            EITHER(later, MPI_Reduce_scatter_block(send, result, n, type, op, world),
                   MPI_Ireduce_scatter_block(send, result, n, type, op, world, &request));
            break;
        default:
            EITHER(later, MPI_Reduce_scatter(send, result, counts, type, op, world),
                   MPI_Ireduce_scatter(send, result, counts, type, op, world, &request));
        }
        CHECK(holds(result, 0, n, times, value));
    }
    CHECK_OK(MPI_Op_free(&op));
    drop(own);
    drop(result);
}

/* Block i of rank r has the value 10 r + i; the blocks lie in the order of the ranks, or the other way round.
 */
static void exchanges(int later)
{
    int n = items, size = check_size, counts[16], places[16], bytes[16];
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Datatype type = kind->type, types[16];
    for (int call = 0; call < 3; call++) {
        char *buffer = room((n + 1) * size);
        for (int i = 0; i < size; i++) {
            counts[i] = n;
            places[i] = call == 0 ? i * n : (size - 1 - i) * (n + 1);
            bytes[i] = places[i] * kind->extent;
            types[i] = type;
            fill(buffer, places[i], n, 10 * check_rank + i);
        }
        if (call == 0)
            EITHER(later, MPI_Alltoall(MPI_IN_PLACE, 0, type, buffer, n, type, world),
                   MPI_Ialltoall(MPI_IN_PLACE, 0, type, buffer, n, type, world, &request));
        else if (call == 1)
            EITHER(later, MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, type, buffer, counts, places, type, world),
                   MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, type, buffer, counts, places, type, world,
                                  &request));
        else
            EITHER(later, MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, buffer, counts, bytes, types, world),
                   MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, buffer, counts, bytes, types, world,
                                  &request));
        for (int i = 0; i < size; i++)
            CHECK(holds(buffer, places[i], n, 1, 10 * i + check_rank));
        drop(buffer);
    }
}

/* A column of a matrix has few data in much memory. */
static void packed_sizes(void)
{
    MPI_Datatype column;
    int size = 0;
    CHECK_OK(MPI_Type_vector(20000, 1, 20000, MPI_DOUBLE, &column));
    CHECK_OK(MPI_Type_commit(&column));
    CHECK_OK(MPI_Pack_size(1, column, MPI_COMM_WORLD, &size));
    CHECK(size == 160000);
    CHECK_OK(MPI_Type_free(&column));
}

/* A pair has a gap between its parts or after them, which is not packed. */
static void packing_pairs(void)
{
    struct {
        short value;
        int index;
    } pair[2] = {{1, -2}, {3, -4}}, back[2] = {{0, 0}, {0, 0}};
    char area[64];
    int bytes, at = 0;
    CHECK_OK(MPI_Pack_size(2, MPI_SHORT_INT, MPI_COMM_WORLD, &bytes));
    CHECK_OK(MPI_Pack(pair, 2, MPI_SHORT_INT, area, bytes, &at, MPI_COMM_WORLD));
    CHECK(bytes == 12 && at == 12);
    at = 0;
    CHECK_OK(MPI_Unpack(area, bytes, &at, back, 2, MPI_SHORT_INT, MPI_COMM_WORLD));
    CHECK(at == 12 && back[0].value == 1 && back[0].index == -2 && back[1].value == 3 && back[1].index == -4);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    items = argc > 1 ? atoi(argv[1]) : items;
    make(&kinds[0], 1, 52, 0, 52, 4);
    make(&kinds[1], 2, 0, 8, 0, 12);
    make(&kinds[2], 1, 8, 0, 0, 12);
    make(&kinds[3], 2, -8, 4, -8, 16);
    for (kind = kinds; kind < kinds + 4; kind++) {
        for (int in_place = 0; in_place < 2; in_place++)
            for (int later = 0; later < 2; later++)
                reductions(in_place, later);
        exchanges(0);
        exchanges(1);
        CHECK_OK(MPI_Type_free(&kind->type));
    }
    packed_sizes();
    packing_pairs();
    return check_end("displaced");
}
