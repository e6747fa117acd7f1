/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The actions of SMPI's time-independent format, with the columns that ours adds. On a communicator other
 * than MPI_COMM_WORLD, in place, or on derived types, our recordings have the actions MPI_... of
 * play_calls.c instead.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <parfocal.h>

#include "base/memory.h"
#include "tools/pfreplay/play.h"

static void init(void)
{
    play.begun = true;
    if (play_more())
        play.plain = MPI_DOUBLE;
}

static void finalize(void)
{
    play.ended = true;
}

static void nothing(void)
{
}

static void compute(void)
{
    double flops = play_double("the number of flops");
    if (play.from->computes)
        play_compute(flops);
}

static void sleep_for(void)
{
    double seconds = play_double("the time") * play.from->scale;
    if (seconds < 0 || seconds > 1e9)
        play_die("sleep: %g s are not from 0 to 1e9", seconds);
    struct timespec time = {.tv_sec = (time_t)seconds};
    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9 + 0.5);
    nanosleep(&time, NULL); /* in simulated time, as any program's */
}

static void phase(void)
{
    pf_phase(play.at + strspn(play.at, " \t"));
}

static void refused(void)
{
    play_die("the program has called %.60s, which a replay cannot do", play_word("the function"));
}

/* MPI_Pcontrol: the schedule may name its level. */
static void pcontrol(void)
{
    MPI_Pcontrol(play_int("the level"));
}

static void *attached;

static void buffer_attach(void)
{
    int size = play_count("the size");
    attached = pf_malloc((size_t)size + 1);
    play_check(MPI_Buffer_attach(attached, size));
}

static void buffer_detach(void)
{
    void *buffer;
    int size;
    play_check(MPI_Buffer_detach(&buffer, &size));
    free(attached);
    attached = NULL;
}

/* Point to point: partner, tag, count, type, and comm=, of= (bytes of an element), req=. */
struct message {
    int partner, tag, count, request;
    MPI_Datatype type;
    MPI_Comm comm;
};

/* The number behind KEY=, and where it ends. */
static char *read_key(char *at, size_t length, int *value)
{
    char *end;
    long number = strtol(at + length, &end, 10);
    if (end == at + length || (*end && !strchr(" \t\r", *end)) || number < INT32_MIN || number > INT32_MAX)
        play_die("%s: '%.20s' must be KEY=NUMBER", play.action, at);
    *value = (int)number;
    return end;
}

/* All at once: this is what most lines of most traces are. */
static void read_keys(struct message *m, int *comm, int *of)
{
    for (char *at = play.at; *(at += strspn(at, " \t\r"));) {
        if (strncmp(at, "req=", 4) == 0)
            at = read_key(at, 4, &m->request);
        else if (strncmp(at, "comm=", 5) == 0)
            at = read_key(at, 5, comm);
        else if (strncmp(at, "of=", 3) == 0)
            at = read_key(at, 3, of);
        else
            play_die("%s: '%.20s' stands behind its arguments", play.action, at);
    }
}

static void read_message(struct message *m)
{
    int comm = 0, of = 0;
    m->partner = play_rank("the partner");
    m->tag = play_tag("the tag");
    m->count = play_int("the count");
    m->type = play_type_or_plain();
    m->comm = MPI_COMM_WORLD;
    m->request = -1;
    if (!play.from->complete)
        return;
    read_keys(m, &comm, &of);
    if (comm != 0)
        m->comm = play_comm(comm);
    if (of > 0) {
        if (m->count % of)
            play_die("%s: %d bytes are no whole number of elements of %d", play.action, m->count, of);
        m->count /= of;
        m->type = play_bytes(of);
    }
}

static void check_count(const struct message *m)
{
    if (m->count < 0)
        play_die("%s: the count is %d and must not be negative", play.action, m->count);
}

static void add_pending(int source, int destination, int tag, MPI_Request request)
{
    PF_ARRAY_ROOM(play.pending, play.pending_room, play.pending_count + 1);
    play.pending[play.pending_count++] = (struct play_pending){source, destination, tag, request};
}

/* The oldest with these ends. */
static struct play_pending *find_pending(int source, int destination, int tag)
{
    for (int i = 0; i < play.pending_count; i++) {
        struct play_pending *p = &play.pending[i];
        if (p->source == source && p->destination == destination && p->tag == tag)
            return p;
    }
    return NULL;
}

static void remove_pending(struct play_pending *pending)
{
    long at = pending - play.pending;
    play.pending_count--;
    memmove(pending, pending + 1, (size_t)(play.pending_count - at) * sizeof *pending);
}

void play_wait_pending(void)
{
    MPI_Request *requests = pf_calloc((size_t)play.pending_count + 1, sizeof *requests);
    int count = 0;
    for (int i = 0; i < play.pending_count; i++)
        if (play.pending[i].request != MPI_REQUEST_NULL)
            requests[count++] = play.pending[i].request;
    play.pending_count = 0;
    if (count)
        play_check(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    free(requests);
}

static void keep(const struct message *m, bool sends, MPI_Request request)
{
    if (m->request >= 0)
        *play_request(m->request) = request;
    else
        add_pending(sends ? play.rank : m->partner, sends ? m->partner : play.rank, m->tag, request);
}

#define SEND(name, call)                                                                                     \
    static void name(void)                                                                                   \
    {                                                                                                        \
        struct message m;                                                                                    \
        read_message(&m);                                                                                    \
        check_count(&m);                                                                                     \
        play_check(call(play_send_buffer(m.count, m.type), m.count, m.type, m.partner, m.tag, m.comm));      \
    }
SEND(send, MPI_Send)
SEND(ssend, MPI_Ssend)
SEND(rsend, MPI_Rsend)
SEND(bsend, MPI_Bsend)

#define ISEND(name, call)                                                                                    \
    static void name(void)                                                                                   \
    {                                                                                                        \
        struct message m;                                                                                    \
        MPI_Request request;                                                                                 \
        read_message(&m);                                                                                    \
        check_count(&m);                                                                                     \
        play_check(                                                                                          \
            call(play_send_buffer(m.count, m.type), m.count, m.type, m.partner, m.tag, m.comm, &request));   \
        keep(&m, true, request);                                                                             \
    }
ISEND(isend, MPI_Isend)
ISEND(issend, MPI_Issend)
ISEND(irsend, MPI_Irsend)
ISEND(ibsend, MPI_Ibsend)

/* SMPI looks for the size of a message whose trace does not have it. */
static void probe_size(struct message *m)
{
    MPI_Status status;
    if (m->count > 0 || play.from->complete)
        return;
    play_check(MPI_Probe(m->partner, m->tag, m->comm, &status));
    MPI_Get_count(&status, MPI_BYTE, &m->count);
}

static void recv(void)
{
    struct message m;
    read_message(&m);
    probe_size(&m);
    check_count(&m);
    play_check(MPI_Recv(play_receive_buffer(m.count, m.type), m.count, m.type, m.partner, m.tag, m.comm,
                        MPI_STATUS_IGNORE));
}

static void irecv(void)
{
    struct message m;
    MPI_Request request;
    read_message(&m);
    probe_size(&m);
    check_count(&m);
    play_check(
        MPI_Irecv(play_receive_buffer(m.count, m.type), m.count, m.type, m.partner, m.tag, m.comm, &request));
    keep(&m, false, request);
}

static void sendrecv(void)
{
    int send_count = play_count("the count sent"), to = play_rank("the destination");
    int receive_count = play_count("the count received"), from = play_rank("the source");
    MPI_Datatype send_type = play_type_or_plain(), receive_type = play_type_or_plain();
    MPI_Comm comm = play_comm(play_key_int("comm", 0));
    int receive_tag = play_key_int("rtag", 0);
    if (receive_tag == -444)
        receive_tag = MPI_ANY_TAG;
    play_check(MPI_Sendrecv(play_send_buffer(send_count, send_type), send_count, send_type, to,
                            play_key_int("stag", 0), play_receive_buffer(receive_count, receive_type),
                            receive_count, receive_type, from, receive_tag, comm, MPI_STATUS_IGNORE));
}

/* Of wait and test: the request by number, or NULL: by its ends. */
static MPI_Request *numbered(void)
{
    const char *key = play.from->complete ? play_key("req") : NULL;
    return key ? play_request(play_key_int("req", -1)) : NULL;
}

static struct play_pending *named(void)
{
    int source = play_int("the source"), destination = play_int("the destination"), tag = play_int("the tag");
    struct play_pending *pending = find_pending(source, destination, tag);
    if (!pending)
        play_die("%s: no message from %d to %d with tag %d is pending", play.action, source, destination,
                 tag);
    return pending;
}

static void wait(void)
{
    MPI_Request *request = numbered();
    if (request) {
        play_check(MPI_Wait(request, MPI_STATUS_IGNORE));
        return;
    }
    struct play_pending *pending = named();
    MPI_Request one = pending->request;
    remove_pending(pending);
    if (one != MPI_REQUEST_NULL) /* a test may have been luckier here than in the recorded run */
        play_check(MPI_Wait(&one, MPI_STATUS_IGNORE));
}

static void test(void)
{
    int flag = 1;
    MPI_Request *request = numbered();
    if (!request)
        request = &named()->request;
    if (*request != MPI_REQUEST_NULL)
        play_check(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
    if (!flag && play.from->complete && play_key_int("done", 0))
        play_check(MPI_Wait(request, MPI_STATUS_IGNORE));
}

/* The requests of an array: their numbers, -1 for none. A copy, since theirs move. */
static MPI_Request *read_requests(int *count, int **numbers)
{
    *count = play_count("the number of requests");
    *numbers = play_ints(*count, "a request");
    MPI_Request *requests = pf_calloc((size_t)*count + 1, sizeof *requests);
    for (int i = 0; i < *count; i++)
        requests[i] = (*numbers)[i] < 0 ? MPI_REQUEST_NULL : *play_request((*numbers)[i]);
    return requests;
}

static void write_requests(MPI_Request *requests, int count, const int *numbers)
{
    for (int i = 0; i < count; i++)
        if (numbers[i] >= 0)
            *play_request(numbers[i]) = requests[i];
    free(requests);
}

/* What the recorded call has completed and this one has not. */
static void complete(MPI_Request *requests, int count)
{
    const char *list = play_key("done");
    while (list && *list >= '0' && *list <= '9') {
        char *end;
        long index = strtol(list, &end, 10);
        if (index < 0 || index >= count)
            play_die("%s: done=%ld of %d requests", play.action, index, count);
        if (requests[index] != MPI_REQUEST_NULL)
            play_check(MPI_Wait(&requests[index], MPI_STATUS_IGNORE));
        list = *end == ',' ? end + 1 : NULL;
    }
}

/* `waitall` of SMPI's format is for all that is pending, whatever number stands there. */
static void waitall(void)
{
    int count, *numbers;
    if (!play.from->complete) {
        play_wait_pending();
        return;
    }
    MPI_Request *requests = read_requests(&count, &numbers);
    play_check(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    write_requests(requests, count, numbers);
}

static void waitany(void)
{
    int count, *numbers, index;
    MPI_Request *requests = read_requests(&count, &numbers);
    play_check(MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE));
    complete(requests, count);
    write_requests(requests, count, numbers);
}

static void some(int (*call)(int, MPI_Request *, int *, int *, MPI_Status *))
{
    int count, *numbers, outcount;
    MPI_Request *requests = read_requests(&count, &numbers);
    int *indices = pf_calloc((size_t)count + 1, sizeof *indices);
    play_check(call(count, requests, &outcount, indices, MPI_STATUSES_IGNORE));
    free(indices);
    complete(requests, count);
    write_requests(requests, count, numbers);
}

static void waitsome(void)
{
    some(MPI_Waitsome);
}

static void testsome(void)
{
    some(MPI_Testsome);
}

static void testany(void)
{
    int count, *numbers, index, flag;
    MPI_Request *requests = read_requests(&count, &numbers);
    play_check(MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE));
    complete(requests, count);
    write_requests(requests, count, numbers);
}

static void testall(void)
{
    int count, *numbers, flag;
    MPI_Request *requests = read_requests(&count, &numbers);
    play_check(MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE));
    if (!flag && play_key_int("done", 0))
        play_check(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    write_requests(requests, count, numbers);
}

static void startall(void)
{
    int count, *numbers;
    MPI_Request *requests = read_requests(&count, &numbers);
    play_check(MPI_Startall(count, requests));
    write_requests(requests, count, numbers);
}

static void probe(void)
{
    int source = play_rank("the source"), tag = play_tag("the tag");
    play_check(MPI_Probe(source, tag, play_comm(play_key_int("comm", 0)), MPI_STATUS_IGNORE));
}

static void iprobe(void)
{
    int flag, source = play_rank("the source"), tag = play_tag("the tag");
    MPI_Comm comm = play_comm(play_key_int("comm", 0));
    play_check(MPI_Iprobe(source, tag, comm, &flag, MPI_STATUS_IGNORE));
    if (!flag && play_key_int("done", 0))
        play_check(MPI_Probe(source, tag, comm, MPI_STATUS_IGNORE));
}

/* Collectives, all on MPI_COMM_WORLD. */
#define WORLD MPI_COMM_WORLD

static int root_or_0(void)
{
    int root = play_more() ? play_int("the root") : 0;
    if (root < 0 || root >= play.size)
        play_die("%s: the root is %d, and there are %d ranks", play.action, root, play.size);
    return root;
}

static MPI_Op operation(void)
{
    const char *name = play.from->complete ? play_key("op") : NULL;
    return name ? play_op(name) : play.op;
}

static void barrier(void)
{
    play_check(MPI_Barrier(WORLD));
}

static void bcast(void)
{
    int count = play_count("the count"), root = root_or_0();
    MPI_Datatype type = play_type_or_plain();
    play_check(MPI_Bcast(play_send_buffer(count, type), count, type, root, WORLD));
}

/* SMPI divides by the size of what it reduces in parts, and smpirun ends in the middle. */
static MPI_Datatype reduced_type(void)
{
    int size = 1;
    MPI_Datatype type = play_type_or_plain();
    MPI_Type_size(type, &size);
    if (size == 0)
        play_die("%s: type -1 is a derived one, whose size is not in the trace, and cannot be reduced "
                 "(-trace "
                 "replay:FILE records it)",
                 play.action);
    return type;
}

static void reduce(void)
{
    int count = play_count("the count");
    double flops = play_double("the computation");
    int root = root_or_0();
    MPI_Datatype type = reduced_type();
    play_check(MPI_Reduce(play_send_buffer(count, type), play_receive_buffer(count, type), count, type,
                          operation(), root, WORLD));
    play_compute(flops);
}

/* Allreduce, scan, exscan. */
static void reduce_all(int (*call)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm))
{
    int count = play_count("the count");
    double flops = play_double("the computation");
    MPI_Datatype type = call == MPI_Allreduce ? reduced_type() : play_type_or_plain();
    play_check(call(play_send_buffer(count, type), play_receive_buffer(count, type), count, type, operation(),
                    WORLD));
    play_compute(flops);
}

static void allreduce(void)
{
    reduce_all(MPI_Allreduce);
}

static void scan(void)
{
    reduce_all(MPI_Scan);
}

static void exscan(void)
{
    reduce_all(MPI_Exscan);
}

/* A side has one block, or one for each rank. The root comes before the types. */
#define BLOCKS(name, call, sent, received, read_root, ...)                                                   \
    static void name(void)                                                                                   \
    {                                                                                                        \
        int send_count = play_count("the count sent"), receive_count = play_count("the count received");     \
        const int root __attribute__((unused)) = (read_root);                                                \
        MPI_Datatype send_type = play_type_or_plain(), receive_type = play_type_or_plain();                  \
        double sent_items = (double)send_count * (sent), room = (double)receive_count * (received);          \
        play_check(call(play_send_buffer(sent_items, send_type), send_count, send_type,                      \
                        play_receive_buffer(room, receive_type), receive_count, receive_type, __VA_ARGS__)); \
    }
BLOCKS(alltoall, MPI_Alltoall, play.size, play.size, 0, WORLD)
BLOCKS(allgather, MPI_Allgather, 1, play.size, 0, WORLD)
BLOCKS(gather, MPI_Gather, 1, play.size, root_or_0(), root, WORLD)
BLOCKS(scatter, MPI_Scatter, play.size, 1, root_or_0(), root, WORLD)

/* A count for each rank, and where the blocks begin: in one place, since they are not read. */
static int *counts(const char *what, double *most)
{
    int *numbers = play_ints(play.size, what);
    *most = 0;
    for (int i = 0; i < play.size; i++) {
        if (numbers[i] < 0)
            play_die("%s: %s is %d and must not be negative", play.action, what, numbers[i]);
        *most = numbers[i] > *most ? numbers[i] : *most;
    }
    return numbers;
}

static void gatherv(void)
{
    double most;
    int send_count = play_count("the count sent"), *receive_counts = counts("a count received", &most);
    int root = root_or_0();
    MPI_Datatype send_type = play_type_or_plain(), receive_type = play_type_or_plain();
    play_check(MPI_Gatherv(play_send_buffer(send_count, send_type), send_count, send_type,
                           play_receive_buffer(most, receive_type), receive_counts, play_zeros(play.size),
                           receive_type, root, WORLD));
}

static void scatterv(void)
{
    double most;
    int *send_counts = counts("a count sent", &most), receive_count = play_count("the count received");
    int root = root_or_0();
    MPI_Datatype send_type = play_type_or_plain(), receive_type = play_type_or_plain();
    play_check(MPI_Scatterv(play_send_buffer(most, send_type), send_counts, play_zeros(play.size), send_type,
                            play_receive_buffer(receive_count, receive_type), receive_count, receive_type,
                            root, WORLD));
}

/* With a type and displacements, displacements alone, or a type: SMPI distinguishes them by their number. */
static void allgatherv(void)
{
    double most;
    int send_count = play_count("the count sent"), *receive_counts = counts("a count received", &most),
        words = 0;
    for (const char *c = play.at; *(c += strspn(c, " \t\r")); c += strcspn(c, " \t\r"))
        words++;
    MPI_Datatype send_type = play.plain, receive_type = play.plain;
    if (words > 0 && !(words > 2 && words <= play.size)) {
        send_type = play_type();
        receive_type = words == 2 ? play_type() : send_type;
    }
    play_check(MPI_Allgatherv(play_send_buffer(send_count, send_type), send_count, send_type,
                              play_receive_buffer(most, receive_type), receive_counts, play_zeros(play.size),
                              receive_type, WORLD));
}

static void alltoallv(void)
{
    double most_sent, most_received;
    play_double("the bytes sent");
    int *send_counts = counts("a count sent", &most_sent);
    play_double("the bytes received");
    int *receive_counts = counts("a count received", &most_received);
    MPI_Datatype send_type = play_type_or_plain(), receive_type = play_type_or_plain();
    play_check(MPI_Alltoallv(play_send_buffer(most_sent, send_type), send_counts, play_zeros(play.size),
                             send_type, play_receive_buffer(most_received, receive_type), receive_counts,
                             play_zeros(play.size), receive_type, WORLD));
}

static void reduce_scatter(void)
{
    double most, flops;
    int *receive_counts = counts("a count received", &most);
    double all = 0;
    for (int i = 0; i < play.size; i++)
        all += receive_counts[i];
    flops = play_double("the computation");
    MPI_Datatype type = reduced_type();
    play_check(MPI_Reduce_scatter(play_send_buffer(all, type), play_receive_buffer(all, type), receive_counts,
                                  type, operation(), WORLD));
    play_compute(flops);
}

const struct play_action play_actions[] = {{"init", init},
                                           {"finalize", finalize},
                                           {"compute", compute},
                                           {"sleep", sleep_for},
                                           {"location", nothing},
                                           {"comm_size", nothing},
                                           {"comm_split", nothing},
                                           {"comm_dup", nothing},
                                           {"phase", phase},
                                           {"MPI_Pcontrol", pcontrol},
                                           {"MPI_Buffer_attach", buffer_attach},
                                           {"MPI_Buffer_detach", buffer_detach},
                                           {"refused", refused},
                                           {"send", send},
                                           {"ssend", ssend},
                                           {"rsend", rsend},
                                           {"bsend", bsend},
                                           {"isend", isend},
                                           {"issend", issend},
                                           {"irsend", irsend},
                                           {"ibsend", ibsend},
                                           {"recv", recv},
                                           {"irecv", irecv},
                                           {"sendRecv", sendrecv},
                                           {"sendrecv", sendrecv},
                                           {"wait", wait},
                                           {"test", test},
                                           {"waitall", waitall},
                                           {"waitAll", waitall},
                                           {"waitany", waitany},
                                           {"waitsome", waitsome},
                                           {"testall", testall},
                                           {"testany", testany},
                                           {"testsome", testsome},
                                           {"startall", startall},
                                           {"probe", probe},
                                           {"iprobe", iprobe},
                                           {"barrier", barrier},
                                           {"bcast", bcast},
                                           {"reduce", reduce},
                                           {"allreduce", allreduce},
                                           {"allReduce", allreduce},
                                           {"alltoall", alltoall},
                                           {"allToAll", alltoall},
                                           {"alltoallv", alltoallv},
                                           {"allToAllV", alltoallv},
                                           {"gather", gather},
                                           {"gatherv", gatherv},
                                           {"gatherV", gatherv},
                                           {"scatter", scatter},
                                           {"scatterv", scatterv},
                                           {"scatterV", scatterv},
                                           {"allgather", allgather},
                                           {"allGather", allgather},
                                           {"allgatherv", allgatherv},
                                           {"allGatherV", allgatherv},
                                           {"reducescatter", reduce_scatter},
                                           {"reduceScatter", reduce_scatter},
                                           {"scan", scan},
                                           {"exscan", exscan},
                                           {NULL, NULL}};
