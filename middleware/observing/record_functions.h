/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions whose line has a form of its own: messages, requests, probes. Included after
 * record_core.h, which names the users. */
/* Point to point. Elements of a derived type are so many bytes, `of` so many each. */
static void record_message_line(struct recorder *me, const char *action, int partner, int tag, int wild,
                                int count, MPI_Datatype type, MPI_Comm comm)
{
    int named = record_named(type), size = named < 0 ? record_size(type) : 0;
    record_line(me, action);
    if (wild) {
        record_wide(me, partner);
        record_wide(me, tag);
    } else {
        record_int(me, partner);
        record_int(me, tag);
    }
    record_int(me, named < 0 ? (long)count * size : count);
    record_int(me, named < 0 ? 6 : named);
    if (comm != MPI_COMM_WORLD)
        record_key(me, "comm", record_comm_number(me, comm));
    if (named < 0 && size > 0)
        record_key(me, "of", size);
}

/* Where the source of a line for a receive stands. */
static long record_source_at(const struct recorder *me, long line)
{
    const char *end = memchr(me->text, ' ', me->used);
    end = memchr(end + 1, ' ', me->used - (size_t)(end + 1 - me->text));
    return line + (long)(end - me->text);
}

#define RECORD_SEND(stem, action)                                                                            \
    RECORD_FUNCTION int record_##stem(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,  \
                                      MPI_Comm comm)                                                         \
    {                                                                                                        \
        struct recorder *me = record_enter();                                                                \
        int answer = RECORD_CALL(stem)(buf, count, datatype, dest, tag, comm);                               \
        if (!me)                                                                                             \
            return answer;                                                                                   \
        if (record_good(me, answer)) {                                                                       \
            record_message_line(me, action, record_rank_value(dest), tag, 0, count, datatype, comm);         \
            record_end(me);                                                                                  \
        }                                                                                                    \
        record_leave(me);                                                                                    \
        return answer;                                                                                       \
    }
RECORD_SEND(Send, "send")
RECORD_SEND(Bsend, "bsend")
RECORD_SEND(Rsend, "rsend")
RECORD_SEND(Ssend, "ssend")

#define RECORD_ISEND(stem, action)                                                                           \
    RECORD_FUNCTION int record_##stem(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,  \
                                      MPI_Comm comm, MPI_Request *request)                                   \
    {                                                                                                        \
        struct recorder *me = record_enter();                                                                \
        int answer = RECORD_CALL(stem)(buf, count, datatype, dest, tag, comm, request);                      \
        if (!me)                                                                                             \
            return answer;                                                                                   \
        if (record_good(me, answer)) {                                                                       \
            struct record_request what = {                                                                   \
                .source = me->rank, .destination = record_rank_value(dest), .tag = tag, .wild = -1};         \
            record_message_line(me, action, record_rank_value(dest), tag, 0, count, datatype, comm);         \
            record_key(me, "req", record_add_request(me, *request, what));                                   \
            record_end(me);                                                                                  \
        }                                                                                                    \
        record_leave(me);                                                                                    \
        return answer;                                                                                       \
    }
RECORD_ISEND(Isend, "isend")
RECORD_ISEND(Ibsend, "ibsend")
RECORD_ISEND(Irsend, "irsend")
RECORD_ISEND(Issend, "issend")

RECORD_FUNCTION int record_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag,
                                MPI_Comm comm, MPI_Status *status)
{
    struct recorder *me = record_enter();
    MPI_Status own, *actual = status == MPI_STATUS_IGNORE ? &own : status;
    int answer = RECORD_CALL(Recv)(buf, count, datatype, source, tag, comm, me ? actual : status);
    if (!me)
        return answer;
    if (record_good(me, answer)) {
        if (source == MPI_ANY_SOURCE)
            source = actual->MPI_SOURCE;
        if (tag == MPI_ANY_TAG)
            tag = actual->MPI_TAG;
        record_message_line(me, "recv", record_rank_value(source), record_tag_value(tag), 0, count, datatype,
                            comm);
        record_end(me);
    }
    record_leave(me);
    return answer;
}

RECORD_FUNCTION int record_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag,
                                 MPI_Comm comm, MPI_Request *request)
{
    struct recorder *me = record_enter();
    int answer = RECORD_CALL(Irecv)(buf, count, datatype, source, tag, comm, request);
    if (!me)
        return answer;
    if (record_good(me, answer)) {
        int wild = source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG;
        struct record_request what = {.source = record_rank_value(source),
                                      .destination = me->rank,
                                      .tag = record_tag_value(tag),
                                      .wild = -1};
        record_message_line(me, "irecv", what.source, what.tag, wild, count, datatype, comm);
        int number = record_add_request(me, *request, what);
        record_key(me, "req", number);
        long line = record_end(me);
        if (wild)
            me->request[number].wild = record_source_at(me, line);
    }
    record_leave(me);
    return answer;
}

RECORD_FUNCTION int record_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct recorder *me = record_enter();
    MPI_Status own, *actual = status == MPI_STATUS_IGNORE ? &own : status;
    int answer = RECORD_CALL(Probe)(source, tag, comm, me ? actual : status);
    if (!me)
        return answer;
    if (record_good(me, answer)) {
        record_line(me, "probe");
        record_rank(me, source == MPI_ANY_SOURCE ? actual->MPI_SOURCE : source);
        record_tag(me, tag == MPI_ANY_TAG ? actual->MPI_TAG : tag);
        if (comm != MPI_COMM_WORLD)
            record_key(me, "comm", record_comm_number(me, comm));
        record_end(me);
    }
    record_leave(me);
    return answer;
}

RECORD_FUNCTION int record_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct recorder *me = record_enter();
    MPI_Status own, *actual = status == MPI_STATUS_IGNORE ? &own : status;
    int answer = RECORD_CALL(Iprobe)(source, tag, comm, flag, me ? actual : status);
    if (!me)
        return answer;
    if (record_good(me, answer)) {
        record_line(me, "iprobe");
        record_rank(me, *flag && source == MPI_ANY_SOURCE ? actual->MPI_SOURCE : source);
        record_tag(me, *flag && tag == MPI_ANY_TAG ? actual->MPI_TAG : tag);
        if (comm != MPI_COMM_WORLD)
            record_key(me, "comm", record_comm_number(me, comm));
        record_key(me, "done", *flag != 0);
        record_end(me);
    }
    record_leave(me);
    return answer;
}

/* One that has found something is as a probe that waits. */
RECORD_FUNCTION int record_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                                   MPI_Status *status)
{
    struct recorder *me = record_enter();
    MPI_Status own, *actual = status == MPI_STATUS_IGNORE ? &own : status;
    int answer = RECORD_CALL(Improbe)(source, tag, comm, flag, message, me ? actual : status);
    if (!me)
        return answer;
    if (record_good(me, answer) && *flag) {
        record_line(me, "MPI_Mprobe");
        record_rank(me, source == MPI_ANY_SOURCE ? actual->MPI_SOURCE : source);
        record_tag(me, tag == MPI_ANY_TAG ? actual->MPI_TAG : tag);
        record_comm(me, comm);
        record_new_message(me, *message);
        record_end(me);
    } else if (answer == MPI_SUCCESS) {
        record_line(me, "iprobe");
        record_rank(me, source);
        record_tag(me, tag);
        if (comm != MPI_COMM_WORLD)
            record_key(me, "comm", record_comm_number(me, comm));
        record_end(me);
    }
    record_leave(me);
    return answer;
}

/* `wait` and `test` name the ends too, as in SMPI's format. */
static void record_one(struct recorder *me, const char *action, MPI_Request was)
{
    int number = record_request_number(me, was);
    struct record_request none = {.source = RECORD_NO_RANK, .destination = me->rank};
    struct record_request *request = number < 0 ? &none : &me->request[number];
    record_line(me, action);
    record_int(me, request->source);
    record_int(me, request->destination);
    record_int(me, request->tag);
    record_key(me, "req", number);
}

RECORD_FUNCTION int record_Wait(MPI_Request *request, MPI_Status *status)
{
    struct recorder *me = record_enter();
    MPI_Request was = *request;
    MPI_Status own, *actual = status == MPI_STATUS_IGNORE ? &own : status;
    int answer = RECORD_CALL(Wait)(request, me ? actual : status);
    if (!me)
        return answer;
    if (record_good(me, answer) && was != MPI_REQUEST_NULL) {
        record_resolve(me, was, actual);
        record_one(me, "wait", was);
        record_end(me);
        record_completed(me, was, actual);
    }
    record_leave(me);
    return answer;
}

RECORD_FUNCTION int record_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct recorder *me = record_enter();
    MPI_Request was = *request;
    MPI_Status own, *actual = status == MPI_STATUS_IGNORE ? &own : status;
    int answer = RECORD_CALL(Test)(request, flag, me ? actual : status);
    if (!me)
        return answer;
    if (record_good(me, answer) && was != MPI_REQUEST_NULL) {
        if (*flag)
            record_resolve(me, was, actual);
        record_one(me, "test", was);
        record_key(me, "done", *flag != 0);
        record_end(me);
        if (*flag)
            record_completed(me, was, actual);
    }
    record_leave(me);
    return answer;
}

/* Arrays of requests: as they were, and statuses if the program wants none and a source is open. */
struct record_set {
    MPI_Request *was;
    MPI_Status *statuses;
    int count;
};

static struct record_set record_requests(struct recorder *me, int count, const MPI_Request *requests,
                                         MPI_Status *statuses)
{
    struct record_set set = {.statuses = statuses, .count = count};
    int wild = 0;
    size_t size = (size_t)count * sizeof *requests;
    set.was = record_scratch(me, (size_t)count * (sizeof *requests + sizeof *statuses));
    memcpy(set.was, requests, size);
    for (int i = 0; i < count; i++) {
        int number = record_request_number(me, requests[i]);
        wild |= number >= 0 && me->request[number].wild >= 0;
    }
    if (wild && statuses == MPI_STATUSES_IGNORE)
        set.statuses = (MPI_Status *)((char *)set.was + size);
    return set;
}

static const MPI_Status *record_status(const struct record_set *set, int index)
{
    return set->statuses == MPI_STATUSES_IGNORE ? NULL : &set->statuses[index];
}

static void record_set_line(struct recorder *me, const char *action, const struct record_set *set)
{
    record_line(me, action);
    record_int(me, set->count);
    for (int i = 0; i < set->count; i++)
        record_request(me, set->was[i]);
}

static void record_all_completed(struct recorder *me, const struct record_set *set)
{
    for (int i = 0; i < set->count; i++)
        record_completed(me, set->was[i], record_status(set, i));
}

RECORD_FUNCTION int record_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    struct recorder *me = record_enter();
    if (!me)
        return RECORD_CALL(Waitall)(count, requests, statuses);
    struct record_set set = record_requests(me, count, requests, statuses);
    int answer = RECORD_CALL(Waitall)(count, requests, set.statuses);
    if (record_good(me, answer)) {
        record_set_line(me, "waitall", &set);
        record_end(me);
        record_all_completed(me, &set);
    }
    record_leave(me);
    return answer;
}

RECORD_FUNCTION int record_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    struct recorder *me = record_enter();
    if (!me)
        return RECORD_CALL(Testall)(count, requests, flag, statuses);
    struct record_set set = record_requests(me, count, requests, statuses);
    int answer = RECORD_CALL(Testall)(count, requests, flag, set.statuses);
    if (record_good(me, answer)) {
        record_set_line(me, "testall", &set);
        record_key(me, "done", *flag != 0);
        record_end(me);
        if (*flag)
            record_all_completed(me, &set);
    }
    record_leave(me);
    return answer;
}

static void record_any(struct recorder *me, const char *action, const struct record_set *set, int index,
                       const MPI_Status *status)
{
    record_set_line(me, action, set);
    if (index != MPI_UNDEFINED && index >= 0)
        record_key(me, "done", index);
    record_end(me);
    if (index != MPI_UNDEFINED && index >= 0)
        record_completed(me, set->was[index], status);
}

RECORD_FUNCTION int record_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    struct recorder *me = record_enter();
    if (!me)
        return RECORD_CALL(Waitany)(count, requests, index, status);
    MPI_Status own, *actual = status == MPI_STATUS_IGNORE ? &own : status;
    struct record_set set = record_requests(me, count, requests, MPI_STATUSES_IGNORE);
    int answer = RECORD_CALL(Waitany)(count, requests, index, actual);
    if (record_good(me, answer))
        record_any(me, "waitany", &set, *index, actual);
    record_leave(me);
    return answer;
}

RECORD_FUNCTION int record_Testany(int count, MPI_Request *requests, int *index, int *flag,
                                   MPI_Status *status)
{
    struct recorder *me = record_enter();
    if (!me)
        return RECORD_CALL(Testany)(count, requests, index, flag, status);
    MPI_Status own, *actual = status == MPI_STATUS_IGNORE ? &own : status;
    struct record_set set = record_requests(me, count, requests, MPI_STATUSES_IGNORE);
    int answer = RECORD_CALL(Testany)(count, requests, index, flag, actual);
    if (record_good(me, answer))
        record_any(me, "testany", &set, *flag ? *index : MPI_UNDEFINED, actual);
    record_leave(me);
    return answer;
}

static void record_some(struct recorder *me, const char *action, const struct record_set *set, int outcount,
                        const int *indices)
{
    record_set_line(me, action, set);
    for (int i = 0; outcount != MPI_UNDEFINED && i < outcount; i++) {
        record_text(me, i ? "," : " done=");
        record_integer(me, indices[i]);
    }
    record_end(me);
    for (int i = 0; outcount != MPI_UNDEFINED && i < outcount; i++)
        record_completed(me, set->was[indices[i]], record_status(set, i));
}

#define RECORD_SOME(stem, action)                                                                            \
    RECORD_FUNCTION int record_##stem(int incount, MPI_Request *requests, int *outcount, int *indices,       \
                                      MPI_Status *statuses)                                                  \
    {                                                                                                        \
        struct recorder *me = record_enter();                                                                \
        if (!me)                                                                                             \
            return RECORD_CALL(stem)(incount, requests, outcount, indices, statuses);                        \
        struct record_set set = record_requests(me, incount, requests, statuses);                            \
        int answer = RECORD_CALL(stem)(incount, requests, outcount, indices, set.statuses);                  \
        if (record_good(me, answer))                                                                         \
            record_some(me, action, &set, *outcount, indices);                                               \
        record_leave(me);                                                                                    \
        return answer;                                                                                       \
    }
RECORD_SOME(Waitsome, "waitsome")
RECORD_SOME(Testsome, "testsome")

RECORD_FUNCTION int record_Startall(int count, MPI_Request *requests)
{
    struct recorder *me = record_enter();
    int answer = RECORD_CALL(Startall)(count, requests);
    if (!me)
        return answer;
    if (record_good(me, answer)) {
        struct record_set set = {.was = requests, .count = count};
        record_set_line(me, "startall", &set);
        record_end(me);
    }
    record_leave(me);
    return answer;
}

RECORD_FUNCTION int record_Buffer_attach(void *buffer, int size)
{
    struct recorder *me = record_enter();
    int answer = RECORD_CALL(Buffer_attach)(buffer, size);
    if (!me)
        return answer;
    if (record_good(me, answer)) {
        record_line(me, "MPI_Buffer_attach");
        record_int(me, size);
        record_end(me);
    }
    record_leave(me);
    return answer;
}

RECORD_FUNCTION int record_Buffer_detach(void *buffer_addr, int *size)
{
    struct recorder *me = record_enter();
    int answer = RECORD_CALL(Buffer_detach)(buffer_addr, size);
    if (!me)
        return answer;
    if (record_good(me, answer)) {
        record_line(me, "MPI_Buffer_detach");
        record_end(me);
    }
    record_leave(me);
    return answer;
}

/* A word of the program's for what it does now: MPI_Pcontrol, or the name of a phase. */
static void record_remark(const char *action, const char *name)
{
    struct recorder *me = record_enter();
    if (!me)
        return;
    record_compute(me);
    record_line(me, action);
    record_text(me, " ");
    record_text(me, name);
    record_end(me);
    record_leave(me);
}

RECORD_FUNCTION int record_Pcontrol(int level)
{
    char text[16];
    int answer = RECORD_CALL(Pcontrol)(level);
    snprintf(text, sizeof text, "%d", level);
    record_remark("MPI_Pcontrol", text);
    return answer;
}

/* The rank's first and last line. */
static void record_begin_rank(struct recorder *me, int rank)
{
    me->rank = rank;
    me->comms.next = 2;
    me->open = 1;
    record_line(me, "init");
    record_end(me);
}

static void record_end_rank(struct recorder *me)
{
    if (!me || !me->open)
        return;
    record_compute(me);
    record_line(me, "finalize");
    record_end(me);
    me->open = 0;
    record_closed(me);
}
