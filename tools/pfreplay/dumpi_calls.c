/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of a DUMPI file as our lines: one row for each function. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tools/pfreplay/dumpi.h"

/* DUMPI's numbers of what MPI predefines. */
enum { COMM_NULL = 1, COMM_WORLD = 2, REQUEST_NULL = 1, FIRST_USER_OP = 15, ANY = -1 };
/* Ours, which are SMPI's. */
enum { ANY_SOURCE = -555, ANY_TAG = -444, NO_RANK = -666, UNDEFINED = -333 };

/*
 * The words of a line. One without a colon stands for itself, one with it is KIND:FIELD, the argument FIELD
 * written as
 *   i  a number                        d  a datatype            c  a communicator
 *   r  a rank                          t  a tag                 k  a communicator behind comm=, if it is not
 * the world s  the source of a receive, T its tag: those of the message that it got, where the file has them
 *   q  a new request; behind req=: Q   p  a persistent request  f  a request that is known, once its call is
 * over n  a new communicator              a  an array              o  an operation, whose datatype is
 * `datatype` g  a number, G a datatype, H an array: zero, a byte, none where the rank is not the root w  a
 * window                        m  the members of a group
 */
static const struct {
    const char *function, *line;
} calls[] = {
    {"Send", "send r:dest t:tag i:count d:datatype k:comm"},
    {"Bsend", "bsend r:dest t:tag i:count d:datatype k:comm"},
    {"Ssend", "ssend r:dest t:tag i:count d:datatype k:comm"},
    {"Rsend", "rsend r:dest t:tag i:count d:datatype k:comm"},
    {"Isend", "isend r:dest t:tag i:count d:datatype Q:request k:comm"},
    {"Ibsend", "ibsend r:dest t:tag i:count d:datatype Q:request k:comm"},
    {"Issend", "issend r:dest t:tag i:count d:datatype Q:request k:comm"},
    {"Irsend", "irsend r:dest t:tag i:count d:datatype Q:request k:comm"},
    {"Recv", "recv s:source T:tag i:count d:datatype k:comm"},
    {"Irecv", "irecv s:source T:tag i:count d:datatype Q:request k:comm"},
    {"Probe", "probe s:source T:tag k:comm"},
    {"Iprobe", "iprobe s:source T:tag done:flag k:comm"},
    {"Sendrecv", "sendRecv i:sendcount r:dest i:recvcount s:source d:sendtype d:recvtype stag:sendtag "
                 "rtag:recvtag k:comm"},
    {"Sendrecv_replace",
     "MPI_Sendrecv_replace i:count d:datatype r:dest t:sendtag s:source T:recvtag c:comm"},
    {"Send_init", "MPI_Send_init i:count d:datatype r:dest t:tag c:comm p:request"},
    {"Bsend_init", "MPI_Bsend_init i:count d:datatype r:dest t:tag c:comm p:request"},
    {"Ssend_init", "MPI_Ssend_init i:count d:datatype r:dest t:tag c:comm p:request"},
    {"Rsend_init", "MPI_Rsend_init i:count d:datatype r:dest t:tag c:comm p:request"},
    {"Recv_init", "MPI_Recv_init i:count d:datatype s:source t:tag c:comm p:request"},
    {"Buffer_attach", "MPI_Buffer_attach i:size"},
    {"Buffer_detach", "MPI_Buffer_detach"},
    {"Pcontrol", "MPI_Pcontrol i:level"},
    {"Barrier", "MPI_Barrier c:comm"},
    {"Bcast", "MPI_Bcast - i:count d:datatype r:root c:comm"},
    {"Gather", "MPI_Gather - i:sendcount d:sendtype - g:recvcount G:recvtype r:root c:comm"},
    {"Gatherv", "MPI_Gatherv - i:sendcount d:sendtype - H:recvcounts G:recvtype r:root c:comm"},
    {"Scatter", "MPI_Scatter - g:sendcount G:sendtype - i:recvcount d:recvtype r:root c:comm"},
    {"Scatterv", "MPI_Scatterv - H:sendcounts G:sendtype - i:recvcount d:recvtype r:root c:comm"},
    {"Allgather", "MPI_Allgather - i:sendcount d:sendtype - i:recvcount d:recvtype c:comm"},
    {"Allgatherv", "MPI_Allgatherv - i:sendcount d:sendtype - a:recvcounts d:recvtype c:comm"},
    {"Alltoall", "MPI_Alltoall - i:sendcount d:sendtype - i:recvcount d:recvtype c:comm"},
    {"Alltoallv", "MPI_Alltoallv - a:sendcounts d:sendtype - a:recvcounts d:recvtype c:comm"},
    {"Alltoallw", "MPI_Alltoallw - a:sendcounts D:sendtypes - a:recvcounts D:recvtypes c:comm"},
    {"Reduce", "MPI_Reduce - - i:count d:datatype o:op r:root c:comm"},
    {"Allreduce", "MPI_Allreduce - - i:count d:datatype o:op c:comm"},
    {"Reduce_scatter", "MPI_Reduce_scatter - - a:recvcounts d:datatype o:op c:comm"},
    {"Scan", "MPI_Scan - - i:count d:datatype o:op c:comm"},
    {"Exscan", "MPI_Exscan - - i:count d:datatype o:op c:comm"},
    {"Comm_dup", "MPI_Comm_dup c:oldcomm n:newcomm"},
    {"Comm_create", "MPI_Comm_create c:oldcomm m:group n:newcomm"},
    {"Comm_split", "MPI_Comm_split c:oldcomm color:color i:key n:newcomm"},
    {"Comm_free", "MPI_Comm_free c:comm"},
    {"Comm_disconnect", "MPI_Comm_disconnect c:comm"},
    {"Intercomm_create",
     "MPI_Intercomm_create c:localcomm i:localleader c:remotecomm i:remoteleader t:tag n:newcomm"},
    {"Intercomm_merge", "MPI_Intercomm_merge c:comm i:high n:newcomm"},
    {"Cart_create", "MPI_Cart_create c:oldcomm i:ndim a:dims a:periods i:reorder n:newcomm"},
    {"Cart_sub", "MPI_Cart_sub c:oldcomm a:remain_dims n:newcomm"},
    {"Graph_create", "MPI_Graph_create c:oldcomm i:nodes a:index a:edges i:reorder n:newcomm"},
    {"Win_create", "MPI_Win_create i:size i:dispunit c:comm w:win"},
    {"Win_free", "MPI_Win_free w:win"},
    {"Win_fence", "MPI_Win_fence i:assertion w:win"},
    {"Win_start", "MPI_Win_start m:group i:assertion w:win"},
    {"Win_post", "MPI_Win_post m:group i:assertion w:win"},
    {"Win_complete", "MPI_Win_complete w:win"},
    {"Win_wait", "MPI_Win_wait w:win"},
    {"Win_lock", "MPI_Win_lock lock:locktype i:winrank i:assertion w:win"},
    {"Win_unlock", "MPI_Win_unlock i:winrank w:win"},
    {"Put", "MPI_Put i:origincount d:origintype r:targetrank i:targetdisp i:targetcount d:targettype w:win"},
    {"Get", "MPI_Get i:origincount d:origintype r:targetrank i:targetdisp i:targetcount d:targettype w:win"},
    {"Accumulate", "MPI_Accumulate i:origincount d:origintype r:targetrank i:targetdisp i:targetcount "
                   "d:targettype o:op w:win"},
    {"Start", "MPI_Start f:request"},
    {"Request_free", "MPI_Request_free f:request"},
    {"Cancel", "MPI_Cancel f:request"},
};

/* Calls that only ask something, or whose effect no message shows; one with a star at the end is a beginning.
 */
static const char *const silent[] = {
    "Init*",        "Finalized",     "Query_thread",  "Is_thread_main",   "Comm_rank",  "Comm_size",
    "Comm_compare", "Comm_test_*",   "Comm_remote_*", "Comm_set_*",       "Comm_get_*", "Comm_create_*",
    "Comm_free_*",  "Comm_delete_*", "Comm_call_*",   "Attr_*",           "Keyval_*",   "Get_*",
    "Pack*",        "Unpack*",       "Op_free",       "Errhandler_*",     "Error_*",    "Add_error_*",
    "Info_*",       "Wtime",         "Wtick",         "Address",          "Status_*",   "Test_cancelled",
    "Topo_test",    "Graphdims_*",   "Graph_get",     "Graph_neighbors*", "Graph_map",  "Cartdim_get",
    "Cart_get",     "Cart_rank",     "Cart_coords",   "Cart_shift",       "Cart_map",   "Dims_create",
    "Alloc_mem",    "Free_mem",      "Request_get_*", "Win_get_*",        "Win_set_*",  "Win_create_*",
    "Win_free_*",   "Win_delete_*",  "Win_call_*",    "Register_*"};

/* ---- Requests. */
static struct dumpi_request *find_request(const struct dumpi *d, int self)
{
    struct dumpi_request *request;
    HASH_FIND_INT(d->requests, &self, request);
    if (!request)
        dumpi_die(d, "%s: request %d has not been started", d->function, self);
    return request;
}

static struct dumpi_request *new_request(struct dumpi *d, int self, bool persists)
{
    struct dumpi_request *request;
    int number = 0;
    HASH_FIND_INT(d->requests, &self, request);
    if (request)
        dumpi_die(d, "%s: request %d is open already", d->function, self);
    while (number < d->taken_room && d->taken[number])
        number++;
    PF_ARRAY_REACH(d->taken, d->taken_room, number);
    d->taken[number] = 1;
    request = pf_calloc(1, sizeof *request);
    *request = (struct dumpi_request){.self = self, .number = number, .persists = persists, .fields = -1};
    HASH_ADD_INT(d->requests, self, request);
    return request;
}

static void end_request(struct dumpi *d, struct dumpi_request *request)
{
    d->taken[request->number] = 0;
    HASH_DEL(d->requests, request);
    free(request);
}

/* The status with this index, counted from 0: source and tag. False: the file does not have it. */
static bool read_status(const struct dumpi *d, int index, int *source, int *tag)
{
    const char *at = dumpi_field(d, "status");
    at = at ? at : dumpi_field(d, "statuses");
    for (int i = 0; at && i <= index; i++) {
        at = strstr(at, "{bytes=");
        at = at ? at + 1 : NULL;
    }
    const char *from = at ? strstr(at, "source=") : NULL, *by = at ? strstr(at, "tag=") : NULL;
    return from && by && sscanf(from, "source=%d", source) == 1 && sscanf(by, "tag=%d", tag) == 1 &&
           *tag >= 0;
}

/* A receive that has come to its end: which message it was, where it did not say before. */
static void resolve(struct dumpi *d, struct dumpi_request *request, int status)
{
    int source, tag;
    if (request->fields >= 0 && read_status(d, status, &source, &tag)) {
        fflush(d->out);
        fseek(d->out, request->fields, SEEK_SET);
        fprintf(d->out, " %11d %11d", source < 0 ? NO_RANK : source, tag);
        fseek(d->out, 0, SEEK_END);
    }
    if (!request->persists)
        end_request(d, request);
}

/* ---- Words. */
static int rank_of(long rank)
{
    return rank == -2 ? -777 : rank < 0 ? NO_RANK : (int)rank;
}

/* The source, or the tag, of a receive. */
static void put_wildcard(struct dumpi *d, const char *field, bool is_tag)
{
    long value = dumpi_number(d, field);
    int source, tag;
    if (value == ANY && read_status(d, 0, &source, &tag))
        value = is_tag ? tag : source < 0 ? NO_RANK : source;
    else if (value == ANY)
        value = is_tag ? ANY_TAG : ANY_SOURCE;
    else if (value < 0)
        value = is_tag ? ANY_TAG : NO_RANK;
    fprintf(d->out, " %11ld", value);
}

static bool is_root(const struct dumpi *d)
{
    return dumpi_number(d, "commrank") == dumpi_number(d, "root") || dumpi_number(d, "root") < 0;
}

static int comm_of(const struct dumpi *d, const char *field)
{
    long comm = dumpi_number(d, field);
    if (comm < COMM_WORLD)
        dumpi_die(d, "%s is on no communicator", d->function);
    return (int)comm - COMM_WORLD;
}

static void put_new_comm(struct dumpi *d, const char *field)
{
    int number = (int)dumpi_number(d, field),
        old = dumpi_field(d, "oldcomm") ? (int)dumpi_number(d, "oldcomm") : 0;
    struct dumpi_comm *comm, *from;
    fprintf(d->out, " %d", number <= COMM_NULL ? -1 : number - COMM_WORLD);
    if (number <= COMM_NULL)
        return;
    HASH_FIND_INT(d->comms, &number, comm);
    HASH_FIND_INT(d->comms, &old, from);
    if (!comm) {
        comm = pf_calloc(1, sizeof *comm);
        comm->self = number;
        HASH_ADD_INT(d->comms, self, comm);
    }
    comm->is_world =
        strcmp(d->function, "MPI_Comm_dup") == 0 && (old == COMM_WORLD || (from && from->is_world));
}

static void put_array(struct dumpi *d, const char *field)
{
    int count, *numbers = dumpi_array(d, field, &count);
    fprintf(d->out, " %d", count);
    for (int i = 0; i < count; i++)
        fprintf(d->out, " %d", numbers[i]);
    free(numbers);
}

static void put_types(struct dumpi *d, const char *field)
{
    int count, *numbers = dumpi_array(d, field, &count);
    for (int i = 0; i < count; i++)
        dumpi_type_put(d, numbers[i]);
    free(numbers);
}

static void put_members(struct dumpi *d, const char *field)
{
    const struct dumpi_group *group = dumpi_group_of(d, field);
    fprintf(d->out, " %d", group->count);
    for (int i = 0; i < group->count; i++)
        fprintf(d->out, " %d", group->ranks[i]);
}

/* MPI's own operations are for its own datatypes only; what is computed does not matter. */
static void put_op(struct dumpi *d, const char *field)
{
    static const char *const names[] = {"user", "MAX",  "MIN",  "SUM",    "PROD",   "LAND",    "BAND", "LOR",
                                        "BOR",  "LXOR", "BXOR", "MINLOC", "MAXLOC", "REPLACE", "user"};
    int number = (int)dumpi_number(d, field);
    long type = dumpi_number(d, dumpi_field(d, "datatype") ? "datatype" : "origintype");
    struct dumpi_op *op;
    HASH_FIND_INT(d->ops, &number, op);
    if (number >= FIRST_USER_OP || number < 0)
        fprintf(d->out, " %s", op && !op->commutes ? "ordered" : "user");
    else
        fprintf(d->out, " %s", type >= 28 ? "user" : names[number]);
}

static void put_word(struct dumpi *d, const char *kind, const char *field)
{
    struct dumpi_request *request;
    int number;
    if (strcmp(kind, "color") == 0) {
        number = (int)dumpi_number(d, field);
        fprintf(d->out, " %d", number < 0 ? UNDEFINED : number);
    } else if (strcmp(kind, "lock") == 0) {
        fprintf(d->out, " %d", dumpi_number(d, field) == 2);
    } else if (strcmp(kind, "done") == 0 || strcmp(kind, "stag") == 0) {
        fprintf(d->out, " %s=%ld", kind, dumpi_number(d, field));
    } else if (strcmp(kind, "rtag") == 0) {
        int source, tag = (int)dumpi_number(d, field);
        if (tag < 0 && !read_status(d, 0, &source, &tag))
            tag = ANY_TAG;
        fprintf(d->out, " rtag=%d", tag);
    } else {
        switch (*kind) {
        case 'i':
            fprintf(d->out, " %ld", dumpi_number(d, field));
            break;
        case 't':
            fprintf(d->out, " %ld", dumpi_number(d, field) < 0 ? (long)ANY_TAG : dumpi_number(d, field));
            break;
        case 'r':
            fprintf(d->out, " %d", rank_of(dumpi_number(d, field)));
            break;
        case 's':
        case 'T':
            put_wildcard(d, field, *kind == 'T');
            break;
        case 'd':
            dumpi_type_put(d, (int)dumpi_number(d, field));
            break;
        case 'D':
            put_types(d, field);
            break;
        case 'c':
            fprintf(d->out, " %d", comm_of(d, field));
            break;
        case 'k':
            number = comm_of(d, field);
            if (number)
                fprintf(d->out, " comm=%d", number);
            break;
        case 'n':
            put_new_comm(d, field);
            break;
        case 'a':
            put_array(d, field);
            break;
        case 'g':
            fprintf(d->out, " %ld", is_root(d) ? dumpi_number(d, field) : 0);
            break;
        case 'G':
            dumpi_type_put(d, is_root(d) ? (int)dumpi_number(d, field) : 5);
            break;
        case 'H':
            if (is_root(d))
                put_array(d, field);
            else
                fprintf(d->out, " 0");
            break;
        case 'm':
            put_members(d, field);
            break;
        case 'o':
            put_op(d, field);
            break;
        case 'w':
            fprintf(d->out, " %ld", dumpi_number(d, field));
            break;
        case 'Q':
            fprintf(d->out, " req=%d", new_request(d, (int)dumpi_number(d, field), false)->number);
            break;
        case 'p':
            fprintf(d->out, " %d", new_request(d, (int)dumpi_number(d, field), true)->number);
            break;
        default: /* f */
            request = find_request(d, (int)dumpi_number(d, field));
            fprintf(d->out, " %d", request->number);
        }
    }
}

/* ---- Lines. */
static void put_call(struct dumpi *d, const char *line)
{
    char *copy = pf_strdup(line), *save;
    long fields = -1;
    fprintf(d->out, "%d", d->rank);
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *field = strchr(word, ':');
        if (!field) {
            fprintf(d->out, " %s", word);
            continue;
        }
        *field = 0;
        if (*word == 's')
            fields = ftell(d->out);
        put_word(d, word, field + 1);
    }
    fprintf(d->out, "\n");
    free(copy);
    bool wild = strcmp(d->function, "MPI_Irecv") == 0 &&
                (dumpi_number(d, "source") == ANY || dumpi_number(d, "tag") == ANY);
    if (wild)
        find_request(d, (int)dumpi_number(d, "request"))->fields = fields;
    if (strcmp(d->function, "MPI_Request_free") == 0)
        end_request(d, find_request(d, (int)dumpi_number(d, "request")));
}

/* Wait and Test: the one request, and whether it has ended. */
static void put_wait(struct dumpi *d, bool test)
{
    int self = (int)dumpi_number(d, "request");
    bool done = !test || dumpi_number(d, "flag");
    if (self <= REQUEST_NULL)
        return;
    struct dumpi_request *request = find_request(d, self);
    fprintf(d->out, "%d %s req=%d", d->rank, test ? "test" : "wait", request->number);
    fprintf(d->out, test && done ? " done=1\n" : "\n");
    if (done)
        resolve(d, request, 0);
}

/* The indices that a call for several requests has found to be done: all, one, or those of its list. */
static int *read_done(const struct dumpi *d, int count, int *done)
{
    const char *name = d->function + 8; /* behind MPI_Wait and MPI_Test */
    bool test = strncmp(d->function, "MPI_Test", 8) == 0;
    if (strcmp(name, "some") == 0)
        return dumpi_array(d, "indices", done);
    int *indices = pf_calloc((size_t)count + 1, sizeof *indices);
    *done = 0;
    if (test && !dumpi_number(d, "flag"))
        return indices;
    if (strcmp(name, "any") == 0) {
        indices[0] = (int)dumpi_number(d, "index");
        *done = indices[0] >= 0;
        return indices;
    }
    for (int i = 0; i < count; i++)
        indices[(*done)++] = i;
    return indices;
}

/* What is done stands behind the line, but for a waitall, where it is clear. */
static void put_done(struct dumpi *d, const char *action, const int *indices, int done)
{
    if (strcmp(action, "testall") == 0)
        fprintf(d->out, done ? " done=1" : "");
    else if (strcmp(action, "waitall") != 0)
        for (int i = 0; i < done; i++)
            fprintf(d->out, "%s%d", i ? "," : " done=", indices[i]);
    fprintf(d->out, "\n");
}

static void put_waits(struct dumpi *d, const char *action)
{
    int count, done, *selves = dumpi_array(d, "requests", &count);
    struct dumpi_request **requests = pf_calloc((size_t)count + 1, sizeof *requests);
    fprintf(d->out, "%d %s %d", d->rank, action, count);
    for (int i = 0; i < count; i++) {
        requests[i] = selves[i] <= REQUEST_NULL ? NULL : find_request(d, selves[i]);
        fprintf(d->out, " %d", requests[i] ? requests[i]->number : -1);
    }
    if (strcmp(action, "startall") == 0) {
        fprintf(d->out, "\n");
    } else {
        int *indices = read_done(d, count, &done);
        put_done(d, action, indices, done);
        for (int i = 0; i < done; i++) {
            if (indices[i] < 0 || indices[i] >= count)
                dumpi_die(d, "%s: request %d of %d is done", d->function, indices[i], count);
            if (requests[indices[i]])
                resolve(d, requests[indices[i]], strcmp(action + 4, "any") == 0 ? 0 : i);
            requests[indices[i]] = NULL;
        }
        free(indices);
    }
    free(requests);
    free(selves);
}

static bool put_completion(struct dumpi *d)
{
    static const char *const names[] = {"Waitall", "Waitany",  "Waitsome", "Testall",
                                        "Testany", "Testsome", "Startall"};
    static const char *const actions[] = {"waitall", "waitany",  "waitsome", "testall",
                                          "testany", "testsome", "startall"};
    const char *name = d->function + 4;
    if (strcmp(name, "Wait") == 0 || strcmp(name, "Test") == 0) {
        put_wait(d, *name == 'T');
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) {
            put_waits(d, actions[i]);
            return true;
        }
    return false;
}

static bool is_silent(const char *name)
{
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
        size_t length = strcspn(silent[i], "*");
        if (strncmp(name, silent[i], length) == 0 && (silent[i][length] || !name[length]))
            return true;
    }
    return false;
}

void dumpi_call(struct dumpi *d)
{
    const char *name = d->function + 4;
    if (strncmp(d->function, "MPI_", 4) != 0)
        dumpi_die(d, "%s is no function that can be replayed", d->function);
    if (strcmp(name, "Init") == 0 || strcmp(name, "Init_thread") == 0 || strcmp(name, "Finalize") == 0) {
        bool *is = *name == 'F' ? &d->ended : &d->begun;
        if (*is)
            dumpi_die(d, "a second %s", d->function);
        *is = true;
        fprintf(d->out, "%d %s\n", d->rank, *name == 'F' ? "finalize" : "init");
        return;
    }
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(name, calls[i].function) == 0) {
            put_call(d, calls[i].line);
            return;
        }
    if (!dumpi_object(d) && !put_completion(d) && !is_silent(name))
        dumpi_die(d, "%s is no function that can be replayed", d->function);
}
