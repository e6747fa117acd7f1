/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one-sided communication costs in model analytic, against the formulae of docs/analytic.md. Three ranks
 * on three nodes, with the parameters of windows.bats; each step begins at the same date on all of them.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Nanoseconds, as windows.bats sets them: d, o_s, L, C, g, and per byte G and the NIC's. */
static const double CALL = 10, SEND = 100, L = 1000, C = 700, GAP = 20, G = 1, NIC = 0.5;
static const double MEMORY_L = 300, MEMORY_C = 200, MEMORY_G = 0.25;

enum { ITEMS = 1000, BYTES = 8 * ITEMS };

static int rank, wrong;
static double begin;
static long *memory, buffer[ITEMS], result[ITEMS];
static MPI_Win win;

/* All ranks go on at the next multiple of a millisecond. */
static void together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    begin = (floor(MPI_Wtime() * 1e3) + 2) * 1e-3;
    double wait = begin - MPI_Wtime();
    struct timespec t = {0, (long)floor(wait * 1e9)};
    nanosleep(&t, NULL);
    begin = MPI_Wtime();
}

static void expect(const char *what, double nanoseconds)
{
    double passed = (MPI_Wtime() - begin) * 1e9;
    if (fabs(passed - nanoseconds) < 1e-3)
        return;
    printf("rank %d: %s took %.4f ns, not %.4f ns\n", rank, what, passed, nanoseconds);
    wrong = 1;
}

static void wait_for(double nanoseconds)
{
    struct timespec t = {0, (long)nanoseconds};
    nanosleep(&t, NULL);
}

static void accesses(void)
{
    const double put_there = CALL + SEND + L + BYTES * G;
    long item = 1, compare = 0, old;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    together();
    if (rank == 0) {
        MPI_Put(buffer, ITEMS, MPI_LONG, 1, 0, ITEMS, MPI_LONG, win);
        expect("a put", CALL + SEND);
        MPI_Win_flush_local(1, win);
        expect("its local flush", CALL + SEND + GAP + BYTES * NIC);
        MPI_Win_flush(1, win);
        expect("its flush", put_there + C);
    }
    together();
    if (rank == 0) { /* the NIC takes them in turns */
        MPI_Request requests[2];
        MPI_Rput(buffer, ITEMS, MPI_LONG, 1, 0, ITEMS, MPI_LONG, win, &requests[0]);
        MPI_Rput(buffer, ITEMS, MPI_LONG, 2, 0, ITEMS, MPI_LONG, win, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect("two puts", CALL + SEND + 2 * (GAP + BYTES * NIC));
        MPI_Win_flush_all(win);
        expect("their flush", put_there + GAP + BYTES * NIC + C);
    }
    together();
    if (rank == 0) {
        MPI_Accumulate(buffer, ITEMS, MPI_LONG, 0, 0, ITEMS, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush(0, win);
        expect("an accumulate inside the node", CALL + SEND + MEMORY_L + BYTES * MEMORY_G + MEMORY_C);
    }
    together();
    if (rank == 0) {
        MPI_Get(result, ITEMS, MPI_LONG, 1, 0, ITEMS, MPI_LONG, win);
        MPI_Win_flush(1, win);
        expect("a get", CALL + SEND + C + L + BYTES * G);
    }
    together();
    if (rank == 0) {
        MPI_Request request;
        MPI_Rget_accumulate(buffer, ITEMS, MPI_LONG, result, ITEMS, MPI_LONG, 1, 0, ITEMS, MPI_LONG, MPI_SUM,
                            win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect("a get_accumulate", CALL + SEND + 2 * (L + BYTES * G));
    }
    together();
    if (rank == 0) {
        MPI_Fetch_and_op(&item, &old, MPI_LONG, 1, 0, MPI_SUM, win);
        MPI_Win_flush(1, win);
        expect("a fetch_and_op", CALL + SEND + 2 * (L + 8 * G));
    }
    together();
    if (rank == 0) {
        MPI_Compare_and_swap(&item, &compare, &old, MPI_LONG, 1, 0, win);
        MPI_Win_flush(1, win);
        expect("a compare_and_swap", CALL + SEND + L + 16 * G + L + 8 * G);
    }
    together();
    MPI_Win_unlock_all(win);
}

/* Both want to write to rank 0; rank 2 asks a nanosecond later. */
static void contention(int type, double granted_to_second)
{
    const double asked = CALL + 2 * C;
    const double unlocked = asked + CALL + SEND + L + BYTES * G + C;
    together();
    if (rank == 0)
        return;
    if (rank == 2)
        wait_for(1);
    MPI_Win_lock(type, 0, 0, win);
    double granted = rank == 1 ? asked : granted_to_second >= 0 ? granted_to_second : unlocked + 2 * C;
    /* A rank that does not get it gets a false flag, and its put waits instead. */
    expect("the lock", rank == 2 && granted_to_second < 0 ? asked + 1 : granted);
    MPI_Put(buffer, ITEMS, MPI_LONG, 0, 0, ITEMS, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    expect("put and unlock", granted + unlocked - asked);
}

static void lock_all_behind_exclusive(void)
{
    together();
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        wait_for(5000);
        MPI_Win_unlock(0, win);
    } else if (rank == 2) {
        wait_for(1);
        MPI_Win_lock_all(0, win);
        expect("lock_all", CALL + 2 * C + 5000 + CALL + 2 * C);
        MPI_Win_unlock_all(win);
    }
}

static void groups(void)
{
    MPI_Group world, one;
    int other = rank == 0 ? 1 : 0;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &one);
    const double started = CALL + C, there = started + CALL + SEND + L + BYTES * G;
    together();
    if (rank == 0) {
        MPI_Win_post(one, 0, win);
        expect("post", CALL);
        MPI_Win_wait(win);
        expect("wait", there);
    } else if (rank == 1) {
        MPI_Win_start(one, 0, win);
        expect("start", started);
        MPI_Put(buffer, ITEMS, MPI_LONG, 0, 0, ITEMS, MPI_LONG, win);
        MPI_Win_complete(win);
        expect("complete", started + CALL + SEND + GAP + BYTES * NIC);
    }
    MPI_Group_free(&one);
    MPI_Group_free(&world);
}

/* Two ranks: the barrier of a fence is an exchange of empty messages. */
static void fence(void)
{
    MPI_Comm pair;
    MPI_Win two;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &pair);
    if (rank < 2) {
        MPI_Win_create(memory, BYTES, 8, MPI_INFO_NULL, pair, &two);
        MPI_Win_fence(MPI_MODE_NOPRECEDE, two);
    }
    together();
    if (rank < 2) {
        const double entered = CALL + SEND + L + BYTES * G + C, empty = CALL + SEND + L;
        if (rank == 0)
            MPI_Put(buffer, ITEMS, MPI_LONG, 1, 0, ITEMS, MPI_LONG, two);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, two);
        if (rank == 1)
            expect("put and fence, at the target", entered + empty);
        else
            expect("put and fence, at the origin", entered + CALL + SEND);
        MPI_Win_free(&two);
        MPI_Comm_free(&pair);
    }
}

static void is_error(const char *what, int code, int wanted)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    if (class == wanted)
        return;
    printf("rank %d: %s: error class %d, not %d\n", rank, what, class, wanted);
    wrong = 1;
}

static void first_of_both(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

/* Calls that are refused; they leave the window as it was. */
static void mistakes(void)
{
    MPI_Op mine;
    MPI_Op_create(first_of_both, 1, &mine);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    is_error("no epoch", MPI_Put(buffer, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    is_error("no lock", MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    is_error("no lock to flush", MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    is_error("no start", MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    is_error("no post", MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    MPI_Win_lock_all(0, win);
    is_error("twice", MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    is_error("behind the end", MPI_Put(buffer, 2, MPI_LONG, 0, ITEMS - 1, 2, MPI_LONG, win),
             MPI_ERR_RMA_RANGE);
    is_error("before the begin", MPI_Get(buffer, 1, MPI_LONG, 0, -1, 1, MPI_LONG, win), MPI_ERR_DISP);
    is_error("too much", MPI_Put(buffer, 2, MPI_LONG, 0, 0, 1, MPI_LONG, win), MPI_ERR_TRUNCATE);
    is_error("no member", MPI_Put(buffer, 1, MPI_LONG, 3, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
    is_error("my operation", MPI_Accumulate(buffer, 1, MPI_LONG, 0, 0, 1, MPI_LONG, mine, win), MPI_ERR_OP);
    MPI_Datatype two;
    MPI_Type_contiguous(2, MPI_LONG, &two);
    MPI_Type_commit(&two);
    is_error("nothing", MPI_Accumulate(buffer, 0, two, 0, 0, 0, two, MPI_SUM, win), MPI_SUCCESS);
    MPI_Type_free(&two);
    MPI_Win_unlock_all(win);
    MPI_Op_free(&mine);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(BYTES, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    accesses();
    contention(MPI_LOCK_EXCLUSIVE, -1);
    contention(MPI_LOCK_SHARED, CALL + 2 * C + 1);
    lock_all_behind_exclusive();
    groups();
    fence();
    mistakes();
    MPI_Win_free(&win);
    int any;
    MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0 && !any)
        puts("windows: as the formulae say");
    MPI_Finalize();
    return 0;
}
