/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none stock=no np=2 compare=mpirun without=mpich */
/* Stock MPICH 4.0.2 hangs in this program: not in model mpich. */
/*
 * Every call that sends, receives or completes x what can be wrong with its arguments; and collectives in
 * which a block is longer or shorter than its room. A line for each case: the error class, as under mpirun.
 */
#include "check.h"
#include "lines.h"

enum { TAG = 5 };

static MPI_Comm comm;
static MPI_Datatype uncommitted;
static int data[64], other[64];

/* ---- arguments ---- */

enum {
    GOOD,
    COUNT,
    NO_TYPE,
    UNCOMMITTED,
    TOO_FAR,
    BELOW,
    ANY_RANK,
    TAG_BELOW,
    TAG_ANY,
    NO_COMM,
    NO_BUFFER,
    NO_REQUEST,
    FAULTS
};
static const char *const fault_names[FAULTS] = {"good",           "count",      "no type",    "uncommitted",
                                                "rank too large", "rank below", "any source", "tag below",
                                                "any tag",        "no comm",    "no buffer",  "no request"};

/* The arguments of a call with one fault. */
struct arguments {
    int *buffer;
    int count;
    MPI_Datatype type;
    int peer, tag;
    MPI_Comm comm;
    MPI_Request *request;
};

static struct arguments with(int fault, int peer, MPI_Request *request)
{
    struct arguments a = {data, 1, MPI_INT, peer, TAG, comm, request};

    if (fault == COUNT)
        a.count = -1;
    if (fault == NO_TYPE)
        a.type = MPI_DATATYPE_NULL;
    if (fault == UNCOMMITTED)
        a.type = uncommitted;
    if (fault == TOO_FAR)
        a.peer = check_size;
    if (fault == BELOW)
        a.peer = -77;
    if (fault == ANY_RANK)
        a.peer = MPI_ANY_SOURCE;
    if (fault == TAG_BELOW)
        a.tag = -77;
    if (fault == TAG_ANY)
        a.tag = MPI_ANY_TAG;
    if (fault == NO_COMM)
        a.comm = MPI_COMM_NULL;
    if (fault == NO_BUFFER)
        a.buffer = NULL;
    if (fault == NO_REQUEST)
        a.request = NULL;
    return a;
}

enum {
    SEND,
    BSEND,
    SSEND,
    RSEND,
    RECV,
    PROBE,
    IPROBE,
    MPROBE,
    IMPROBE,
    SENDRECV_S,
    SENDRECV_R,
    REPLACE_S,
    REPLACE_R,
    ISEND,
    IBSEND,
    ISSEND,
    IRSEND,
    IRECV,
    SEND_INIT,
    BSEND_INIT,
    SSEND_INIT,
    RSEND_INIT,
    RECV_INIT,
    CALLS
};
static const char *const call_names[CALLS] = {"Send",
                                              "Bsend",
                                              "Ssend",
                                              "Rsend",
                                              "Recv",
                                              "Probe",
                                              "Iprobe",
                                              "Mprobe",
                                              "Improbe",
                                              "Sendrecv send",
                                              "Sendrecv receive",
                                              "Sendrecv_replace send",
                                              "Sendrecv_replace receive",
                                              "Isend",
                                              "Ibsend",
                                              "Issend",
                                              "Irsend",
                                              "Irecv",
                                              "Send_init",
                                              "Bsend_init",
                                              "Ssend_init",
                                              "Rsend_init",
                                              "Recv_init"};

static int call_with(int call, struct arguments a)
{
    typedef int send(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    typedef int make(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    send *const sends[] = {MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend};
    make *const isends[] = {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};
    make *const inits[] = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};
    MPI_Message message;
    int flag, none = MPI_PROC_NULL;

    if (call <= RSEND)
        return sends[call](a.buffer, a.count, a.type, a.peer, a.tag, a.comm);
    if (call >= ISEND && call <= IRSEND)
        return isends[call - ISEND](a.buffer, a.count, a.type, a.peer, a.tag, a.comm, a.request);
    if (call >= SEND_INIT && call <= RSEND_INIT)
        return inits[call - SEND_INIT](a.buffer, a.count, a.type, a.peer, a.tag, a.comm, a.request);
    switch (call) {
    case RECV:
        return MPI_Recv(a.buffer, a.count, a.type, a.peer, a.tag, a.comm, MPI_STATUS_IGNORE);
    case PROBE:
        return MPI_Probe(a.peer, a.tag, a.comm, MPI_STATUS_IGNORE);
    case IPROBE:
        return MPI_Iprobe(a.peer, a.tag, a.comm, &flag, MPI_STATUS_IGNORE);
    case MPROBE:
        return MPI_Mprobe(a.peer, a.tag, a.comm, &message, MPI_STATUS_IGNORE);
    case IMPROBE:
        return MPI_Improbe(a.peer, a.tag, a.comm, &flag, &message, MPI_STATUS_IGNORE);
    case SENDRECV_S:
        return MPI_Sendrecv(a.buffer, a.count, a.type, a.peer, a.tag, other, 1, MPI_INT, none, TAG, a.comm,
                            MPI_STATUS_IGNORE);
    case SENDRECV_R:
        return MPI_Sendrecv(other, 1, MPI_INT, none, TAG, a.buffer, a.count, a.type, a.peer, a.tag, a.comm,
                            MPI_STATUS_IGNORE);
    case REPLACE_S:
        return MPI_Sendrecv_replace(a.buffer, a.count, a.type, a.peer, a.tag, none, TAG, a.comm,
                                    MPI_STATUS_IGNORE);
    case REPLACE_R:
        return MPI_Sendrecv_replace(a.buffer, a.count, a.type, none, TAG, a.peer, a.tag, a.comm,
                                    MPI_STATUS_IGNORE);
    case IRECV:
        return MPI_Irecv(a.buffer, a.count, a.type, a.peer, a.tag, a.comm, a.request);
    default:
        return MPI_Recv_init(a.buffer, a.count, a.type, a.peer, a.tag, a.comm, a.request);
    }
}

static int receives(int call)
{
    return call == RECV || call == IRECV || call == RECV_INIT || (call >= PROBE && call <= IMPROBE) ||
           call == SENDRECV_R || call == REPLACE_R;
}

static int probes(int call)
{
    return call >= PROBE && call <= IMPROBE;
}

/* Would the call be right, with another peer than MPI_PROC_NULL, and wait for a message? */
static int is_right(int call, int fault)
{
    return fault == GOOD || (receives(call) && (fault == ANY_RANK || fault == TAG_ANY)) ||
           (probes(call) && (fault <= UNCOMMITTED || fault == NO_BUFFER)) ||
           (fault == NO_REQUEST && call < ISEND);
}

static void arguments(void)
{
    for (int call = 0; call < CALLS; call++)
        for (int fault = 0; fault < FAULTS; fault++)
            for (int real = 0; real < 2; real++) {
                MPI_Request request = MPI_REQUEST_NULL;
                if (fault == NO_BUFFER && call >= SEND_INIT) /* crashes under mpirun when it starts */
                    continue;
                if (fault == UNCOMMITTED && call >= BSEND_INIT &&
                    call <= RSEND_INIT) /* mpirun lets it pass */
                    continue;
                if (fault == NO_COMM && call >= PROBE && call <= IMPROBE) /* ends the job under mpirun */
                    continue;
                if (is_right(call, fault) && (real || fault == ANY_RANK))
                    continue;
                name_case("%s %s%s", call_names[call], fault_names[fault], real ? "" : " to nobody");
                int code = call_with(call, with(fault, real ? 1 - check_rank : MPI_PROC_NULL, &request));
                LINE("%s%s", class_of(code), request == MPI_REQUEST_NULL ? "" : " request");
                if (code == MPI_SUCCESS && request != MPI_REQUEST_NULL) {
                    if (call >= SEND_INIT && !real)
                        LINE("start %s", class_of(MPI_Start(&request)));
                    LINE("wait %s", class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)));
                    if (request != MPI_REQUEST_NULL)
                        MPI_Request_free(&request);
                }
            }
}

/* ---- requests ---- */

#define TRY(call)                                                                                            \
    do {                                                                                                     \
        name_case("%s", #call);                                                                              \
        LINE("%s", class_of(call));                                                                          \
    } while (0)

static void requests(void)
{
    MPI_Request null = MPI_REQUEST_NULL, request = MPI_REQUEST_NULL,
                two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Message nobody = MPI_MESSAGE_NO_PROC;
    MPI_Status status;
    int flag = 7, index = 7, count = 7, indices[2];

    name_case("null");
    TRY(MPI_Wait(&null, &status));
    TRY(MPI_Test(&null, &flag, &status));
    LINE("%d", flag);
    TRY(MPI_Waitany(2, two, &index, &status));
    LINE("%s", index == MPI_UNDEFINED ? "undefined" : "other");
    TRY(MPI_Testany(2, two, &index, &flag, &status));
    LINE("%s %d", index == MPI_UNDEFINED ? "undefined" : "other", flag);
    TRY(MPI_Waitsome(2, two, &count, indices, MPI_STATUSES_IGNORE));
    LINE("%s", count == MPI_UNDEFINED ? "undefined" : "other");
    TRY(MPI_Testsome(2, two, &count, indices, MPI_STATUSES_IGNORE));
    LINE("%s", count == MPI_UNDEFINED ? "undefined" : "other");
    TRY(MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE));
    TRY(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    TRY(MPI_Waitall(-1, two, MPI_STATUSES_IGNORE));
    TRY(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE));
    TRY(MPI_Testall(2, NULL, &flag, MPI_STATUSES_IGNORE));
    TRY(MPI_Testall(2, two, NULL, MPI_STATUSES_IGNORE));
    TRY(MPI_Waitany(-1, two, &index, &status));
    TRY(MPI_Waitany(0, two, &index, &status));
    TRY(MPI_Waitany(2, two, NULL, &status));
    TRY(MPI_Testany(0, NULL, &index, &flag, &status));
    TRY(MPI_Testany(2, two, &index, NULL, &status));
    TRY(MPI_Waitsome(-1, two, &count, indices, MPI_STATUSES_IGNORE));
    TRY(MPI_Waitsome(2, two, NULL, indices, MPI_STATUSES_IGNORE));
    TRY(MPI_Waitsome(0, two, &count, indices, MPI_STATUSES_IGNORE));
    LINE("%s", count == MPI_UNDEFINED ? "undefined" : "other");
    TRY(MPI_Testsome(0, two, &count, indices, MPI_STATUSES_IGNORE));
    LINE("%s", count == MPI_UNDEFINED ? "undefined" : "other");
    TRY(MPI_Testsome(2, two, &count, NULL, MPI_STATUSES_IGNORE));
    TRY(MPI_Wait(NULL, &status));
    TRY(MPI_Test(NULL, &flag, &status));
    TRY(MPI_Test(&null, NULL, &status));
    TRY(MPI_Request_get_status(null, &flag, &status));
    TRY(MPI_Request_get_status(null, NULL, &status));
    TRY(MPI_Cancel(&null));
    TRY(MPI_Cancel(NULL));
    TRY(MPI_Request_free(&null));
    TRY(MPI_Request_free(NULL));
    TRY(MPI_Start(&null));
    TRY(MPI_Start(NULL));
    TRY(MPI_Startall(2, two));
    TRY(MPI_Startall(0, NULL));
    TRY(MPI_Startall(2, NULL));
    TRY(MPI_Startall(-1, two));
    TRY(MPI_Mrecv(data, 1, MPI_INT, &nobody, &status));
    LINE("%s", nobody == MPI_MESSAGE_NULL ? "gone" : "left");
    nobody = MPI_MESSAGE_NO_PROC;
    TRY(MPI_Imrecv(data, 1, MPI_INT, &nobody, &request));
    TRY(MPI_Wait(&request, &status));
    LINE("%s", status.MPI_SOURCE == MPI_PROC_NULL ? "nobody" : "other");

    name_case("inactive");
    MPI_Recv_init(data, 1, MPI_INT, MPI_PROC_NULL, TAG, comm, &request);
    TRY(MPI_Wait(&request, &status));
    LINE("%s", request == MPI_REQUEST_NULL ? "gone" : "left");
    TRY(MPI_Test(&request, &flag, &status));
    TRY(MPI_Waitany(1, &request, &index, &status));
    LINE("%s", index == MPI_UNDEFINED ? "undefined" : "other");
    TRY(MPI_Waitsome(1, &request, &count, indices, MPI_STATUSES_IGNORE));
    LINE("%s", count == MPI_UNDEFINED ? "undefined" : "other");
    TRY(MPI_Request_get_status(request, &flag, &status));
    LINE("%d", flag);
    TRY(MPI_Start(&request));
    TRY(MPI_Cancel(&request));
    TRY(MPI_Wait(&request, &status));
    LINE("%s", status.MPI_SOURCE == MPI_PROC_NULL ? "nobody" : "other");
    TRY(MPI_Request_free(&request));
    LINE("%s", request == MPI_REQUEST_NULL ? "gone" : "left");

    name_case("active");
    MPI_Recv_init(data, 1, MPI_INT, check_rank, TAG, comm, &request);
    TRY(MPI_Start(&request)); /* to start it again has another result under mpirun in each kind of request */
    TRY(MPI_Send(other, 1, MPI_INT, check_rank, TAG, comm));
    TRY(MPI_Wait(&request, &status));
    TRY(MPI_Request_free(&request));
    MPI_Irecv(data, 1, MPI_INT, check_rank, TAG, comm, &request);
    TRY(MPI_Start(&request));
    TRY(MPI_Send(other, 1, MPI_INT, check_rank, TAG, comm));
    TRY(MPI_Wait(&request, &status));
    MPI_Irecv(data, 1, MPI_INT, check_rank, TAG, comm, &request);
    TRY(MPI_Cancel(&request));
    TRY(MPI_Wait(&request, &status));
    MPI_Test_cancelled(&status, &flag);
    LINE("%d", flag);
}

/* ---- collectives ---- */

/* What one rank gives for each other, and its room for what comes; in ints. */
static void collectives(int long_rank, int sent, int room)
{
    enum {
        BCAST,
        GATHER,
        GATHERV,
        SCATTER,
        SCATTERV,
        ALLGATHER,
        ALLGATHERV,
        ALLTOALL,
        ALLTOALLV,
        REDUCE,
        ALLREDUCE,
        SCAN,
        EXSCAN,
        REDUCE_SCATTER_BLOCK,
        KINDS
    };
    static const char *const kinds[KINDS] = {
        "Bcast",    "Gather",    "Gatherv", "Scatter",   "Scatterv", "Allgather", "Allgatherv",
        "Alltoall", "Alltoallv", "Reduce",  "Allreduce", "Scan",     "Exscan",    "Reduce_scatter_block"};
    int mine = check_rank == long_rank ? sent : room, places[2] = {0, 16}, lengths[2],
        rooms[2] = {room, room};

    lengths[0] = lengths[1] = sent;
    rooms[long_rank] = sent; /* its own block fits */
    for (int kind = 0; kind < KINDS; kind++)
        for (int blocking = 1; blocking >= 0; blocking--) {
            MPI_Request request = MPI_REQUEST_NULL;
            int code = 0, root = long_rank, far = 1 - long_rank;
            memset(other, -1, sizeof other);
            for (int i = 0; i < 64; i++)
                data[i] = 100 * check_rank + i;
            name_case("%s%s %d from %d into %d", blocking ? "" : "I", kinds[kind], sent, long_rank, room);
            switch (2 * kind + blocking) {
            case 2 * BCAST + 1:
                code = MPI_Bcast(check_rank == root ? data : other, mine, MPI_INT, root, comm);
                break;
            case 2 * BCAST:
                code = MPI_Ibcast(check_rank == root ? data : other, mine, MPI_INT, root, comm, &request);
                break;
            case 2 * GATHER + 1:
                code = MPI_Gather(check_rank == far ? MPI_IN_PLACE : data, sent, MPI_INT, other, room,
                                  MPI_INT, far, comm);
                break;
            case 2 * GATHERV + 1:
                code = MPI_Gatherv(check_rank == far ? MPI_IN_PLACE : data, sent, MPI_INT, other,
                                   (int[]){room, room}, places, MPI_INT, far, comm);
                break;
            case 2 * GATHERV:
                code = MPI_Igatherv(check_rank == far ? MPI_IN_PLACE : data, sent, MPI_INT, other,
                                    (int[]){room, room}, places, MPI_INT, far, comm, &request);
                break;
            case 2 * SCATTER + 1:
                code = MPI_Scatter(data, sent, MPI_INT, check_rank == root ? MPI_IN_PLACE : other, room,
                                   MPI_INT, root, comm);
                break;
            case 2 * SCATTERV + 1:
                code = MPI_Scatterv(data, lengths, places, MPI_INT, check_rank == root ? MPI_IN_PLACE : other,
                                    room, MPI_INT, root, comm);
                break;
            case 2 * SCATTERV:
                code =
                    MPI_Iscatterv(data, lengths, places, MPI_INT, check_rank == root ? MPI_IN_PLACE : other,
                                  room, MPI_INT, root, comm, &request);
                break;
            case 2 * ALLGATHERV + 1:
                code = MPI_Allgatherv(data, mine, MPI_INT, other,
                                      check_rank == root ? (int[]){rooms[0], rooms[1]} : (int[]){room, room},
                                      places, MPI_INT, comm);
                break;
            case 2 * ALLTOALLV + 1:
                code =
                    MPI_Alltoallv(data, (int[]){check_rank == 0 ? room : mine, check_rank == 1 ? room : mine},
                                  places, MPI_INT, other, (int[]){room, room}, places, MPI_INT, comm);
                break;
            case 2 * REDUCE + 1:
                code = MPI_Reduce(data, other, mine, MPI_INT, MPI_SUM, far, comm);
                break;
            case 2 * ALLREDUCE + 1:
                code = MPI_Allreduce(data, other, mine, MPI_INT, MPI_SUM, comm);
                break;
            case 2 * SCAN + 1:
                code = MPI_Scan(data, other, mine, MPI_INT, MPI_SUM, comm);
                break;
            case 2 * EXSCAN + 1:
                code = MPI_Exscan(data, other, mine, MPI_INT, MPI_SUM, comm);
                break;
            default:
                continue;
            }
            if (code == MPI_SUCCESS && !blocking)
                code = MPI_Wait(&request, MPI_STATUS_IGNORE);
            int beyond = 0;
            for (int i = mine < room ? mine : room;
                 kind <= SCATTERV && kind != GATHER && check_simulated() && i < 16; i++)
                beyond += other[i] != -1;
            LINE("%s%s", class_of(code), beyond ? " and beyond" : "");
            MPI_Barrier(comm);
        }
}

/* Blocks of one size among all members, with a member's own: what has arrived where all is well. */
static void blocks(MPI_Comm where, const char *members, int sent, int room, MPI_Datatype type,
                   const char *kind)
{
    enum { GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, KINDS };
    static const char *const kinds[KINDS] = {"Gather",     "Gatherv",  "Scatter",   "Scatterv", "Allgather",
                                             "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw"};
    int sends[2] = {sent, sent}, rooms[2] = {room, room}, places[2] = {0, 8}, bytes[2] = {0, 100};
    MPI_Datatype ints[2] = {MPI_INT, MPI_INT}, types[2] = {type, type};

    for (int which = 0; which < KINDS; which++)
        for (int blocking = 1; blocking >= 0; blocking--) {
            MPI_Request request = MPI_REQUEST_NULL;
            int code = 0;
            memset(other, -1, sizeof other);
            for (int i = 0; i < 64; i++)
                data[i] = 100 * check_rank + i;
            name_case("%s%s %s %d into %d %s", blocking ? "" : "I", kinds[which], members, sent, room, kind);
            switch (2 * which + blocking) {
            case 2 * GATHER + 1:
                code = MPI_Gather(data, sent, MPI_INT, other, room, type, 0, where);
                break;
            case 2 * GATHER:
                code = MPI_Igather(data, sent, MPI_INT, other, room, type, 0, where, &request);
                break;
            case 2 * GATHERV + 1:
                code = MPI_Gatherv(data, sent, MPI_INT, other, rooms, places, type, 0, where);
                break;
            case 2 * GATHERV:
                code = MPI_Igatherv(data, sent, MPI_INT, other, rooms, places, type, 0, where, &request);
                break;
            case 2 * SCATTER + 1:
                code = MPI_Scatter(data, sent, MPI_INT, other, room, type, 0, where);
                break;
            case 2 * SCATTER:
                code = MPI_Iscatter(data, sent, MPI_INT, other, room, type, 0, where, &request);
                break;
            case 2 * SCATTERV + 1:
                code = MPI_Scatterv(data, sends, places, MPI_INT, other, room, type, 0, where);
                break;
            case 2 * SCATTERV:
                code = MPI_Iscatterv(data, sends, places, MPI_INT, other, room, type, 0, where, &request);
                break;
            case 2 * ALLGATHER + 1:
                code = MPI_Allgather(data, sent, MPI_INT, other, room, type, where);
                break;
            case 2 * ALLGATHER:
                code = MPI_Iallgather(data, sent, MPI_INT, other, room, type, where, &request);
                break;
            case 2 * ALLGATHERV + 1:
                code = MPI_Allgatherv(data, sent, MPI_INT, other, rooms, places, type, where);
                break;
            case 2 * ALLGATHERV:
                code = MPI_Iallgatherv(data, sent, MPI_INT, other, rooms, places, type, where, &request);
                break;
            case 2 * ALLTOALL + 1:
                code = MPI_Alltoall(data, sent, MPI_INT, other, room, type, where);
                break;
            case 2 * ALLTOALL:
                code = MPI_Ialltoall(data, sent, MPI_INT, other, room, type, where, &request);
                break;
            case 2 * ALLTOALLV + 1:
                code = MPI_Alltoallv(data, sends, places, MPI_INT, other, rooms, places, type, where);
                break;
            case 2 * ALLTOALLV:
                code =
                    MPI_Ialltoallv(data, sends, places, MPI_INT, other, rooms, places, type, where, &request);
                break;
            case 2 * ALLTOALLW + 1:
                code = MPI_Alltoallw(data, sends, bytes, ints, other, rooms, bytes, types, where);
                break;
            case 2 * ALLTOALLW:
                code = MPI_Ialltoallw(data, sends, bytes, ints, other, rooms, bytes, types, where, &request);
                break;
            }
            if (code == MPI_SUCCESS && !blocking)
                code = MPI_Wait(&request, MPI_STATUS_IGNORE);
            unsigned sum = 0;
            for (int i = 0; i < 64 && code == MPI_SUCCESS; i++)
                sum = sum * 31 + (unsigned)other[i];
            LINE("%s %x", class_of(code), sum);
            MPI_Barrier(comm);
        }
}

/* The block that a member of a nonblocking collective sends itself is too long: a rank that only looks at the
 * completion learns it there. (Under mpirun the request is never made, and the start returns the error.) */
static void own_block(void)
{
    int from[4] = {1, 2, 3, 4}, to[64] = {0};
    MPI_Request requests[2];

    if (!check_simulated())
        return;
    CHECK_OK(MPI_Igather(from, 4, MPI_INT, to, 1, MPI_INT, 0, comm, &requests[0]));
    int at_root = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(at_root == (check_rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
    CHECK_OK(MPI_Iallgather(from, 4, MPI_INT, to, 1, MPI_INT, comm, &requests[1]));
    CHECK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE) == MPI_ERR_TRUNCATE);
}

static char operation_is(int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class == MPI_SUCCESS ? 'y' : class == MPI_ERR_OP ? '-' : '?';
}

/* Which predefined operations there are for which predefined datatypes. */
static void operations(void)
{
    static const struct {
        MPI_Datatype type;
        const char *name;
    } types[] = {{MPI_CHAR, "char"},
                 {MPI_UNSIGNED_CHAR, "unsigned char"},
                 {MPI_BYTE, "byte"},
                 {MPI_INT, "int"},
                 {MPI_INT64_T, "int64_t"},
                 {MPI_FLOAT, "float"},
                 {MPI_LONG_DOUBLE, "long double"},
                 {MPI_C_BOOL, "bool"},
                 {MPI_AINT, "aint"},
                 {MPI_C_DOUBLE_COMPLEX, "complex"},
                 {MPI_2INT, "2int"},
                 {MPI_INTEGER, "INTEGER"},
                 {MPI_LOGICAL, "LOGICAL"},
                 {MPI_DOUBLE_PRECISION, "DOUBLE PRECISION"}};
    static const MPI_Op ops[] = {MPI_MAX, MPI_SUM, MPI_LAND, MPI_LXOR, MPI_BOR, MPI_MINLOC, MPI_REPLACE};
    double *memory;
    MPI_Win win;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char text[8] = "", local[8] = "", there[8] = "";
        for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++) {
            double in[4] = {0}, out[4] = {0};
            text[k] = operation_is(MPI_Allreduce(in, out, 1, types[i].type, ops[k], comm));
            local[k] = operation_is(MPI_Reduce_local(in, out, 1, types[i].type, ops[k]));
            there[k] = operation_is(
                MPI_Accumulate(in, 1, types[i].type, check_rank, 0, 1, types[i].type, ops[k], win));
            MPI_Win_fence(0, win);
        }
        LINE("operations on %s: %s, here %s, there %s", types[i].name, text, local, there);
    }
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    static char buffer[100000];
    MPI_Datatype gaps;
    int length;

    check_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    arguments();
    requests();
    collectives(0, 6, 2);
    collectives(1, 6, 2);
    collectives(0, 2, 6);
    MPI_Type_vector(3, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    blocks(comm, "all", 6, 6, MPI_INT, "int");
    blocks(comm, "all", 3, 1, gaps, "gaps");
    blocks(comm, "all", 2, 6, MPI_INT, "int");
    blocks(comm, "all", 2, 1, gaps, "gaps");
    blocks(MPI_COMM_SELF, "self", 2, 6, MPI_INT, "int");
    blocks(MPI_COMM_SELF, "self", 2, 1, gaps, "gaps");
    blocks(MPI_COMM_SELF, "self", 6, 2, MPI_INT, "int");
    blocks(MPI_COMM_SELF, "self", 6, 1, gaps, "gaps");
    own_block();
    operations();
    MPI_Type_free(&gaps);
    MPI_Type_free(&uncommitted);
    MPI_Buffer_detach(buffer, &length);
    print_lines();
    MPI_Comm_free(&comm);
    return check_end("wrongcalls");
}
