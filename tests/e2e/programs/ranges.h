/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of operations: one of the application's own, on a type of its own. */
#ifndef RANGES_H
#define RANGES_H

#include "check.h"

enum { N = 40 };

typedef struct {
    int least, greatest;
    long sum;
} range_t;

static MPI_Datatype range_type;
static long calls, wrong_types;

static void join(void *in, void *inout, int *n, MPI_Datatype *type)
{
    range_t *a = in, *b = inout;

    calls++;
    wrong_types += *type != range_type;
    for (int i = 0; i < *n; i++) {
        b[i].least = a[i].least < b[i].least ? a[i].least : b[i].least;
        b[i].greatest = a[i].greatest > b[i].greatest ? a[i].greatest : b[i].greatest;
        b[i].sum += a[i].sum;
    }
}

static void make_type(void)
{
    MPI_Datatype t;

    MPI_Type_create_struct(2, (const int[]){2, 1}, (const MPI_Aint[]){0, 8},
                           (const MPI_Datatype[]){MPI_INT, MPI_LONG}, &t);
    MPI_Type_create_resized(t, 0, sizeof(range_t), &range_type);
    MPI_Type_commit(&range_type);
    MPI_Type_free(&t);
}

static void fill(range_t *r)
{
    for (int i = 0; i < N; i++)
        r[i] = (range_t){check_rank + i, check_rank - i, check_rank * 10 + i};
}

static int joined(const range_t *r)
{
    for (int i = 0; i < N; i++)
        if (r[i].least != i || r[i].greatest != check_size - 1 - i ||
            r[i].sum != 5L * check_size * (check_size - 1) + (long)check_size * i)
            return 0;
    return 1;
}

#endif
