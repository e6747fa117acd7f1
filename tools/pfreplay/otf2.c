/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Archives of OTF2 with the records that Score-P writes for MPI. Sizes of collectives are those of all that a
 * rank sends and receives: from these and the size of the communicator comes the count.
 */
#include "tools/pfreplay/otf2_rank.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "tools/pfreplay/text.h"

/* The library reports its errors here; the caller's line is enough. */
static OTF2_ErrorCode on_error(void *data, const char *file, uint64_t line, const char *function,
                               OTF2_ErrorCode code, const char *format, va_list args)
{
    return code;
}

static bool knows(const char *path, const char *head)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".otf2") == 0;
}

static const struct otf2_comm *comm_of(const struct rank *rank, OTF2_CommRef self)
{
    const struct otf2_comm *comm = otf2_comm_of(rank->all, self);
    if (!comm || comm->number < 0)
        otf2_refuse(rank, "its communicator is none that can be replayed");
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
    if (!function || rank->depth++ > 0)
        return OTF2_CALLBACK_SUCCESS;
    rank->function = function;
    rank->flushed = false;
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
    rank->messages = true;
    rank->received = (__typeof__(rank->received)){true, sender, tag, bytes, comm};
    if (!in_sendrecv(rank))
        put_sendrecv(rank);
    return OTF2_CALLBACK_SUCCESS;
}

static struct open_request *add_request(struct rank *rank, uint64_t self)
{
    PF_ARRAY_ROOM(rank->requests, rank->request_room, rank->request_count + 1);
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
        PF_ARRAY_ROOM(rank->completed, rank->completed_room, rank->completed_count + 1);
        rank->completed[rank->completed_count++] = one.number;
        return one;
    }
    otf2_refuse(rank, "a request is completed that was not started");
}

static OTF2_CallbackCode isend(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data,
                               OTF2_AttributeList *list, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                               uint64_t bytes, uint64_t self)
{
    struct rank *rank = data;
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
    complete(data, self);
    return OTF2_CALLBACK_SUCCESS;
}

/* The end of a receive reports what it has taken. */
static OTF2_CallbackCode irecv_request(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                       void *data, OTF2_AttributeList *list, uint64_t self)
{
    struct rank *rank = data;
    struct open_request *request = add_request(rank, self);
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
    rank->messages = true;
    if (request.fields < 0 || request.room > 0)
        otf2_refuse(rank, "a message is received by a request that does something else");
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
 * a receiver gives room for any. All of them together fit into an int, which some implementations count in.
 */
static uint64_t any_block(uint64_t count)
{
    return count > 4 ? INT32_MAX / count : (uint64_t)1 << (count == 4 ? 28 : 29);
}

/* What a rank has for itself is copied, by the same count on both sides. */
static void put_rooms(FILE *out, uint64_t count, uint64_t me, uint64_t own)
{
    fprintf(out, " %" PRIu64, count);
    for (uint64_t i = 0; i < count; i++)
        fprintf(out, " %" PRIu64, i == me ? own : any_block(count));
}

/* The function's name in a line: that of the nonblocking one where there is a request. */
static void put_name(FILE *out, const char *name, int request)
{
    fprintf(out, request < 0 ? "MPI_%c%s" : "MPI_I%c%s", request < 0 ? *name : *name | 0x20, name + 1);
}

/* A collective of the rank, without the rank in front. */
static void put_collective(struct rank *rank, FILE *out, OTF2_CollectiveOp op, OTF2_CommRef self,
                           uint32_t root, uint64_t out_bytes, uint64_t in, int request)
{
    const struct otf2_comm *comm = comm_of(rank, self);
    uint64_t n = (uint64_t)comm->count, me = (uint64_t)my_rank(rank, comm);
    bool at_root = root == me;
    rank->messages = true;
    switch (op) {
    case OTF2_COLLECTIVE_OP_BARRIER:
        put_name(out, "Barrier", request);
        break;
    case OTF2_COLLECTIVE_OP_BCAST:
        put_name(out, "Bcast", request);
        fprintf(out, " - %" PRIu64 " 6 %u", in ? in : block(out_bytes, n), root);
        break;
    case OTF2_COLLECTIVE_OP_GATHER:
        put_name(out, "Gather", request);
        in = at_root ? block(in, n) : out_bytes;
        fprintf(out, " - %" PRIu64 " 6 - %" PRIu64 " 6 %u", in, in, root);
        break;
    case OTF2_COLLECTIVE_OP_SCATTER:
        put_name(out, "Scatter", request);
        in = at_root ? block(out_bytes, n) : in;
        fprintf(out, " - %" PRIu64 " 6 - %" PRIu64 " 6 %u", in, in, root);
        break;
    case OTF2_COLLECTIVE_OP_GATHERV:
        put_name(out, "Gatherv", request);
        fprintf(out, " - %" PRIu64 " 6 -", out_bytes);
        put_counts(out, at_root ? (int)n : 0, in);
        fprintf(out, " 6 %u", root);
        break;
    case OTF2_COLLECTIVE_OP_SCATTERV:
        put_name(out, "Scatterv", request);
        fprintf(out, " -");
        put_counts(out, at_root ? (int)n : 0, block(out_bytes, n));
        fprintf(out, " 6 - %" PRIu64 " 6 %u", (uint64_t)1 << 29, root);
        break;
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
        put_name(out, "Allgather", request);
        in = block(in, n);
        fprintf(out, " - %" PRIu64 " 6 - %" PRIu64 " 6", in, in);
        break;
    case OTF2_COLLECTIVE_OP_ALLTOALL:
        put_name(out, "Alltoall", request);
        in = block(in, n);
        fprintf(out, " - %" PRIu64 " 6 - %" PRIu64 " 6", in, in);
        break;
    case OTF2_COLLECTIVE_OP_ALLTOALLV:
    case OTF2_COLLECTIVE_OP_ALLTOALLW:
        put_name(out, "Alltoallv", request);
        fprintf(out, " -");
        put_counts(out, (int)n, block(out_bytes, n));
        fprintf(out, " 6 -");
        put_rooms(out, n, me, block(out_bytes, n));
        fprintf(out, " 6");
        break;
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
        put_name(out, "Allreduce", request);
        fprintf(out, " - - %" PRIu64 " 6 user", block(out_bytes, n));
        break;
    case OTF2_COLLECTIVE_OP_REDUCE:
        put_name(out, "Reduce", request);
        fprintf(out, " - - %" PRIu64 " 6 user %u", out_bytes ? out_bytes : block(in, n), root);
        break;
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
        put_name(out, "Reduce_scatter_block", request);
        fprintf(out, " - - %" PRIu64 " 6 user", block(out_bytes, n));
        break;
    case OTF2_COLLECTIVE_OP_SCAN:
        put_name(out, "Scan", request);
        fprintf(out, " - - %" PRIu64 " 6 user", in / (me + 1));
        break;
    case OTF2_COLLECTIVE_OP_EXSCAN:
        put_name(out, "Exscan", request);
        in = me ? in / me : n > 1 ? out_bytes / (n - 1) : 0;
        fprintf(out, " - - %" PRIu64 " 6 user", in);
        break;
    default:
        otf2_refuse(rank, "a collective that is not known here");
    }
    fprintf(out, " %d", comm->number);
    if (request >= 0)
        fprintf(out, " %d", request);
}

static OTF2_CallbackCode collective(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                    void *data, OTF2_AttributeList *list, OTF2_CollectiveOp op,
                                    OTF2_CommRef self, uint32_t root, uint64_t sent_bytes,
                                    uint64_t received_bytes)
{
    struct rank *rank = data;
    if (op >= OTF2_COLLECTIVE_OP_CREATE_HANDLE)
        return OTF2_CALLBACK_SUCCESS;
    fprintf(rank->text->out, "%d ", rank->number);
    put_collective(rank, rank->text->out, op, self, root, sent_bytes, received_bytes, -1);
    fprintf(rank->text->out, "\n");
    return OTF2_CALLBACK_SUCCESS;
}

/* The end of a request reports its collective: its line has room, until then it stands for
 * nothing. */
static OTF2_CallbackCode collective_request(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                            void *data, OTF2_AttributeList *list, uint64_t self)
{
    struct rank *rank = data;
    struct open_request *request = add_request(rank, self);
    size_t length = rank->function ? strlen(rank->function) : 0;
    bool counts = length == 0 || strchr("vw", rank->function[length - 1]); /* one for each rank, twice */
    request->room = 120 + (counts ? 24 * rank->all->ranks : 0);
    fprintf(rank->text->out, "%d ", rank->number);
    request->fields = ftell(rank->text->out);
    fprintf(rank->text->out, "%-*s\n", request->room, "location");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode collective_complete(OTF2_LocationRef location, OTF2_TimeStamp time,
                                             uint64_t position, void *data, OTF2_AttributeList *list,
                                             OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
                                             uint64_t sent_bytes, uint64_t received_bytes, uint64_t self)
{
    struct rank *rank = data;
    struct open_request request = complete(rank, self);
    char *text = NULL;
    size_t length = 0;
    if (request.room == 0)
        otf2_refuse(rank, "a collective is completed by the request of a message");
    if (op >= OTF2_COLLECTIVE_OP_CREATE_HANDLE) /* communicators are there from the start */
        return OTF2_CALLBACK_SUCCESS;
    FILE *line = open_memstream(&text, &length);
    if (!line)
        pf_die("%s: out of memory", rank->all->path);
    put_collective(rank, line, op, comm, root, sent_bytes, received_bytes, request.number);
    fclose(line);
    if (length > (size_t)request.room)
        otf2_refuse(rank, "a collective that the function which has begun it cannot be");
    fflush(rank->text->out);
    fseek(rank->text->out, request.fields, SEEK_SET);
    fwrite(text, 1, length, rank->text->out);
    fseek(rank->text->out, 0, SEEK_END);
    free(text);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode cancelled(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                   void *data, OTF2_AttributeList *list, uint64_t self)
{
    otf2_refuse(data, "cancelled requests of an archive are not replayed");
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
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks, collective_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(callbacks, collective_complete);
    otf2_set_rma_callbacks(callbacks);
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
