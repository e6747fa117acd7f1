/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any np=3 stock=no mpirun=no */
/*
 * MPI_Get_accumulate with a derived type at the target: every second element of the window takes part, and
 * those between must stay. Beyond 8 kB the data do not travel with the command. (Stock SMPI does not look at
 * the target's type; stock Open MPI has no component for this on one machine, or computes what this program
 * refuses.)
 */
#include "check.h"

enum { LONGEST = 6000 };

static int window[2 * LONGEST], values[LONGEST], before[LONGEST];

static int start_value(int i)
{
    return i % 2 ? -i : i;
}

static int contribution(int rank, int i)
{
    return 7 * i + rank + 1;
}

static void begin(MPI_Win win)
{
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win));
    for (int i = 0; i < 2 * LONGEST; i++)
        window[i] = start_value(i);
    CHECK_OK(MPI_Win_unlock(check_rank, win));
    for (int i = 0; i < LONGEST; i++)
        values[i] = contribution(check_rank, i);
    memset(before, 0, sizeof before);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* What rank 0's window holds at element i after all others have taken part. */
static int expected(MPI_Op op, int i, int n)
{
    int value = start_value(i), last = check_size - 1;
    if (i % 2 || i / 2 >= n || op == MPI_NO_OP)
        return value;
    if (op == MPI_REPLACE)
        return contribution(last, i / 2);
    for (int rank = 1; rank < check_size; rank++)
        value += contribution(rank, i / 2);
    return value;
}

/* One rank after the other, so that each knows what it fetches. */
static void fetch_in_turn(MPI_Win win, MPI_Datatype target, int count, int n, MPI_Op op)
{
    for (int rank = 1; rank < check_size; rank++) {
        if (rank == check_rank) {
            CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
            CHECK_OK(
                MPI_Get_accumulate(values, n, MPI_INT, before, n, MPI_INT, 0, 0, count, target, op, win));
            CHECK_OK(MPI_Win_unlock(0, win));
        }
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

static void check_fetched(MPI_Op op, int n)
{
    for (int i = 0; i < n; i++) {
        int value = start_value(2 * i);
        if (op == MPI_REPLACE && check_rank > 1)
            value = contribution(check_rank - 1, i);
        for (int rank = 1; op == MPI_SUM && rank < check_rank; rank++)
            value += contribution(rank, i);
        CHECK(before[i] == value);
    }
}

static void one(MPI_Win win, int n, MPI_Op op, int blocks)
{
    MPI_Datatype type;
    int count = blocks ? 1 : n;
    if (blocks) {
        CHECK_OK(MPI_Type_vector(n, 1, 2, MPI_INT, &type));
    } else {
        CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type));
    }
    CHECK_OK(MPI_Type_commit(&type));
    begin(win);
    fetch_in_turn(win, type, count, n, op);
    if (check_rank > 0)
        check_fetched(op, n);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win));
    for (int i = 0; check_rank == 0 && i < 2 * LONGEST; i++)
        CHECK(window[i] == expected(op, i, n));
    CHECK_OK(MPI_Win_unlock(check_rank, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Type_free(&type));
}

/* A type without data is nothing, whatever the operation. */
static void empty(MPI_Win win)
{
    MPI_Datatype none, one;
    int value = 1, result = 2, peer = (check_rank + 1) % check_size;
    CHECK_OK(MPI_Type_vector(0, 1, 2, MPI_INT, &none));
    CHECK_OK(MPI_Type_commit(&none));
    CHECK_OK(MPI_Type_contiguous(1, MPI_INT, &one));
    CHECK_OK(MPI_Type_commit(&one));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Accumulate(&value, 0, MPI_INT, peer, 0, 1, none, MPI_SUM, win));
    CHECK_OK(MPI_Accumulate(&value, 1, none, peer, 0, 1, none, MPI_MAX, win));
    CHECK_OK(MPI_Accumulate(NULL, 1, none, peer, 0, 0, one, MPI_SUM, win));
    CHECK_OK(MPI_Get_accumulate(&value, 0, MPI_INT, &result, 1, none, peer, 0, 1, none, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK(result == 2);
    CHECK_OK(MPI_Type_free(&none));
    CHECK_OK(MPI_Type_free(&one));
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 100, 2100, LONGEST};
    const MPI_Op ops[] = {MPI_SUM, MPI_REPLACE, MPI_NO_OP};
    MPI_Win win;
    check_begin(&argc, &argv);
    CHECK_OK(MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t o = 0; o < sizeof ops / sizeof ops[0]; o++) {
            one(win, sizes[s], ops[o], 0);
            one(win, sizes[s], ops[o], 1);
        }
    empty(win);
    CHECK_OK(MPI_Win_free(&win));
    return check_end("gacc");
}
