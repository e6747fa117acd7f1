/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication of an archive. It has windows, bytes and targets, but neither displacements nor the
 * size of a window: all goes to the begin of a window that is large enough.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/pfreplay/otf2_rank.h"

/* Bytes of every window: what one call can put. */
#define WINDOW ((uint64_t)1 << 31)

static bool is(const struct rank *rank, const char *function)
{
    return rank->function && strcmp(rank->function, function) == 0;
}

/* Writes `RANK ACTION`, behind which a call's arguments stand. */
static FILE *line(struct rank *rank, const char *action)
{
    rank->messages = true;
    fprintf(rank->text->out, "%d %s", rank->number, action);
    return rank->text->out;
}

static OTF2_CallbackCode create(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data,
                                OTF2_AttributeList *list, OTF2_RmaWinRef win)
{
    struct rank *rank = data;
    const struct otf2_window *window = otf2_window_of(rank->all, win);
    const struct otf2_comm *comm = window ? otf2_comm_of(rank->all, window->comm) : NULL;
    if (!comm || comm->number < 0)
        otf2_refuse(rank, "its window has no definition, or a communicator that cannot be replayed");
    fprintf(line(rank, "MPI_Win_create"), " %" PRIu64 " 1 %d %u\n", WINDOW, comm->number, win);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode destroy(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                 void *data, OTF2_AttributeList *list, OTF2_RmaWinRef win)
{
    fprintf(line(data, "MPI_Win_free"), " %u\n", win);
    return OTF2_CALLBACK_SUCCESS;
}

static void transfer(struct rank *rank, const char *action, OTF2_RmaWinRef win, uint32_t target,
                     uint64_t bytes)
{
    if (bytes > WINDOW - 1)
        otf2_refuse(rank, "more than 2 GiB at once");
    fprintf(line(rank, action), " %" PRIu64 " 6 %u 0 %" PRIu64 " 6 %u\n", bytes, target, bytes, win);
}

static OTF2_CallbackCode put(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data,
                             OTF2_AttributeList *list, OTF2_RmaWinRef win, uint32_t target, uint64_t bytes,
                             uint64_t id)
{
    transfer(data, "MPI_Put", win, target, bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode get(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data,
                             OTF2_AttributeList *list, OTF2_RmaWinRef win, uint32_t target, uint64_t bytes,
                             uint64_t id)
{
    transfer(data, "MPI_Get", win, target, bytes);
    return OTF2_CALLBACK_SUCCESS;
}

/* Sums of ints, or of long ones: an archive has neither type nor operation. */
static OTF2_CallbackCode atomic(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data,
                                OTF2_AttributeList *list, OTF2_RmaWinRef win, uint32_t target,
                                OTF2_RmaAtomicType type, uint64_t sent, uint64_t received, uint64_t id)
{
    struct rank *rank = data;
    int number = sent % 8 == 0 && sent > 0 ? 4 : 1; /* MPI_LONG, MPI_INT */
    uint64_t count = (sent + (number == 4 ? 7 : 3)) / (number == 4 ? 8 : 4);
    if (sent > WINDOW - 8)
        otf2_refuse(rank, "more than 2 GiB at once");
    if (type == OTF2_RMA_ATOMIC_TYPE_ACCUMULATE && received == 0)
        fprintf(line(rank, "MPI_Accumulate"), " %" PRIu64 " %d %u 0 %" PRIu64 " %d SUM %u\n", count, number,
                target, count, number, win);
    else if (is(rank, "MPI_Compare_and_swap"))
        fprintf(line(rank, "MPI_Compare_and_swap"), " %d %u 0 %u\n", received == 8 ? 4 : 1, target, win);
    else if (received <= 8)
        fprintf(line(rank, "MPI_Fetch_and_op"), " %d %u 0 SUM %u\n", received == 8 ? 4 : 1, target, win);
    else
        otf2_refuse(rank, "an atomic operation that fetches more than 8 bytes");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode collective_end(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                        void *data, OTF2_AttributeList *list, OTF2_CollectiveOp op,
                                        OTF2_RmaSyncLevel level, OTF2_RmaWinRef win, uint32_t root,
                                        uint64_t sent, uint64_t received)
{
    struct rank *rank = data;
    if (is(rank, "MPI_Win_fence"))
        fprintf(line(rank, "MPI_Win_fence"), " 0 %u\n", win);
    return OTF2_CALLBACK_SUCCESS;
}

/* Start, post, complete and wait: which of them, the function says. */
static OTF2_CallbackCode group_sync(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                    void *data, OTF2_AttributeList *list, OTF2_RmaSyncLevel level,
                                    OTF2_RmaWinRef win, OTF2_GroupRef group)
{
    struct rank *rank = data;
    int count, *ranks = otf2_group_ranks(rank->all, group, &count);
    if (is(rank, "MPI_Win_complete") || is(rank, "MPI_Win_wait")) {
        fprintf(line(rank, rank->function), " %u\n", win);
    } else if ((is(rank, "MPI_Win_start") || is(rank, "MPI_Win_post")) && count >= 0) {
        FILE *out = line(rank, rank->function);
        fprintf(out, " %d", count);
        for (int i = 0; i < count; i++)
            fprintf(out, " %d", ranks[i]);
        fprintf(out, " 0 %u\n", win);
    } else {
        otf2_refuse(rank, "a synchronization that is not known here");
    }
    free(ranks);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode request_lock(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                      void *data, OTF2_AttributeList *list, OTF2_RmaWinRef win,
                                      uint32_t target, uint64_t id, OTF2_LockType type)
{
    struct rank *rank = data;
    if (!is(rank, "MPI_Win_lock_all"))
        fprintf(line(rank, "MPI_Win_lock"), " %d %u 0 %u\n", type == OTF2_LOCK_EXCLUSIVE, target, win);
    else if (!rank->flushed)
        fprintf(line(rank, "MPI_Win_lock_all"), " 0 %u\n", win);
    rank->flushed = true;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode release_lock(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                      void *data, OTF2_AttributeList *list, OTF2_RmaWinRef win,
                                      uint32_t target, uint64_t id)
{
    struct rank *rank = data;
    if (!is(rank, "MPI_Win_unlock_all"))
        fprintf(line(rank, "MPI_Win_unlock"), " %u %u\n", target, win);
    else if (!rank->flushed)
        fprintf(line(rank, "MPI_Win_unlock_all"), " %u\n", win);
    rank->flushed = true;
    return OTF2_CALLBACK_SUCCESS;
}

/* An operation is complete at its target: a flush reports that, without a target. */
static OTF2_CallbackCode complete_remote(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                         void *data, OTF2_AttributeList *list, OTF2_RmaWinRef win,
                                         uint64_t id)
{
    struct rank *rank = data;
    if (rank->function && strncmp(rank->function, "MPI_Win_flush", 13) == 0 && !rank->flushed)
        fprintf(line(rank, "MPI_Win_flush_all"), " %u\n", win);
    rank->flushed = true;
    return OTF2_CALLBACK_SUCCESS;
}

void otf2_set_rma_callbacks(OTF2_EvtReaderCallbacks *callbacks)
{
    OTF2_EvtReaderCallbacks_SetRmaWinCreateCallback(callbacks, create);
    OTF2_EvtReaderCallbacks_SetRmaWinDestroyCallback(callbacks, destroy);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(callbacks, put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(callbacks, get);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(callbacks, atomic);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(callbacks, collective_end);
    OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(callbacks, group_sync);
    OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(callbacks, request_lock);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(callbacks, release_lock);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(callbacks, complete_remote);
}
