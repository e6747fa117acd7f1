/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own stock=no mpirun=no */
/* e2e: switch=any stock=no mpirun=no */
/*
 * One-sided communication. A window stays in the model in which it was created, whatever the ranks switch to.
 * Fences, general active target, locks; put, get, accumulate and the fetching calls; attributes and groups of
 * windows. (Stock Open MPI on one machine has no working default component for MPI_Win_create, and stock SMPI
 * aborts in MPI_Win_get_attr.)
 */
#include <unistd.h>

#include "check.h"

enum { N = 64 };

static void with_fence(MPI_Win win, int *memory)
{
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    int out[N], in[N];

    check_fill(out, N, check_rank, 1);
    memset(memory, 0, N * sizeof(int));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    CHECK_OK(MPI_Put(out, N, MPI_INT, right, 0, N, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK(check_filled(memory, N, left, 1));
    CHECK_OK(MPI_Get(in, N, MPI_INT, right, 0, N, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK(check_filled(in, N, check_rank, 1));
}

static void with_accumulate(MPI_Win win, int *memory)
{
    int one[N];

    for (int i = 0; i < N; i++) {
        one[i] = check_rank + 1;
        memory[i] = 0;
    }
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Accumulate(one, N, MPI_INT, 0, 0, N, MPI_INT, MPI_SUM, win));
    CHECK_OK(
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win)); /* else SMPI takes the next epoch for a part of this one */
    if (check_rank == 0)
        for (int i = 0; i < N; i++)
            CHECK(memory[i] == check_size * (check_size + 1) / 2);
}

/* Two elements of a type that consists of some parts, each with the sum over the ranks. */
#define KIND(type, part, parts)                                                                              \
    do {                                                                                                     \
        part out[2 * (parts)], *sums = (part *)(void *)memory;                                               \
        for (int i = 0; i < 2 * (parts); i++)                                                                \
            out[i] = (part)(check_rank + 1);                                                                 \
        memset(memory, 0, N * sizeof(int));                                                                  \
        CHECK_OK(MPI_Win_fence(0, win));                                                                     \
        CHECK_OK(MPI_Accumulate(out, 2, type, 0, 0, 2, type, MPI_SUM, win));                                 \
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));                                                    \
        for (int i = 0; i <= 2 * (parts) && check_rank == 0; i++)                                            \
            CHECK(sums[i] == (i < 2 * (parts) ? (part)(check_size * (check_size + 1) / 2) : (part)0));       \
    } while (0)

static void with_kinds(MPI_Win win, int *memory)
{
    KIND(MPI_C_FLOAT_COMPLEX, float, 2);
    KIND(MPI_C_DOUBLE_COMPLEX, double, 2);
    KIND(MPI_INTEGER, int, 1);
    KIND(MPI_REAL, float, 1);
    KIND(MPI_DOUBLE_PRECISION, double, 1);
}

static void with_groups(MPI_Win win, int *memory)
{
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size, out[N];
    MPI_Group all, origin, target;

    check_fill(out, N, check_rank, 2);
    CHECK_OK(MPI_Win_get_group(win, &all));
    CHECK_OK(MPI_Group_incl(all, 1, &left, &origin));
    CHECK_OK(MPI_Group_incl(all, 1, &right, &target));
    for (int i = 0; i < 2; i++) /* no epoch, as no operations follow */
        CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_post(origin, 0, win));
    CHECK_OK(MPI_Win_start(target, 0, win));
    CHECK_OK(MPI_Put(out, N, MPI_INT, right, 0, N, MPI_INT, win));
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    CHECK(check_filled(memory, N, left, 2));
    MPI_Group_free(&all);
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
}

/* All count on rank 0's first word. */
static void with_locks(MPI_Win win, int *memory)
{
    int one = 1, was = -1;

    memory[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        CHECK_OK(MPI_Fetch_and_op(&one, &was, MPI_INT, 0, 0, MPI_SUM, win));
        CHECK_OK(MPI_Win_unlock(0, win));
        CHECK(was >= i && was < 3 * check_size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    CHECK_OK(MPI_Get(&was, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK(was == 3 * check_size);
}

/* What is for one target may wait while another one's is completed. */
static void with_some(MPI_Win win, int *memory)
{
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    int in[2] = {-1, -1};

    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    memset(memory, 0, N * sizeof(int));
    memory[0] = memory[1] = check_rank;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Get(&in[0], 1, MPI_INT, right, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_flush(check_rank, win));
    CHECK_OK(MPI_Get(&in[1], 1, MPI_INT, left, 1, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_flush(left, win));
    CHECK(in[1] == left);
    CHECK_OK(MPI_Win_flush_local(right, win));
    CHECK(in[0] == right);
    for (int i = 1; i <= 20; i++) { /* accumulates of one origin at one place keep their order */
        int one = 1, now = -1, old[8];
        for (int k = 0; k < 8; k++)
            CHECK_OK(MPI_Fetch_and_op(&one, &old[k], MPI_INT, 0, N - 1, MPI_SUM, win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 2 + check_rank, 1, MPI_INT, MPI_SUM, win));
        CHECK_OK(MPI_Fetch_and_op(&one, &now, MPI_INT, 0, 2 + check_rank, MPI_NO_OP, win));
        CHECK_OK(MPI_Win_flush(0, win));
        CHECK(now == i);
    }
    CHECK_OK(MPI_Win_unlock_all(win));
}

/* The window of rank 0 is exposed to rank 1, then to rank 2, whose operations wait for that meanwhile. */
static void with_turns(MPI_Win win, int *memory)
{
    MPI_Group all, one;
    int in = -1, old = -1, add = 5;

    if (check_size < 3)
        return;
    memory[0] = 7;
    memory[1] = 1;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (int origin = 1; origin < 3; origin++) {
        if (check_rank != 0 && check_rank != origin)
            continue;
        int other = check_rank ? 0 : origin;
        CHECK_OK(MPI_Group_incl(all, 1, &other, &one));
        if (check_rank == 0) {
            CHECK_OK(MPI_Win_post(one, 0, win));
            CHECK_OK(MPI_Win_wait(win));
        } else {
            if (origin == 1)
                usleep(100);
            CHECK_OK(MPI_Win_start(one, 0, win));
            CHECK_OK(MPI_Get(&in, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
            CHECK_OK(MPI_Fetch_and_op(&add, &old, MPI_INT, 0, 1, MPI_SUM, win));
            CHECK_OK(MPI_Win_complete(win));
            CHECK(in == 7 && old == 1 + 5 * (origin - 1));
        }
        CHECK_OK(MPI_Group_free(&one));
    }
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void attributes(MPI_Win win, const int *memory)
{
    MPI_Aint *size;
    int *unit, *flavor, flag;
    void *base;

    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag));
    CHECK(flag && base == memory);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag));
    CHECK(flag && *size == N * (MPI_Aint)sizeof(int));
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag));
    CHECK(flag && *unit == (int)sizeof(int));
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
    CHECK(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE);
}

int main(int argc, char **argv)
{
    MPI_Win win[2];
    int *memory[2];

    check_begin(&argc, &argv);
    for (int i = 0; i < 2; i++) {
        if (i)
            SWITCH_B();
        else
            SWITCH_A();
        CHECK_OK(MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory[i],
                                  &win[i]));
        attributes(win[i], memory[i]);
    }
    for (int i = 0; i < 4; i++) { /* each window under each model */
        if (i & 2)
            SWITCH_A();
        with_fence(win[i & 1], memory[i & 1]);
        with_accumulate(win[i & 1], memory[i & 1]);
        with_kinds(win[i & 1], memory[i & 1]);
        with_groups(win[i & 1], memory[i & 1]);
        with_locks(win[i & 1], memory[i & 1]);
        with_some(win[i & 1], memory[i & 1]);
        with_turns(win[i & 1], memory[i & 1]);
        TIME("window");
    }
    CHECK_OK(MPI_Win_free(&win[0]));
    CHECK_OK(MPI_Win_free(&win[1]));
    CHECK(win[0] == MPI_WIN_NULL);
    return check_end("rma");
}
