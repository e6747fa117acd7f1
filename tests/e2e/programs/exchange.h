/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of datatypes: what a message of a type picks out of plain ints, and where it puts them. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "check.h"
#include <stddef.h>

enum { SPAN = 4000 };

typedef struct {
    char letter;
    double number;
    int pair[2];
} record_t;

static int in[SPAN], out[SPAN], packed[SPAN];

/* Sends `count` of the type to the right neighbour, receives them as plain ints and compares with the list
 * that the type should pick, then the other way round: plain ints sent, the type received. */
static void exchange(MPI_Datatype type, int count, const int *picked, int n)
{
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size, size, got;
    MPI_Status status;

    CHECK_OK(MPI_Type_size(type, &size));
    CHECK(size * count == n * (int)sizeof(int));
    check_fill(out, SPAN, check_rank, 1);
    memset(packed, 0, sizeof(packed));
    CHECK_OK(MPI_Sendrecv(out, count, type, right, 1, packed, n, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
    for (int i = 0; i < n; i++)
        CHECK(packed[i] == check_value(left, picked[i], 1));
    memset(in, 0xcc, sizeof(in));
    CHECK_OK(MPI_Sendrecv(packed, n, MPI_INT, left, 2, in, count, type, right, 2, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, type, &got));
    CHECK(got == count);
    for (int i = 0; i < n; i++) {
        CHECK(in[picked[i]] == check_value(check_rank, picked[i], 1));
        in[picked[i]] = (int)0xcccccccc;
    }
    for (int i = 0; i < SPAN; i++)
        if (in[i] != (int)0xcccccccc) {
            CHECK(!"a byte outside the type was written");
            break;
        }
}

#endif
