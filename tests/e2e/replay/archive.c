/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes an archive as Score-P would of a small program on four ranks: archive FOLDER NAME [FAULT]. What the
 * program does stands in run_replay.py as lines, too. Groups: "groups" (for windows, too). Faults: "window"
 * (of no definition), "open" (a receive is not completed), "regions" (no messages), "other" (a collective
 * that its function cannot be).
 */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 4
enum {
    INIT,
    FINALIZE,
    SEND,
    RECV,
    ISEND,
    IRECV,
    WAITALL,
    SENDRECV,
    BARRIER,
    BCAST,
    GATHER,
    ALLREDUCE,
    ALLTOALL,
    REDUCE,
    IBARRIER,
    IALLREDUCE,
    IALLTOALLV,
    WIN_CREATE,
    FENCE,
    PUT,
    GET,
    ACCUMULATE,
    FETCH_AND_OP,
    START,
    POST,
    COMPLETE,
    WIN_WAIT,
    LOCK,
    FLUSH,
    UNLOCK,
    WIN_FREE,
    WORK,
    REGIONS
};
static const char *const regions[] = {
    "MPI_Init",       "MPI_Finalize",     "MPI_Send",         "MPI_Recv",
    "MPI_Isend",      "MPI_Irecv",        "MPI_Waitall",      "MPI_Sendrecv",
    "MPI_Barrier",    "MPI_Bcast",        "MPI_Gather",       "MPI_Allreduce",
    "MPI_Alltoall",   "MPI_Reduce",       "MPI_Ibarrier",     "MPI_Iallreduce",
    "MPI_Ialltoallv", "MPI_Win_create",   "MPI_Win_fence",    "MPI_Put",
    "MPI_Get",        "MPI_Accumulate",   "MPI_Fetch_and_op", "MPI_Win_start",
    "MPI_Win_post",   "MPI_Win_complete", "MPI_Win_wait",     "MPI_Win_lock",
    "MPI_Win_flush",  "MPI_Win_unlock",   "MPI_Win_free",     "work"};
enum { WORLD, EVEN, ODD };
static uint64_t now; /* ns */
static OTF2_EvtWriter *events;

static void check(OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS)
        exit(1);
}

static OTF2_FlushType before(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                             bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp after(void *data, OTF2_FileType type, OTF2_LocationRef location)
{
    (void)data, (void)type, (void)location;
    return now;
}

static void enter(int region)
{
    check(OTF2_EvtWriter_Enter(events, NULL, now, (OTF2_RegionRef)region));
}

static void leave(int region)
{
    now += 1000;
    check(OTF2_EvtWriter_Leave(events, NULL, now, (OTF2_RegionRef)region));
}

static void compute(uint64_t ns)
{
    enter(WORK);
    now += ns;
    check(OTF2_EvtWriter_Leave(events, NULL, now, WORK));
}

static void collective(int region, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
                       uint64_t received)
{
    enter(region);
    check(OTF2_EvtWriter_MpiCollectiveBegin(events, NULL, now));
    check(OTF2_EvtWriter_MpiCollectiveEnd(events, NULL, now, op, comm, root, sent, received));
    leave(region);
}

static void messages(uint32_t rank, const char *fault)
{
    uint32_t next = (rank + 1) % RANKS, last = (rank + RANKS - 1) % RANKS;
    if (rank == 0) {
        enter(SEND);
        check(OTF2_EvtWriter_MpiSend(events, NULL, now, 1, WORLD, 7, 5000));
        leave(SEND);
    }
    if (rank == 1) {
        enter(RECV);
        check(OTF2_EvtWriter_MpiRecv(events, NULL, now, 0, WORLD, 7, 5000));
        leave(RECV);
    }
    enter(IRECV);
    check(OTF2_EvtWriter_MpiIrecvRequest(events, NULL, now, 100));
    leave(IRECV);
    enter(ISEND);
    check(OTF2_EvtWriter_MpiIsend(events, NULL, now, next, WORLD, 8, 70000, 101));
    leave(ISEND);
    compute(250000);
    enter(WAITALL);
    if (strcmp(fault, "open") != 0)
        check(OTF2_EvtWriter_MpiIrecv(events, NULL, now, last, WORLD, 8, 70000, 100));
    check(OTF2_EvtWriter_MpiIsendComplete(events, NULL, now, 101));
    leave(WAITALL);
    enter(SENDRECV);
    check(OTF2_EvtWriter_MpiSend(events, NULL, now, next, WORLD, 9, 300));
    check(OTF2_EvtWriter_MpiRecv(events, NULL, now, last, WORLD, 9, 300));
    leave(SENDRECV);
    /* In the half of the world of which this is the first or second. */
    OTF2_CommRef half = rank % 2 ? ODD : EVEN;
    enter(rank < 2 ? SEND : RECV);
    if (rank < 2)
        check(OTF2_EvtWriter_MpiSend(events, NULL, now, 1, half, 1, 900));
    else
        check(OTF2_EvtWriter_MpiRecv(events, NULL, now, 0, half, 1, 900));
    leave(rank < 2 ? SEND : RECV);
}

static void collectives(uint32_t rank)
{
    uint32_t n = RANKS;
    collective(BARRIER, OTF2_COLLECTIVE_OP_BARRIER, WORLD, OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
    collective(BCAST, OTF2_COLLECTIVE_OP_BCAST, WORLD, 1, rank == 1 ? n * 8000 : 0, 8000);
    collective(GATHER, OTF2_COLLECTIVE_OP_GATHER, WORLD, 2, 400, rank == 2 ? n * 400 : 0);
    collective(REDUCE, OTF2_COLLECTIVE_OP_REDUCE, WORLD, 0, 640, rank == 0 ? n * 640 : 0);
    collective(ALLREDUCE, OTF2_COLLECTIVE_OP_ALLREDUCE, WORLD, OTF2_COLLECTIVE_ROOT_NONE, n * 80, n * 80);
    collective(ALLTOALL, OTF2_COLLECTIVE_OP_ALLTOALL, WORLD, OTF2_COLLECTIVE_ROOT_NONE, n * 1200, n * 1200);
    collective(ALLREDUCE, OTF2_COLLECTIVE_OP_ALLREDUCE, rank % 2 ? ODD : EVEN, OTF2_COLLECTIVE_ROOT_NONE,
               2 * 48, 2 * 48);
}

static void request(int region, uint64_t id)
{
    enter(region);
    check(OTF2_EvtWriter_NonBlockingCollectiveRequest(events, NULL, now, id));
    leave(region);
}

static void nonblocking(void)
{
    uint64_t n = RANKS;
    request(IBARRIER, 200);
    request(IALLREDUCE, 201);
    request(IALLTOALLV, 202);
    enter(WAITALL);
    check(OTF2_EvtWriter_NonBlockingCollectiveComplete(events, NULL, now, OTF2_COLLECTIVE_OP_BARRIER, WORLD,
                                                       OTF2_COLLECTIVE_ROOT_NONE, 0, 0, 200));
    check(OTF2_EvtWriter_NonBlockingCollectiveComplete(events, NULL, now, OTF2_COLLECTIVE_OP_ALLREDUCE, WORLD,
                                                       OTF2_COLLECTIVE_ROOT_NONE, n * 640, n * 640, 201));
    check(OTF2_EvtWriter_NonBlockingCollectiveComplete(events, NULL, now, OTF2_COLLECTIVE_OP_ALLTOALLV, WORLD,
                                                       OTF2_COLLECTIVE_ROOT_NONE, n * 500000, n * 500000,
                                                       202));
    leave(WAITALL);
}

static void fence(void)
{
    enter(FENCE);
    check(OTF2_EvtWriter_RmaCollectiveBegin(events, NULL, now));
    check(OTF2_EvtWriter_RmaCollectiveEnd(events, NULL, now, OTF2_COLLECTIVE_OP_BARRIER,
                                          OTF2_RMA_SYNC_LEVEL_MEMORY | OTF2_RMA_SYNC_LEVEL_PROCESS, 0,
                                          OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
    leave(FENCE);
}

static void group_sync(int region, OTF2_GroupRef group)
{
    enter(region);
    check(OTF2_EvtWriter_RmaGroupSync(events, NULL, now, OTF2_RMA_SYNC_LEVEL_PROCESS, 0, group));
    leave(region);
}

/* The even ranks have a window. */
static void windows(uint32_t rank, bool groups)
{
    uint32_t other = 1 - rank / 2;
    if (rank % 2)
        return;
    enter(WIN_CREATE);
    check(OTF2_EvtWriter_RmaWinCreate(events, NULL, now, 0));
    leave(WIN_CREATE);
    fence();
    enter(PUT);
    check(OTF2_EvtWriter_RmaPut(events, NULL, now, 0, other, 5000, 1));
    leave(PUT);
    enter(GET);
    check(OTF2_EvtWriter_RmaGet(events, NULL, now, 0, other, 100000, 2));
    leave(GET);
    fence();
    if (groups) {
        group_sync(POST, 4 + rank / 2);
        group_sync(START, 4 + rank / 2);
        enter(ACCUMULATE);
        check(OTF2_EvtWriter_RmaAtomic(events, NULL, now, 0, other, OTF2_RMA_ATOMIC_TYPE_ACCUMULATE, 800, 0,
                                       3));
        leave(ACCUMULATE);
        group_sync(COMPLETE, 4 + rank / 2);
        group_sync(WIN_WAIT, 4 + rank / 2);
    }
    enter(LOCK);
    check(OTF2_EvtWriter_RmaRequestLock(events, NULL, now, 0, other, 0, OTF2_LOCK_EXCLUSIVE));
    leave(LOCK);
    enter(FETCH_AND_OP);
    check(OTF2_EvtWriter_RmaAtomic(events, NULL, now, 0, other, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ADD, 8, 8, 4));
    leave(FETCH_AND_OP);
    enter(FLUSH);
    check(OTF2_EvtWriter_RmaOpCompleteRemote(events, NULL, now, 0, 4));
    leave(FLUSH);
    enter(UNLOCK);
    check(OTF2_EvtWriter_RmaReleaseLock(events, NULL, now, 0, other, 0));
    leave(UNLOCK);
    enter(WIN_FREE);
    check(OTF2_EvtWriter_RmaWinDestroy(events, NULL, now, 0));
    leave(WIN_FREE);
}

static void write_rank(OTF2_Archive *archive, uint32_t rank, const char *fault)
{
    events = OTF2_Archive_GetEvtWriter(archive, rank);
    now = 1000000;
    enter(INIT);
    leave(INIT);
    compute(1500000);
    if (strcmp(fault, "window") == 0)
        check(OTF2_EvtWriter_RmaWinCreate(events, NULL, now, 99));
    if (strcmp(fault, "regions") != 0) {
        messages(rank, fault);
        collectives(rank);
        nonblocking();
        windows(rank, strcmp(fault, "groups") == 0);
    }
    compute(100000);
    enter(FINALIZE);
    leave(FINALIZE);
    check(OTF2_Archive_CloseEvtWriter(archive, events));
}

static void define(OTF2_Archive *archive)
{
    OTF2_GlobalDefWriter *d = OTF2_Archive_GetGlobalDefWriter(archive);
    uint64_t all[] = {0, 1, 2, 3}, even[] = {0, 2}, odd[] = {1, 3};
    check(OTF2_GlobalDefWriter_WriteClockProperties(d, 1000000000, 0, now, OTF2_UNDEFINED_TIMESTAMP));
    check(OTF2_GlobalDefWriter_WriteString(d, 0, "x"));
    for (uint32_t i = 0; i < REGIONS; i++) {
        check(OTF2_GlobalDefWriter_WriteString(d, 1 + i, regions[i]));
        check(OTF2_GlobalDefWriter_WriteRegion(d, i, 1 + i, 1 + i, 0, OTF2_REGION_ROLE_FUNCTION,
                                               i == WORK ? OTF2_PARADIGM_USER : OTF2_PARADIGM_MPI,
                                               OTF2_REGION_FLAG_NONE, 0, 0, 0));
    }
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        check(OTF2_GlobalDefWriter_WriteLocationGroup(d, rank, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                      OTF2_UNDEFINED_LOCATION_GROUP));
        check(OTF2_GlobalDefWriter_WriteLocation(d, rank, 0, OTF2_LOCATION_TYPE_CPU_THREAD, 10, rank));
    }
    check(OTF2_GlobalDefWriter_WriteGroup(d, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, RANKS, all));
    check(OTF2_GlobalDefWriter_WriteGroup(d, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, RANKS, all));
    check(OTF2_GlobalDefWriter_WriteGroup(d, 2, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, 2, even));
    check(OTF2_GlobalDefWriter_WriteGroup(d, 3, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, 2, odd));
    for (OTF2_GroupRef one = 4; one < 6; one++) /* the other one of the even ranks */
        check(OTF2_GlobalDefWriter_WriteGroup(d, one, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                              OTF2_GROUP_FLAG_NONE, 1, &even[5 - one]));
    for (uint32_t comm = 0; comm < 3; comm++)
        check(OTF2_GlobalDefWriter_WriteComm(d, comm, 0, comm + 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    check(OTF2_GlobalDefWriter_WriteRmaWin(d, 0, 0, EVEN, OTF2_RMA_WIN_FLAG_NONE));
    check(OTF2_Archive_CloseGlobalDefWriter(archive, d));
}

int main(int argc, char **argv)
{
    static OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = before, .otf2_post_flush = after};
    if (argc < 3)
        return 2;
    OTF2_Archive *archive = OTF2_Archive_Open(argv[1], argv[2], OTF2_FILEMODE_WRITE, 1 << 20, 1 << 22,
                                              OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!archive)
        return 1;
    check(OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL));
    check(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
    check(OTF2_Archive_OpenEvtFiles(archive));
    for (uint32_t rank = 0; rank < RANKS; rank++)
        write_rank(archive, rank, argc > 3 ? argv[3] : "");
    check(OTF2_Archive_CloseEvtFiles(archive));
    define(archive);
    return OTF2_Archive_Close(archive) != OTF2_SUCCESS;
}
