/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own stock=no mpirun=no */
/*
 * A window moves at a fence, and that is free: an epoch takes the simulated time of the model in which the
 * window then is, as with a window that was made there, and the fence at which it moves takes what it takes
 * without a move.
 */
#include "check.h"

#include <math.h>
#include <time.h>

enum { N = 3000 };

static int memory[N], out[N];

/* Ranks sleep in nanoseconds. */
static int same(double a, double b)
{
    return fabs(a - b) <= 2e-9;
}

/* The analytic model has SMPI's windows. */
static int where(const char *model)
{
    return strcmp(model, "analytic") == 0 ? 's' : *model;
}

static void make(MPI_Win *win)
{
    CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, win));
}

/*
 * Ranks begin one after the other, whatever they have done before. With one date for all, their messages
 * would meet, and what sleep makes of the last nanosecond would say which one goes first.
 */
static void line_up(void)
{
    static double dates[64];
    double now = MPI_Wtime();

    MPI_Allgather(&now, 1, MPI_DOUBLE, dates, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < check_size; i++)
        now = dates[i] > now ? dates[i] : now;
    now += check_rank * 1.37e-7;
    if (check_simulated())
        while (MPI_Wtime() < now + 1e-2) {
            struct timespec rest = {0, (long)((now + 1e-2 - MPI_Wtime()) * 1e9) + 1};
            nanosleep(&rest, NULL);
        }
}

/* One epoch; `a_switch` before the closing fence. Returns how long that fence takes, or the whole. */
static double epoch(MPI_Win win, int target, const char *a_switch, int fence_only)
{
    double begin, fence, end;

    line_up();
    begin = MPI_Wtime();
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    CHECK_OK(MPI_Put(out, N, MPI_INT, target, 0, N, MPI_INT, win));
    if (a_switch)
        CHECK(pf_model_switch(a_switch) == 0);
    fence = MPI_Wtime();
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    end = MPI_Wtime();
    return end - (fence_only ? fence : begin);
}

int main(int argc, char **argv)
{
    const char *a = check_model("E2E_A", "smpi"), *b = check_model("E2E_B", "portals");
    double moving, staying, moved, made, before;
    MPI_Win win, other;
    int right;

    check_begin(&argc, &argv);
    right = (check_rank + 1) % check_size;
    for (int turn = 0; turn < 2; turn++) {
        const char *from = turn ? b : a, *to = turn ? a : b;

        CHECK(pf_model_switch(from) == 0);
        make(&win);
        before = epoch(win, right, NULL, 0);
        staying = epoch(win, right, NULL, 1);
        moving = epoch(win, right, to, 1);
        moved = epoch(win, right, NULL, 0);
        make(&other);
        made = epoch(other, right, NULL, 0);
        CHECK(!check_simulated() || same(staying, moving));
        CHECK(!check_simulated() || same(moved, made));
        if (check_simulated() && where(a) != where(b))
            CHECK(!same(before, moved)); /* it has moved */
        CHECK_OK(MPI_Win_free(&other));
        CHECK_OK(MPI_Win_free(&win));
    }
    TIME("end");
    return check_end("winmoves");
}
