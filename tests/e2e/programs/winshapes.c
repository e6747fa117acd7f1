/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own stock=no mpirun=no */
/* e2e: switch=coll stock=no mpirun=no */
/*
 * Windows in the shapes that MPICH's own tests have: a base that is NULL, hints, MPI_PROC_NULL as a target,
 * an origin at MPI_BOTTOM, accumulates into types with bounds of their own, a counter that all want, memory
 * shared by a communicator.
 */
#include "check.h"

static void empty_window(void)
{
    MPI_Win win;
    void *base = &base;
    int flag = 0;

    CHECK_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag));
    CHECK(flag && base == NULL);
    CHECK_OK(MPI_Win_free(&win));
}

static void hints(void)
{
    char value[16] = "";
    MPI_Info in, out;
    MPI_Win win;
    void *base;
    int flag;

    MPI_Info_create(&in);
    MPI_Info_set(in, "no_locks", "true");
    CHECK_OK(MPI_Win_allocate(8, 1, in, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Win_get_info(win, &out));
    MPI_Info_get(out, "no_locks", 15, value, &flag);
    CHECK(flag && strcmp(value, "true") == 0);
    MPI_Info_free(&out);
    MPI_Info_set(in, "no_locks", "false");
    CHECK_OK(MPI_Win_set_info(win, in));
    CHECK_OK(MPI_Win_get_info(win, &out));
    MPI_Info_get(out, "no_locks", 15, value, &flag);
    CHECK(flag && strcmp(value, "false") == 0);
    MPI_Info_free(&out);
    MPI_Info_free(&in);
    CHECK_OK(MPI_Win_free(&win));
}

/* Shared memory is locked whatever the hint says; other windows may refuse it. */
static void locks_of_shared_memory(void)
{
    MPI_Info hint;
    MPI_Comm node;
    MPI_Win win;
    int *mine;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Info_create(&hint);
    MPI_Info_set(hint, "no_locks", "true");
    CHECK_OK(MPI_Win_allocate_shared(sizeof *mine, sizeof *mine, hint, node, &mine, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_free(&win));
    MPI_Info_free(&hint);
    MPI_Comm_free(&node);
}

static void no_target(void)
{
    int mine = 7, other = 3;
    MPI_Win win;

    CHECK_OK(MPI_Win_create(&mine, sizeof mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, win));
    CHECK_OK(MPI_Put(&other, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_flush(MPI_PROC_NULL, win));
    CHECK_OK(MPI_Win_unlock(MPI_PROC_NULL, win));
    CHECK_OK(MPI_Win_free(&win));
    CHECK(mine == 7);
}

/* The origin's place is in the datatype. */
static void bottom(void)
{
    static int source[4];
    int target[4] = {0}, length = 4, left = (check_rank + check_size - 1) % check_size;
    MPI_Aint address;
    MPI_Datatype absolute;
    MPI_Win win;

    check_fill(source, 4, check_rank, 1);
    MPI_Get_address(source, &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    CHECK_OK(MPI_Win_create(target, sizeof target, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI_Win_fence(0, win);
    CHECK_OK(MPI_Put(MPI_BOTTOM, 1, absolute, (check_rank + 1) % check_size, 0, 4, MPI_INT, win));
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < 4; i++)
        CHECK(target[i] == check_value(left, i, 1));
    MPI_Win_free(&win);
    MPI_Type_free(&absolute);
}

/* Too long to travel with the header, and behind the address of the buffer: at the origin, and at the target.
 */
static void displaced(void)
{
    enum { BLOCKS = 64, LENGTH = 128, BEFORE = 32, ITEMS = BLOCKS * LENGTH };
    static int source[ITEMS + BEFORE], target[ITEMS + BEFORE], got[ITEMS];
    int lengths[BLOCKS], places[BLOCKS], right = (check_rank + 1) % check_size, wrong = 0;
    MPI_Datatype type;
    MPI_Win win;

    for (int i = 0; i < BLOCKS; i++) {
        lengths[i] = LENGTH;
        places[i] = BEFORE + i * LENGTH;
    }
    check_fill(source, ITEMS + BEFORE, check_rank, 3);
    memset(target, 0, sizeof target);
    MPI_Type_indexed(BLOCKS, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_Win_create(target, sizeof target, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI_Win_fence(0, win);
    CHECK_OK(MPI_Put(source, 1, type, right, 0, 1, type, win));
    MPI_Win_fence(0, win);
    CHECK_OK(MPI_Get(got, ITEMS, MPI_INT, right, 0, 1, type, win));
    MPI_Win_fence(0, win);
    for (int i = 0; i < ITEMS; i++)
        wrong += got[i] != source[BEFORE + i];
    CHECK(wrong == 0);
    CHECK_OK(MPI_Accumulate(source, 1, type, right, 0, 1, type, MPI_REPLACE, win));
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(target[BEFORE] == check_value((check_rank + check_size - 1) % check_size, BEFORE, 3));
    MPI_Win_free(&win);
    MPI_Type_free(&type);
}

/* A column of a matrix, and a column that has been given its extent. */
static void accumulate_columns(void)
{
    enum { ROWS = 3, COLUMNS = 4 };
    int matrix[ROWS][COLUMNS], ones[ROWS * COLUMNS];
    MPI_Datatype column, narrow, all;
    MPI_Win win;

    for (int i = 0; i < ROWS * COLUMNS; i++) {
        matrix[i / COLUMNS][i % COLUMNS] = i;
        ones[i] = 100 * i;
    }
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &narrow);
    MPI_Type_contiguous(COLUMNS, narrow, &all);
    MPI_Type_commit(&all);
    CHECK_OK(MPI_Win_create(matrix, sizeof matrix, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI_Win_fence(0, win);
    CHECK_OK(MPI_Accumulate(ones, ROWS * COLUMNS, MPI_INT, (check_rank + 1) % check_size, 0, 1, all, MPI_SUM,
                            win));
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < COLUMNS; i++)
            CHECK(matrix[row][i] == row * COLUMNS + i + 100 * (i * ROWS + row));
    MPI_Win_free(&win);
    MPI_Type_free(&all);
    MPI_Type_free(&narrow);
    MPI_Type_free(&column);
}

/* Many at once: the target answers one while it hears of the next. */
static void contended(void)
{
    enum { TURNS = 10 };
    long counter = 0;
    MPI_Win win;

    CHECK_OK(MPI_Win_create(&counter, sizeof counter, sizeof counter, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int i = 0; i < TURNS; i++) {
        long seen = -1, next, expected = 0;
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        for (;;) {
            next = expected + 1;
            CHECK_OK(MPI_Compare_and_swap(&next, &expected, &seen, MPI_LONG, 0, 0, win));
            MPI_Win_flush(0, win);
            if (seen == expected)
                break;
            expected = seen;
        }
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(counter == (check_rank == 0 ? (long)TURNS * check_size : 0));
    MPI_Win_free(&win);
}

/* A rank that looks at its own memory again and again, until another has written there. */
static void awaited(void)
{
    long cell = 0, one = 1, seen = 0;
    MPI_Win win;

    CHECK_OK(MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    int left = (check_rank + check_size - 1) % check_size;
    if (check_rank == 0)
        seen = 1; /* begins */
    while (seen != 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
        MPI_Fetch_and_op(NULL, &seen, MPI_LONG, check_rank, 0, MPI_NO_OP, win);
        MPI_Win_unlock(check_rank, win);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, left, 0, win);
    MPI_Accumulate(&one, 1, MPI_LONG, left, 0, 1, MPI_LONG, MPI_REPLACE, win);
    MPI_Win_unlock(left, win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(cell == 1);
    MPI_Win_free(&win);
}

/* Exclusive and shared locks, and a counter that is read and written in two calls under a lock. */
static void locked(void)
{
    enum { TURNS = 8 };
    struct {
        long counter, sum, other;
    } cell = {0, 0, 0};
    long seen = -1, sum = -1;
    MPI_Win win;

    CHECK_OK(MPI_Win_create(&cell, sizeof cell, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int i = 0; i < TURNS; i++) {
        if ((i + check_rank) % 3 == 2) { /* both numbers change together */
            CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
            CHECK_OK(MPI_Get(&seen, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
            CHECK_OK(MPI_Win_flush(0, win));
            CHECK_OK(MPI_Get(&sum, 1, MPI_LONG, 0, sizeof(long), 1, MPI_LONG, win));
            CHECK_OK(MPI_Win_unlock(0, win));
            CHECK(sum == seen * (seen + 1) / 2);
        }
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        CHECK_OK(MPI_Get(&seen, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
        CHECK_OK(MPI_Get(&sum, 1, MPI_LONG, 0, sizeof(long), 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(0, win));
        seen++;
        sum += seen;
        CHECK_OK(MPI_Put(&seen, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
        CHECK_OK(MPI_Put(&sum, 1, MPI_LONG, 0, sizeof(long), 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_unlock(0, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        CHECK(cell.counter == (long)TURNS * check_size);
    MPI_Win_free(&win);
}

static void shared(void)
{
    MPI_Comm host;
    MPI_Win win;
    MPI_Aint size = 0;
    int rank, ranks, unit, *mine = NULL, *first = NULL;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &rank);
    MPI_Comm_size(host, &ranks);
    CHECK_OK(MPI_Win_allocate_shared((MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, host, &mine, &win));
    CHECK_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &first));
    CHECK(size == sizeof(int) && unit == sizeof(int) && first + rank == mine);
    *mine = check_value(rank, 0, 2);
    MPI_Barrier(host);
    for (int i = 0; i < ranks; i++)
        CHECK(first[i] == check_value(i, 0, 2));
    MPI_Barrier(host);
    CHECK_OK(MPI_Win_free(&win));
    MPI_Comm_free(&host);
}

static void everything(void)
{
    empty_window();
    hints();
    locks_of_shared_memory();
    no_target();
    bottom();
    displaced();
    accumulate_columns();
    contended();
    awaited();
    locked();
    shared();
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    everything();
    SWITCH_B();
    everything();
    SWITCH_A();
    return check_end("winshapes");
}
