/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any */
/* Every datatype constructor: what a message of that type delivers. Queries are in typequery.c. */
#include "exchange.h"

static void strided(void)
{
    MPI_Datatype t, nested;

    MPI_Type_contiguous(3, MPI_INT, &t);
    MPI_Type_commit(&t);
    exchange(t, 2, (const int[]){0, 1, 2, 3, 4, 5}, 6);
    MPI_Type_free(&t);
    CHECK(t == MPI_DATATYPE_NULL);

    MPI_Type_vector(3, 2, 5, MPI_INT, &t);
    MPI_Type_commit(&t);
    exchange(t, 2, (const int[]){0, 1, 5, 6, 10, 11, 12, 13, 17, 18, 22, 23}, 12);
    MPI_Type_create_hvector(2, 1, 400, t, &nested);
    MPI_Type_commit(&nested);
    MPI_Type_free(&t); /* the nested type keeps what it needs */
    exchange(nested, 1, (const int[]){0, 1, 5, 6, 10, 11, 100, 101, 105, 106, 110, 111}, 12);
    MPI_Type_free(&nested);
}

/* One type after the other, most of them at the address of the one before. */
static void again(void)
{
    for (int stride = 2; stride < 40; stride++) {
        MPI_Datatype t;
        MPI_Type_vector(3, 1, stride, MPI_INT, &t);
        MPI_Type_commit(&t);
        exchange(t, 1, (const int[]){0, stride, 2 * stride}, 3);
        MPI_Type_free(&t);
    }
}

static void indexed(void)
{
    MPI_Datatype t;

    MPI_Type_indexed(3, (const int[]){2, 0, 1}, (const int[]){1, 9, 6}, MPI_INT, &t);
    MPI_Type_commit(&t);
    exchange(t, 1, (const int[]){1, 2, 6}, 3);
    MPI_Type_free(&t);
    MPI_Type_create_indexed_block(3, 2, (const int[]){8, 0, 4}, MPI_INT, &t);
    MPI_Type_commit(&t);
    exchange(t, 1, (const int[]){8, 9, 0, 1, 4, 5}, 6);
    MPI_Type_free(&t);
    MPI_Type_create_hindexed(2, (const int[]){1, 2}, (const MPI_Aint[]){40, 80}, MPI_INT, &t);
    MPI_Type_commit(&t);
    exchange(t, 1, (const int[]){10, 20, 21}, 3);
    MPI_Type_free(&t);
    MPI_Type_create_hindexed_block(2, 2, (const MPI_Aint[]){0, 400}, MPI_INT, &t);
    MPI_Type_commit(&t);
    exchange(t, 1, (const int[]){0, 1, 100, 101}, 4);
    MPI_Type_free(&t);
}

static void shaped(void)
{
    MPI_Datatype t, wide;

    MPI_Type_create_subarray(2, (const int[]){4, 5}, (const int[]){2, 3}, (const int[]){1, 1}, MPI_ORDER_C,
                             MPI_INT, &t);
    MPI_Type_commit(&t);
    exchange(t, 1, (const int[]){6, 7, 8, 11, 12, 13},
             6); /* typequery.c sends two: stock SMPI has the wrong extent */
    MPI_Type_free(&t);
    MPI_Type_create_subarray(2, (const int[]){4, 5}, (const int[]){2, 3}, (const int[]){1, 1},
                             MPI_ORDER_FORTRAN, MPI_INT, &t);
    MPI_Type_commit(&t);
    exchange(t, 1, (const int[]){5, 6, 9, 10, 13, 14}, 6);
    MPI_Type_free(&t);
    MPI_Type_vector(2, 1, 3, MPI_INT, &t);
    MPI_Type_create_resized(t, 0, 4, &wide);
    MPI_Type_commit(&wide);
    MPI_Type_free(&t);
    exchange(wide, 3, (const int[]){0, 3, 1, 4, 2, 5}, 6);
    MPI_Type_dup(wide, &t);
    MPI_Type_free(&wide);
    exchange(t, 2, (const int[]){0, 3, 1, 4}, 4);
    MPI_Type_free(&t);
}

/* A struct with padding, in an array, and one of absolute addresses with MPI_BOTTOM. */
static void structured(void)
{
    MPI_Datatype t, element, absolute;
    record_t mine[3], theirs[3];
    MPI_Aint where[2];
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size, size, a, b;

    memset(mine, 0, sizeof(mine));
    memset(theirs, 0, sizeof(theirs));
    for (int i = 0; i < 3; i++)
        mine[i] = (record_t){(char)('a' + i + check_rank), 0.5 * i + check_rank, {i, check_rank}};
    MPI_Type_create_struct(
        3, (const int[]){1, 1, 2},
        (const MPI_Aint[]){offsetof(record_t, letter), offsetof(record_t, number), offsetof(record_t, pair)},
        (const MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_INT}, &t);
    MPI_Type_create_resized(t, 0, sizeof(record_t), &element);
    MPI_Type_commit(&element);
    MPI_Type_size(element, &size);
    CHECK(size == 17);
    CHECK_OK(MPI_Sendrecv(mine, 3, element, right, 1, theirs, 3, element, left, 1, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; i++)
        CHECK(theirs[i].letter == 'a' + i + left && theirs[i].number == 0.5 * i + left &&
              theirs[i].pair[0] == i && theirs[i].pair[1] == left);
    MPI_Type_free(&t);
    MPI_Type_free(&element);

    a = b = -1;
    MPI_Get_address(&a, &where[0]);
    MPI_Get_address(&b, &where[1]);
    MPI_Type_create_hindexed(2, (const int[]){1, 1}, where, MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    CHECK_OK(MPI_Sendrecv((const int[]){left, 42}, 2, MPI_INT, left, 3, MPI_BOTTOM, 1, absolute, right, 3,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(a == check_rank && b == 42);
    MPI_Type_free(&absolute);
}

static void packing(void)
{
    MPI_Datatype t;
    int bytes, at = 0, number = 17, back[2] = {0, 0}, size;
    double real = 2.5, real_back = 0;
    char area[256];

    MPI_Type_vector(2, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    check_fill(out, 4, check_rank, 9);
    CHECK_OK(MPI_Pack_size(1, t, MPI_COMM_WORLD, &bytes));
    CHECK(bytes >= 8);
    CHECK_OK(MPI_Pack(&number, 1, MPI_INT, area, 256, &at, MPI_COMM_WORLD));
    CHECK_OK(MPI_Pack(out, 1, t, area, 256, &at, MPI_COMM_WORLD));
    CHECK_OK(MPI_Pack(&real, 1, MPI_DOUBLE, area, 256, &at, MPI_COMM_WORLD));
    size = at;
    CHECK_OK(MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Bcast(area, size, MPI_PACKED, 0, MPI_COMM_WORLD));
    at = 0;
    number = 0;
    CHECK_OK(MPI_Unpack(area, size, &at, &number, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK_OK(MPI_Unpack(area, size, &at, back, 2, MPI_INT, MPI_COMM_WORLD));
    CHECK_OK(MPI_Unpack(area, size, &at, &real_back, 1, MPI_DOUBLE, MPI_COMM_WORLD));
    CHECK(number == 17 && back[0] == check_value(0, 0, 9) && back[1] == check_value(0, 2, 9) &&
          real_back == 2.5);
    MPI_Type_free(&t);
}

int main(int argc, char **argv)
{
    int size;
    MPI_Aint lb, extent;

    check_begin(&argc, &argv);
    CHECK_OK(MPI_Type_size(MPI_DOUBLE, &size));
    CHECK(size == 8);
    CHECK_OK(MPI_Type_get_extent(MPI_LONG_LONG, &lb, &extent));
    CHECK(lb == 0 && extent == 8);
    MPI_Barrier(MPI_COMM_WORLD);
    strided();
    TIME("strided");
    MPI_Barrier(MPI_COMM_WORLD);
    again();
    TIME("again");
    MPI_Barrier(MPI_COMM_WORLD);
    indexed();
    TIME("indexed");
    MPI_Barrier(MPI_COMM_WORLD);
    shaped();
    TIME("shaped");
    MPI_Barrier(MPI_COMM_WORLD);
    structured();
    TIME("structured");
    MPI_Barrier(MPI_COMM_WORLD);
    packing();
    TIME("packing");
    return check_end("datatypes");
}
