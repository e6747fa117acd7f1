/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Archives of OTF2 with the records that Score-P writes for MPI. Sizes of collectives are those of all that a
 * rank sends and receives: from these and the size of the communicator comes the count.
 */
#include "tools/pfreplay/otf2.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "tools/pfreplay/text.h"

/* A nonblocking message that has not been completed. */
struct open_request {
    uint64_t self;
    int number;
    long fields; /* of a receive: where source, tag, bytes and communicator are to be written; -1: none */
};

struct rank {
    struct otf2_definitions *all;
    struct replay_text *text;
    int number;
    double since; /* ticks at the end of the last MPI call; -1 before MPI_Init */
    const char *function;
    int depth; /* of MPI calls in each other */
    struct open_request *requests;
    int request_count, request_room, next;
    int *completed; /* in the call that is going on */
    int completed_count, completed_room;
    struct {
        bool is;
        uint32_t partner, tag;
        uint64_t bytes;
        OTF2_CommRef comm;
    } sent, received; /* in an MPI_Sendrecv */
    bool begun, ended, messages;
};

/* The library tells its errors to this; the caller's line is enough. */
static OTF2_ErrorCode on_error(void *data, const char *file, uint64_t line, const char *function,
                               OTF2_ErrorCode code, const char *format, va_list args)
{
    (void)data, (void)file, (void)line, (void)function, (void)format, (void)args;
    return code;
}

static bool knows(const char *path, const char *head)
{
    size_t length = strlen(path);
    (void)head;
    return length > 5 && strcmp(path + length - 5, ".otf2") == 0;
}

static _Noreturn void refuse(const struct rank *rank, const char *what)
{
    pf_die("%s: rank %d, in %s: %s", rank->all->path, rank->number,
           rank->function ? rank->function : "no MPI function", what);
}

static const struct otf2_comm *comm_of(const struct rank *rank, OTF2_CommRef self)
{
    const struct otf2_comm *comm = otf2_comm_of(rank->all, self);
    if (!comm || comm->number < 0)
        refuse(rank, "its communicator is none that can be replayed");
    return comm;
}

static void put_comm(const struct rank *rank, OTF2_CommRef self)
{
    int number = comm_of(rank, self)->number;
    if (number)
        fprintf(rank->text->out, " comm=%d", number);
}

/* Communicators are made before anything else, by all their members in the same order. */
static void begin(struct rank *rank)
{
    fprintf(rank->text->out, "%d init\n", rank->number);
    for (int i = 0; i < rank->all->comm_count; i++) {
        const struct otf2_comm *comm = &rank->all->comms[i];
        bool member = false;
        for (int k = 0; comm->number >= 2 && k < comm->count; k++)
            member |= comm->members[k] == rank->number;
        if (!member)
            continue;
        fprintf(rank->text->out, "%d MPI_Comm_create_group 0 %d", rank->number, comm->count);
        for (int k = 0; k < comm->count; k++)
            fprintf(rank->text->out, " %d", comm->members[k]);
        fprintf(rank->text->out, " %d %d\n", i, comm->number);
    }
    rank->begun = true;
}

static OTF2_CallbackCode enter(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data,
                               OTF2_AttributeList *list, OTF2_RegionRef region)
{
    struct rank *rank = data;
    const char *function = otf2_function(rank->all, region);
    (void)location, (void)position, (void)list;
    if (!function || rank->depth++ > 0)
        return OTF2_CALLBACK_SUCCESS;
    rank->function = function;
    double flops = ((double)time - rank->since) / rank->all->ticks * 1e9;
    if (rank->since >= 0 && flops > 0)
        fprintf(rank->text->out, "%d compute %.17g\n", rank->number, flops);
    if (!rank->begun)
        begin(rank);
    if (strcmp(function, "MPI_Finalize") == 0) {
        fprintf(rank->text->out, "%d finalize\n", rank->number);
        rank->ended = true;
    }
    return OTF2_CALLBACK_SUCCESS;
}

static void put_sendrecv(struct rank *rank)
{
    FILE *out = rank->text->out;
    bool both = rank->sent.is && rank->received.is;
    if (both)
        fprintf(out, "%d sendRecv %" PRIu64 " %u %" PRIu64 " %u 6 6 stag=%u rtag=%u", rank->number,
                rank->sent.bytes, rank->sent.partner, rank->received.bytes, rank->received.partner,
                rank->sent.tag, rank->received.tag);
    else if (rank->sent.is)
        fprintf(out, "%d send %u %u %" PRIu64 " 6", rank->number, rank->sent.partner, rank->sent.tag,
                rank->sent.bytes);
    else
        fprintf(out, "%d recv %u %u %" PRIu64 " 6", rank->number, rank->received.partner, rank->received.tag,
                rank->received.bytes);
    put_comm(rank, rank->sent.is ? rank->sent.comm : rank->received.comm);
    fprintf(out, "\n");
    rank->sent.is = rank->received.is = false;
}

static OTF2_CallbackCode leave(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data,
                               OTF2_AttributeList *list, OTF2_RegionRef region)
{
    struct rank *rank = data;
    (void)location, (void)position, (void)list;
    if (!otf2_function(rank->all, region) || rank->depth == 0 || --rank->depth > 0)
        return OTF2_CALLBACK_SUCCESS;
    if (rank->sent.is || rank->received.is)
        put_sendrecv(rank);
    if (rank->completed_count) {
        fprintf(rank->text->out, "%d waitall %d", rank->number, rank->completed_count);
        for (int i = 0; i < rank->completed_count; i++)
            fprintf(rank->text->out, " %d", rank->completed[i]);
        fprintf(rank->text->out, "\n");
        rank->completed_count = 0;
    }
    rank->since = (double)time;
    rank->function = NULL;
    return OTF2_CALLBACK_SUCCESS;
}

static bool in_sendrecv(const struct rank *rank)
{
    return rank->function && strncmp(rank->function, "MPI_Sendrecv", 12) == 0;
}

static OTF2_CallbackCode sent(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data,
                              OTF2_AttributeList *list, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                              uint64_t bytes)
{
    struct rank *rank = data;
    (void)location, (void)position, (void)list, (void)time;
    rank->messages = true;
    if (in_sendrecv(rank)) {
        rank->sent = (__typeof__(rank->sent)){true, receiver, tag, bytes, comm};
        return OTF2_CALLBACK_SUCCESS;
    }
    const char *action = rank->function && strcmp(rank->function, "MPI_Ssend") == 0 ? "ssend" : "send";
    fprintf(rank->text->out, "%d %s %u %u %" PRIu64 " 6", rank->number, action, receiver, tag, bytes);
    put_comm(rank, comm);
    fprintf(rank->text->out, "\n");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode received(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                  void *data, OTF2_AttributeList *list, uint32_t sender, OTF2_CommRef comm,
                                  uint32_t tag, uint64_t bytes)
{
    struct rank *rank = data;
    (void)location, (void)position, (void)list, (void)time;
    rank->messages = true;
    rank->received = (__typeof__(rank->received)){true, sender, tag, bytes, comm};
    if (!in_sendrecv(rank))
        put_sendrecv(rank);
    return OTF2_CALLBACK_SUCCESS;
}

static struct open_request *add_request(struct rank *rank, uint64_t self)
{
    if (rank->request_count == rank->request_room) {
        rank->request_room = rank->request_room ? 2 * rank->request_room : 16;
        rank->requests = pf_reallocarray(rank->requests, (size_t)rank->request_room, sizeof *rank->requests);
    }
    struct open_request *request = &rank->requests[rank->request_count++];
    *request = (struct open_request){.self = self, .fields = -1};
    /* The least number that is free: few are open at a time. */
    for (int i = 0; i + 1 < rank->request_count; i++)
        if (rank->requests[i].number == request->number) {
            request->number++;
            i = -1;
        }
    return request;
}

/* Takes it out; its number stays in use until the call is over. */
static struct open_request complete(struct rank *rank, uint64_t self)
{
    for (int i = 0; i < rank->request_count; i++) {
        struct open_request one = rank->requests[i];
        if (one.self != self)
            continue;
        rank->requests[i] = rank->requests[--rank->request_count];
        if (rank->completed_count == rank->completed_room) {
            rank->completed_room = rank->completed_room ? 2 * rank->completed_room : 16;
            rank->completed =
                pf_reallocarray(rank->completed, (size_t)rank->completed_room, sizeof *rank->completed);
        }
        rank->completed[rank->completed_count++] = one.number;
        return one;
    }
    refuse(rank, "a request is completed that nobody has started");
}

static OTF2_CallbackCode isend(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data,
                               OTF2_AttributeList *list, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                               uint64_t bytes, uint64_t self)
{
    struct rank *rank = data;
    (void)location, (void)position, (void)list, (void)time;
    rank->messages = true;
    const char *action = rank->function && strcmp(rank->function, "MPI_Issend") == 0 ? "issend" : "isend";
    fprintf(rank->text->out, "%d %s %u %u %" PRIu64 " 6 req=%d", rank->number, action, receiver, tag, bytes,
            add_request(rank, self)->number);
    put_comm(rank, comm);
    fprintf(rank->text->out, "\n");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode isend_complete(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                        void *data, OTF2_AttributeList *list, uint64_t self)
{
    (void)location, (void)position, (void)list, (void)time;
    complete(data, self);
    return OTF2_CALLBACK_SUCCESS;
}

/* What a receive takes is told when it is complete. */
static OTF2_CallbackCode irecv_request(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                       void *data, OTF2_AttributeList *list, uint64_t self)
{
    struct rank *rank = data;
    struct open_request *request = add_request(rank, self);
    (void)location, (void)position, (void)list, (void)time;
    fprintf(rank->text->out, "%d irecv", rank->number);
    request->fields = ftell(rank->text->out);
    fprintf(rank->text->out, " %10d %10d %20d 6 comm=%10d req=%d\n", -555, -444, 0, 0, request->number);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode irecv(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data,
                               OTF2_AttributeList *list, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                               uint64_t bytes, uint64_t self)
{
    struct rank *rank = data;
    struct open_request request = complete(rank, self);
    (void)location, (void)position, (void)list, (void)time;
    rank->messages = true;
    if (request.fields < 0)
        refuse(rank, "a message is received by a request that sends");
    fflush(rank->text->out);
    fseek(rank->text->out, request.fields, SEEK_SET);
    fprintf(rank->text->out, " %10u %10u %20" PRIu64 " 6 comm=%10d", sender, tag, bytes,
            comm_of(rank, comm)->number);
    fseek(rank->text->out, 0, SEEK_END);
    return OTF2_CALLBACK_SUCCESS;
}

static int my_rank(const struct rank *rank, const struct otf2_comm *comm)
{
    for (int i = 0; i < comm->count && comm->members; i++)
        if (comm->members[i] == rank->number)
            return i;
    return 0;
}

/* The block of one rank, of `blocks` in all; one less if the rank's own stayed where it was. */
static uint64_t block(uint64_t bytes, uint64_t blocks)
{
    return blocks > 1 && bytes % blocks && bytes % (blocks - 1) == 0 ? bytes / (blocks - 1)
                                                                     : bytes / (blocks ? blocks : 1);
}

static void put_counts(FILE *out, int count, uint64_t value)
{
    fprintf(out, " %d", count);
    for (int i = 0; i < count; i++)
        fprintf(out, " %" PRIu64, value);
}

/* Of a collective whose ranks have blocks of their own, an archive has the sums only: senders know theirs;
 * who receives gives room for any. */
#define ANY_BLOCK ((uint64_t)1 << 29)

static OTF2_CallbackCode collective(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                    void *data, OTF2_AttributeList *list, OTF2_CollectiveOp op,
                                    OTF2_CommRef self, uint32_t root, uint64_t sent_bytes,
                                    uint64_t received_bytes)
{
    struct rank *rank = data;
    (void)location, (void)position, (void)list, (void)time;
    if (op >= OTF2_COLLECTIVE_OP_CREATE_HANDLE)
        return OTF2_CALLBACK_SUCCESS;
    const struct otf2_comm *comm = comm_of(rank, self);
    uint64_t n = (uint64_t)comm->count, me = (uint64_t)my_rank(rank, comm), in = received_bytes,
             out_bytes = sent_bytes;
    bool at_root = root == me;
    FILE *out = rank->text->out;
    rank->messages = true;
    fprintf(out, "%d ", rank->number);
    switch (op) {
    case OTF2_COLLECTIVE_OP_BARRIER:
        fprintf(out, "MPI_Barrier %d\n", comm->number);
        break;
    case OTF2_COLLECTIVE_OP_BCAST:
        fprintf(out, "MPI_Bcast - %" PRIu64 " 6 %u %d\n", in ? in : block(out_bytes, n), root, comm->number);
        break;
    case OTF2_COLLECTIVE_OP_GATHER:
        in = at_root ? block(in, n) : out_bytes;
        fprintf(out, "MPI_Gather - %" PRIu64 " 6 - %" PRIu64 " 6 %u %d\n", in, in, root, comm->number);
        break;
    case OTF2_COLLECTIVE_OP_SCATTER:
        in = at_root ? block(out_bytes, n) : in;
        fprintf(out, "MPI_Scatter - %" PRIu64 " 6 - %" PRIu64 " 6 %u %d\n", in, in, root, comm->number);
        break;
    case OTF2_COLLECTIVE_OP_GATHERV:
        fprintf(out, "MPI_Gatherv - %" PRIu64 " 6 -", out_bytes);
        put_counts(out, at_root ? (int)n : 0, in);
        fprintf(out, " 6 %u %d\n", root, comm->number);
        break;
    case OTF2_COLLECTIVE_OP_SCATTERV:
        fprintf(out, "MPI_Scatterv -");
        put_counts(out, at_root ? (int)n : 0, block(out_bytes, n));
        fprintf(out, " 6 - %" PRIu64 " 6 %u %d\n", ANY_BLOCK, root, comm->number);
        break;
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
        in = block(in, n);
        fprintf(out, "MPI_Allgather - %" PRIu64 " 6 - %" PRIu64 " 6 %d\n", in, in, comm->number);
        break;
    case OTF2_COLLECTIVE_OP_ALLTOALL:
        in = block(in, n);
        fprintf(out, "MPI_Alltoall - %" PRIu64 " 6 - %" PRIu64 " 6 %d\n", in, in, comm->number);
        break;
    case OTF2_COLLECTIVE_OP_ALLTOALLV:
    case OTF2_COLLECTIVE_OP_ALLTOALLW:
        fprintf(out, "MPI_Alltoallv -");
        put_counts(out, (int)n, block(out_bytes, n));
        fprintf(out, " 6 -");
        put_counts(out, (int)n, ANY_BLOCK);
        fprintf(out, " 6 %d\n", comm->number);
        break;
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
        fprintf(out, "MPI_Allreduce - - %" PRIu64 " 6 user %d\n", block(out_bytes, n), comm->number);
        break;
    case OTF2_COLLECTIVE_OP_REDUCE:
        fprintf(out, "MPI_Reduce - - %" PRIu64 " 6 user %u %d\n", out_bytes ? out_bytes : block(in, n), root,
                comm->number);
        break;
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
        fprintf(out, "MPI_Reduce_scatter_block - - %" PRIu64 " 6 user %d\n", block(out_bytes, n),
                comm->number);
        break;
    case OTF2_COLLECTIVE_OP_SCAN:
        fprintf(out, "MPI_Scan - - %" PRIu64 " 6 user %d\n", in / (me + 1), comm->number);
        break;
    case OTF2_COLLECTIVE_OP_EXSCAN:
        in = me ? in / me : n > 1 ? out_bytes / (n - 1) : 0;
        fprintf(out, "MPI_Exscan - - %" PRIu64 " 6 user %d\n", in, comm->number);
        break;
    default:
        refuse(rank, "a collective that is not known here");
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode nonblocking_collective(OTF2_LocationRef location, OTF2_TimeStamp time,
                                                uint64_t position, void *data, OTF2_AttributeList *list,
                                                uint64_t self)
{
    (void)location, (void)position, (void)list, (void)time, (void)self;
    refuse(data, "nonblocking collectives of an archive are not replayed");
}

static OTF2_CallbackCode cancelled(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                   void *data, OTF2_AttributeList *list, uint64_t self)
{
    (void)location, (void)position, (void)list, (void)time, (void)self;
    refuse(data, "cancelled requests of an archive are not replayed");
}

static OTF2_CallbackCode window(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data,
                                OTF2_AttributeList *list, OTF2_RmaWinRef win)
{
    (void)location, (void)position, (void)list, (void)time, (void)win;
    refuse(data, "one-sided communication of an archive is not replayed");
}

static void set_callbacks(OTF2_EvtReaderCallbacks *callbacks)
{
    OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks, sent);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks, received);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks, isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(callbacks, irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(callbacks, cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, collective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks, nonblocking_collective);
    OTF2_EvtReaderCallbacks_SetRmaWinCreateCallback(callbacks, window);
}

/* Whether the rank has a message or a collective. */
static bool read_rank(struct otf2_definitions *all, struct replay_text *text, int number)
{
    struct rank rank = {.all = all, .text = text, .number = number, .since = -1};
    uint64_t count = 0;
    OTF2_DefReader *local = OTF2_Reader_GetDefReader(all->reader, all->locations[number]);
    if (local) {
        OTF2_Reader_ReadAllLocalDefinitions(all->reader, local, &count);
        OTF2_Reader_CloseDefReader(all->reader, local);
    }
    OTF2_EvtReader *reader = OTF2_Reader_GetEvtReader(all->reader, all->locations[number]);
    OTF2_EvtReaderCallbacks *callbacks = OTF2_EvtReaderCallbacks_New();
    set_callbacks(callbacks);
    if (!reader || OTF2_Reader_RegisterEvtCallbacks(all->reader, reader, callbacks, &rank) != OTF2_SUCCESS)
        pf_die("%s: the events of rank %d are missing", all->path, number);
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    if (OTF2_Reader_ReadAllLocalEvents(all->reader, reader, &count) != OTF2_SUCCESS)
        pf_die("%s: the events of rank %d are damaged", all->path, number);
    OTF2_Reader_CloseEvtReader(all->reader, reader);
    if (!rank.ended)
        pf_die("%s: rank %d does not come to MPI_Finalize", all->path, number);
    if (rank.request_count)
        pf_die("%s: rank %d: %d messages are never completed", all->path, number, rank.request_count);
    free(rank.requests);
    free(rank.completed);
    return rank.messages;
}

/* Our own archive has the lines themselves. Those of a rank stand together. */
static void copy_recording(const struct otf2_definitions *all, struct replay_text *text)
{
    int ranks = 0;
    for (int i = 0; i < all->property_count; i++)
        ranks += i == 0 || all->properties[i].location != all->properties[i - 1].location;
    replay_text_begin(text, ranks);
    for (int i = 0; i < all->property_count; i++)
        fputs(all->properties[i].text, text->out);
}

static void otf2_open(struct replay_source *source, const char *path)
{
    struct otf2_definitions all;
    struct replay_text text;
    bool messages = false;
    OTF2_Error_RegisterCallback(on_error, NULL);
    otf2_definitions_read(&all, path);
    if (all.property_count) {
        copy_recording(&all, &text);
        OTF2_Reader_Close(all.reader);
        replay_text_end(&text, source, pf_asprintf("%s (as text)", path));
        return;
    }
    for (int rank = 0; rank < all.ranks; rank++)
        OTF2_Reader_SelectLocation(all.reader, all.locations[rank]);
    bool local = OTF2_Reader_OpenDefFiles(all.reader) == OTF2_SUCCESS;
    if (OTF2_Reader_OpenEvtFiles(all.reader) != OTF2_SUCCESS)
        pf_die("%s: the archive has no events", path);
    replay_text_begin(&text, all.ranks);
    for (int rank = 0; rank < all.ranks; rank++)
        messages |= read_rank(&all, &text, rank);
    if (local)
        OTF2_Reader_CloseDefFiles(all.reader);
    OTF2_Reader_CloseEvtFiles(all.reader);
    OTF2_Reader_Close(all.reader);
    if (!messages)
        pf_die("%s: the archive has regions, but no records of messages or collectives (pfrun -trace "
               "replay:FILE records them)",
               path);
    replay_text_end(&text, source, pf_asprintf("%s (as text)", path));
}

const struct replay_source_ops replay_otf2 = {.size = sizeof replay_otf2,
                                              .name = "otf2",
                                              .knows = knows,
                                              .open = otf2_open,
                                              .next = replay_ti_next,
                                              .file = replay_ti_file,
                                              .line = replay_ti_line};
