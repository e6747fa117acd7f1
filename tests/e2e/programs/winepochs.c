/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=coll np=2 stock=no */
/* e2e: switch=coll np=2 stock=no mpirun=no args=twice */
/*
 * Epochs of windows that are missing, begun twice, or in each other's way (MPI 3.1 section 11.5): the same
 * answer in all models, which is Open MPI's. Accesses outside of a window. With "twice" also what Open MPI's
 * osc/rdma lets pass, or waits for.
 */
#include "check.h"

static MPI_Win win;
static MPI_Group other;
static int memory[8], peer;

static int class_of(int code)
{
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    return error_class;
}

#define SYNC(call)         CHECK(class_of(call) == MPI_ERR_RMA_SYNC)
#define IS(call, expected) CHECK(class_of(call) == (expected))

static int put_at(int target, MPI_Aint disp)
{
    int one = 1;
    return MPI_Put(&one, 1, MPI_INT, target, disp, 1, MPI_INT, win);
}

static void open_window(void)
{
    MPI_Win_create(memory, sizeof memory, sizeof memory[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
}

static void close_window(void)
{
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_free(&win));
}

static void without(void)
{
    int value = 1, result = 0, flag;
    MPI_Request request;
    open_window();
    SYNC(put_at(peer, 0));
    SYNC(MPI_Get(&value, 1, MPI_INT, peer, 0, 1, MPI_INT, win));
    SYNC(MPI_Accumulate(&value, 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, win));
    SYNC(MPI_Get_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, win));
    SYNC(MPI_Fetch_and_op(&value, &result, MPI_INT, peer, 0, MPI_SUM, win));
    SYNC(MPI_Compare_and_swap(&value, &value, &result, MPI_INT, peer, 0, win));
    SYNC(MPI_Rput(&value, 1, MPI_INT, peer, 0, 1, MPI_INT, win, &request));
    SYNC(MPI_Rget(&value, 1, MPI_INT, peer, 0, 1, MPI_INT, win, &request));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    SYNC(MPI_Win_unlock(peer, win));
    SYNC(MPI_Win_unlock_all(win));
    SYNC(MPI_Win_wait(win));
    SYNC(MPI_Win_test(win, &flag));
    SYNC(MPI_Win_flush(peer, win));
    SYNC(MPI_Win_flush_all(win));
    SYNC(MPI_Win_flush_local(peer, win));
    SYNC(MPI_Win_flush_local_all(win));
    CHECK_OK(MPI_Win_sync(win));
    close_window();
}

static void locks(void)
{
    open_window();
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win));
    SYNC(put_at(peer, 0));
    SYNC(MPI_Win_unlock(peer, win));
    SYNC(MPI_Win_unlock_all(win));
    SYNC(MPI_Win_fence(0, win));
    SYNC(MPI_Win_start(other, 0, win));
    SYNC(MPI_Win_flush(peer, win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win));
    CHECK_OK(put_at(peer, check_rank));
    CHECK_OK(MPI_Win_unlock(peer, win));
    SYNC(put_at(peer, 0));
    CHECK_OK(MPI_Win_unlock(check_rank, win));
    SYNC(MPI_Win_unlock(check_rank, win));
    CHECK_OK(MPI_Win_lock_all(0, win));
    SYNC(MPI_Win_lock_all(0, win));
    SYNC(MPI_Win_unlock(peer, win));
    SYNC(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    IS(MPI_Win_lock(MPI_LOCK_SHARED, 7, 0, win), MPI_ERR_RANK);
    IS(MPI_Win_unlock(7, win), MPI_ERR_RANK);
    IS(MPI_Win_lock(77, peer, 0, win), MPI_ERR_LOCKTYPE);
    IS(MPI_Win_lock(MPI_LOCK_SHARED, peer, 1 << 20, win), MPI_ERR_ASSERT);
    IS(MPI_Win_lock_all(1 << 20, win), MPI_ERR_ASSERT);
    close_window();
}

static void groups(void)
{
    int flag;
    open_window();
    CHECK_OK(MPI_Win_post(other, 0, win));
    SYNC(MPI_Win_post(other, 0, win));
    CHECK_OK(MPI_Win_start(other, 0, win));
    SYNC(MPI_Win_start(other, 0, win));
    SYNC(MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win));
    SYNC(MPI_Win_fence(0, win));
    SYNC(put_at(check_rank, 0));
    CHECK_OK(put_at(peer, 0));
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    SYNC(MPI_Win_complete(win));
    SYNC(MPI_Win_wait(win));
    SYNC(MPI_Win_test(win, &flag));
    IS(MPI_Win_post(other, 1 << 20, win), MPI_ERR_ASSERT);
    IS(MPI_Win_start(other, 1 << 20, win), MPI_ERR_ASSERT);
    CHECK_OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
    CHECK_OK(MPI_Win_complete(win));
    close_window();
}

static void fences(void)
{
    open_window();
    IS(MPI_Win_fence(1 << 20, win), MPI_ERR_ASSERT);
    CHECK_OK(MPI_Win_fence(0, win));
    IS(put_at(peer, 8), MPI_ERR_RMA_RANGE);
    IS(put_at(peer, -1), MPI_ERR_DISP);
    IS(put_at(9, 0), MPI_ERR_RANK);
    CHECK_OK(put_at(peer, 7));
    SYNC(MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win));
    SYNC(MPI_Win_lock_all(0, win));
    SYNC(MPI_Win_start(other, 0, win));
    SYNC(MPI_Win_flush(peer, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    SYNC(put_at(peer, 0));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win)); /* nothing has been done between the fences */
    CHECK_OK(MPI_Win_unlock(peer, win));
    SYNC(put_at(peer, 0));
    close_window();
}

/* Freed within an epoch, which Open MPI lets pass, and MPICH refuses. */
static void ends(void)
{
    open_window();
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win));
    if (class_of(MPI_Win_free(&win)) == MPI_ERR_RMA_SYNC) {
        CHECK_OK(MPI_Win_unlock(check_rank, win));
        CHECK_OK(MPI_Win_free(&win));
    }
    open_window();
    CHECK_OK(MPI_Win_fence(0, win));
    close_window();
}

static void twice(void)
{
    open_window();
    SYNC(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win));
    SYNC(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win));
    SYNC(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Win_unlock(check_rank, win));
    SYNC(MPI_Win_unlock(check_rank, win));
    CHECK_OK(MPI_Win_lock_all(0, win));
    SYNC(MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    close_window();
}

int main(int argc, char **argv)
{
    MPI_Group all;
    check_begin(&argc, &argv);
    peer = 1 - check_rank;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    MPI_Group_free(&all);
    if (argc > 1) {
        twice();
    } else {
        without();
        locks();
        groups();
        fences();
        ends();
    }
    MPI_Group_free(&other);
    return check_end("winepochs");
}
