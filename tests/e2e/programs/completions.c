/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none stock=no np=2 compare=mpirun without=mpich */
/* Stock MPICH has other statuses for a null peer and for messages without room, and packs nothing from
 * MPI_BOTTOM: not in model mpich. */
/*
 * Every way of sending and receiving x every way of completing x which peer x how long the message is x
 * the datatype. Each case is a line: the error class, the status, what has arrived. The lines must be those
 * under mpirun.
 */
#include "check.h"
#include "lines.h"

enum { ROOM = 64, TAG = 5, GO = 9 };

static MPI_Comm comm;

/* ---- datatypes: what is sent and what is received, with gaps on either side ---- */

enum { PLAIN, GAPS, LATE, NOTHING, TYPES };
static const char *const type_names[TYPES] = {"int", "gaps", "late", "nothing"};
static MPI_Datatype types[TYPES];
static const int type_items[TYPES] = {1, 3, 1, 0}; /* ints in one */

static void make_types(void)
{
    MPI_Datatype pair;
    int length = 1;
    MPI_Aint at = 4;

    types[PLAIN] = MPI_INT;
    MPI_Type_vector(3, 1, 2, MPI_INT, &types[GAPS]);
    MPI_Type_create_hindexed(1, &length, &at, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 12, &types[LATE]);
    MPI_Type_free(&pair);
    MPI_Type_contiguous(0, MPI_INT, &types[NOTHING]);
    for (int i = 1; i < TYPES; i++)
        MPI_Type_commit(&types[i]);
}

/* ---- completing ---- */

enum { WAIT, WAITALL, WAITANY, WAITSOME, TEST, TESTALL, TESTANY, TESTSOME, ASK, WAYS };
static const char *const way_names[WAYS] = {"Wait",    "Waitall", "Waitany",  "Waitsome",          "Test",
                                            "Testall", "Testany", "Testsome", "Request_get_status"};

/* Completes one request. Arrays have a null one as well. Returns the code; an error of the status is noted.
 */
static int complete(int way, MPI_Request *request, MPI_Status *status, int ignore)
{
    MPI_Request both[2] = {MPI_REQUEST_NULL, *request};
    MPI_Status two[2], *one = ignore ? MPI_STATUS_IGNORE : status, *all = ignore ? MPI_STATUSES_IGNORE : two;
    int flag = 0, index = -5, count = 0, indices[2], code = MPI_SUCCESS, at = 1;

    memset(two, 0, sizeof two);
    two[0].MPI_ERROR = two[1].MPI_ERROR = MPI_SUCCESS;
    switch (way) {
    case WAIT:
        return MPI_Wait(request, one);
    case TEST:
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Test(request, &flag, one);
        return code;
    case ASK:
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Request_get_status(*request, &flag, one);
        return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
    case WAITALL:
        code = MPI_Waitall(2, both, all);
        break;
    case TESTALL:
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Testall(2, both, &flag, all);
        break;
    case WAITANY:
        code = MPI_Waitany(2, both, &index, one);
        break;
    case TESTANY:
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Testany(2, both, &index, &flag, one);
        break;
    case WAITSOME:
        code = MPI_Waitsome(2, both, &count, indices, all);
        at = 0;
        break;
    case TESTSOME:
        while (count == 0 && code == MPI_SUCCESS)
            code = MPI_Testsome(2, both, &count, indices, all);
        at = 0;
        break;
    }
    if (way == WAITANY || way == TESTANY) {
        if (index != 1)
            LINE("index %d", index);
    } else if (!ignore) {
        *status = two[at];
        if (code != MPI_SUCCESS)
            LINE("status has %s", class_of(two[at].MPI_ERROR));
    }
    *request = both[1];
    return code;
}

static void print_status(int code, const MPI_Status *status, MPI_Datatype type)
{
    int count = -1, elements = -1, cancelled = -1;

    if (code != MPI_SUCCESS) { /* what it has received then is undefined */
        LINE("%s", class_of(code));
        return;
    }
    MPI_Get_count(status, type, &count);
    MPI_Get_elements(status, type, &elements);
    MPI_Test_cancelled(status, &cancelled);
    LINE("ok source %s tag %s count %d elements %d%s",
         status->MPI_SOURCE == MPI_PROC_NULL    ? "nobody"
         : status->MPI_SOURCE == MPI_ANY_SOURCE ? "any"
         : status->MPI_SOURCE == check_rank     ? "me"
                                                : "other",
         status->MPI_TAG == MPI_ANY_TAG ? "any" : "right", count == MPI_UNDEFINED ? -1 : count,
         elements == MPI_UNDEFINED ? -1 : elements, cancelled ? " cancelled" : "");
}

/* ---- data ---- */

static int out[3 * ROOM], in[3 * ROOM];

static void clean(void)
{
    for (int i = 0; i < 3 * ROOM; i++) {
        out[i] = 1000 + i;
        in[i] = -1;
    }
}

/* The ints that have changed, where and to what. */
static void print_data(void)
{
    unsigned long sum = 0;
    int changed = 0;

    for (int i = 0; i < 3 * ROOM; i++)
        if (in[i] != -1) {
            changed++;
            sum = sum * 31 + (unsigned long)(i * 7 + in[i]);
        }
    LINE("%d ints, %lx", changed, sum & 0xffffff);
}

/* ---- point-to-point ---- */

enum { OTHER, SELF, NOBODY, ANYBODY, PEERS };
static const char *const peer_names[PEERS] = {"other", "self", "null", "any"};
enum { SEND, BSEND, SSEND, RSEND, MODES };
static const char *const mode_names[MODES] = {"", "b", "s", "r"};
enum { BLOCKING, IMMEDIATE, PERSISTENT, STARTALL, FORMS };
static const char *const form_names[FORMS] = {"", "I", "init ", "startall "};

static int send_to(int mode, int form, int count, MPI_Datatype type, int peer, MPI_Request *request)
{
    typedef int call(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    typedef int make(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    call *const calls[MODES] = {MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend};
    make *const immediate[MODES] = {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};
    make *const inits[MODES] = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};

    *request = MPI_REQUEST_NULL;
    if (form == BLOCKING)
        return calls[mode](out, count, type, peer, TAG, comm);
    int code = (form == IMMEDIATE ? immediate : inits)[mode](out, count, type, peer, TAG, comm, request);
    if (code == MPI_SUCCESS && form == PERSISTENT)
        code = MPI_Start(request);
    if (code == MPI_SUCCESS && form == STARTALL)
        code = MPI_Startall(1, request);
    return code;
}

static int receive_from(int form, int count, MPI_Datatype type, int peer, int tag, MPI_Request *request)
{
    int code;

    if (form == IMMEDIATE)
        return MPI_Irecv(in, count, type, peer, tag, comm, request);
    code = MPI_Recv_init(in, count, type, peer, tag, comm, request);
    if (code == MPI_SUCCESS)
        code = form == PERSISTENT ? MPI_Start(request) : MPI_Startall(1, request);
    return code;
}

static void drop(MPI_Request *request)
{
    if (*request != MPI_REQUEST_NULL)
        MPI_Request_free(request);
}

/* What both ranks have sent before has arrived when this is over. */
static void go(void)
{
    int to = 1 - check_rank;

    MPI_Sendrecv(NULL, 0, MPI_INT, to, GO, NULL, 0, MPI_INT, to, GO, comm, MPI_STATUS_IGNORE);
}

static int is_array(int way)
{
    return way == WAITALL || way == WAITSOME || way == TESTALL || way == TESTSOME;
}

/*
 * What is an error in the models, and what stock Open MPI 4.1 overlooks (docs/stock.md): messages of a rank
 * to itself that are too long, persistent receives of them in calls for several requests, and receives of
 * matched messages into a datatype without data.
 */
static int mended(int code, int way, int persistent, int peer, int sent, int room, int type, int ignore)
{
    if (check_simulated() || code != MPI_SUCCESS || sent <= room * type_items[type] || peer == NOBODY)
        return code;
    if (is_array(way) && !ignore)
        LINE("status has TRUNCATE");
    if (peer != SELF && type_items[type] && !(persistent && (is_array(way) || way == TESTANY)))
        LINE("silent");
    return is_array(way) ? MPI_ERR_IN_STATUS : MPI_ERR_TRUNCATE;
}

static int rank_of(int peer)
{
    return peer == OTHER    ? 1 - check_rank
           : peer == SELF   ? check_rank
           : peer == NOBODY ? MPI_PROC_NULL
                            : MPI_ANY_SOURCE;
}

/* Both ranks do the same: a receive is posted, a message is sent, both are completed. */
static void one_case(int mode, int send_form, int form, int way, int peer, int sent, int room, int type,
                     int tag, int ignore)
{
    MPI_Request receive, send;
    MPI_Status status = {0}, sends = {0};
    int to = peer == ANYBODY ? 1 - check_rank : rank_of(peer), code;

    name_case("%ssend%s %srecv%s%s %s %d into %d %s%s", form_names[send_form], mode_names[mode],
              form_names[form], tag == MPI_ANY_TAG ? " any tag " : " ", way_names[way], peer_names[peer],
              sent, room, type_names[type], ignore ? " ignored" : "");
    clean();
    code = receive_from(form, room, types[type], rank_of(peer), tag, &receive);
    if (code != MPI_SUCCESS)
        LINE("receive %s", class_of(code));
    if (mode == RSEND)
        MPI_Barrier(comm);
    code = send_to(mode, send_form, sent, MPI_INT, to, &send);
    if (code != MPI_SUCCESS)
        LINE("send %s", class_of(code));
    go();
    code = complete(way, &receive, &status, ignore);
    code = mended(code, way, form > IMMEDIATE, peer, sent, room, type, ignore);
    if (ignore)
        LINE("%s", class_of(code));
    else
        print_status(code, &status, types[type]);
    drop(&receive);
    if (send_form != BLOCKING) {
        code = complete(way, &send, &sends, 1);
        if (code != MPI_SUCCESS)
            LINE("send completed %s", class_of(code));
        drop(&send);
    }
    print_data();
}

/* So many ints, and items of the type to receive them. */
static const int lengths[][2] = {{6, 6}, {6, 2}, {4, 6}, {0, 6}, {6, 0}, {0, 0}, {7, 9}};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static int items(int ints, int type)
{
    return type_items[type] ? ints / type_items[type] : ints;
}

static void point_to_point(void)
{
    for (int form = IMMEDIATE; form < FORMS; form++)
        for (int way = 0; way < WAYS; way++)
            for (int peer = 0; peer < PEERS; peer++)
                for (int length = 0; length < LENGTHS; length++)
                    for (int type = 0; type < TYPES; type++)
                        one_case(SEND, IMMEDIATE, form, way, peer, lengths[length][0],
                                 items(lengths[length][1], type), type, type % 2 ? MPI_ANY_TAG : TAG,
                                 (form + way + length) % 3 == 0);
    for (int mode = 0; mode < MODES; mode++)
        for (int form = 0; form < FORMS; form++)
            for (int way = 0; way < WAYS; way++)
                for (int peer = 0; peer < PEERS; peer++)
                    if (form != BLOCKING || way == WAIT)
                        for (int length = 0; length < 2; length++)
                            one_case(mode, form, IMMEDIATE, way, peer, lengths[length][0], lengths[length][1],
                                     PLAIN, TAG, 0);
}

/* Receives that block, and both at once; the other rank's message is there already. */
static void blocking(int call, int peer, int sent, int room, int type, int tag, int ignore)
{
    static const char *const calls[] = {
        "Recv",       "Mrecv",       "Imrecv",       "Sendrecv", "Sendrecv_replace",
        "Probe Recv", "Iprobe Recv", "Improbe Mrecv"};
    MPI_Request send = MPI_REQUEST_NULL, receive;
    MPI_Status status = {0}, probed = {0}, *s = ignore ? MPI_STATUS_IGNORE : &status;
    MPI_Message message = MPI_MESSAGE_NULL;
    int way = WAIT, from = rank_of(peer), to = peer == ANYBODY ? 1 - check_rank : from, code = 0, flag = 0;
    MPI_Datatype t = types[type];

    name_case("%s%s %s %d into %d %s%s", calls[call], tag == MPI_ANY_TAG ? " any tag" : "", peer_names[peer],
              sent, room, type_names[type], ignore ? " ignored" : "");
    clean();
    if (call != 3 && call != 4) {
        MPI_Isend(out, sent, MPI_INT, to, TAG, comm, &send);
        go();
    }
    switch (call) {
    case 0:
        code = MPI_Recv(in, room, t, from, tag, comm, s);
        break;
    case 1:
        MPI_Mprobe(from, tag, comm, &message, &probed);
        print_status(0, &probed, t);
        code = MPI_Mrecv(in, room, t, &message, s);
        break;
    case 2:
        MPI_Mprobe(from, tag, comm, &message, &probed);
        code = MPI_Imrecv(in, room, t, &message, &receive);
        if (code == MPI_SUCCESS)
            code = complete(way = (room + peer) % WAYS, &receive, &status, ignore);
        break;
    case 3:
        code = MPI_Sendrecv(out, sent, MPI_INT, to, TAG, in, room, t, from, tag, comm, s);
        break;
    case 4:
        memcpy(in, out, sizeof in);
        code = MPI_Sendrecv_replace(in, room, t, to, TAG, from, tag, comm, s);
        break;
    case 5:
        MPI_Probe(from, tag, comm, &probed);
        print_status(0, &probed, t);
        code = MPI_Recv(in, room, t, from, tag, comm, s);
        break;
    case 6:
        while (!flag)
            MPI_Iprobe(from, tag, comm, &flag, &probed);
        print_status(0, &probed, t);
        code = MPI_Recv(in, room, t, from, tag, comm, s);
        break;
    case 7:
        while (!flag)
            MPI_Improbe(from, tag, comm, &flag, &message, &probed);
        print_status(0, &probed, t);
        code = MPI_Mrecv(in, room, t, &message, s);
        break;
    }
    if (call != 4)
        code = mended(code, way, 0, peer, sent, room, type, ignore);
    if (ignore)
        LINE("%s", class_of(code));
    else
        print_status(code, &status, t);
    if (message != MPI_MESSAGE_NULL)
        LINE("message is left");
    print_data();
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
}

static void receives(void)
{
    for (int call = 0; call < 8; call++)
        for (int peer = 0; peer < PEERS; peer++)
            for (int length = 0; length < LENGTHS; length++)
                for (int type = 0; type < TYPES; type++)
                    blocking(call, peer, lengths[length][0], items(lengths[length][1], type), type,
                             (length + type) % 2 ? MPI_ANY_TAG : TAG, (call + length + type) % 3 == 0);
}

/* The origin's place is in the datatype. */
static void pack_from_bottom(void)
{
    int source[4], packed[4], position = 0, length = 4;
    MPI_Aint address;
    MPI_Datatype absolute;

    check_fill(source, 4, check_rank, 1);
    MPI_Get_address(source, &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    CHECK_OK(MPI_Pack(MPI_BOTTOM, 1, absolute, packed, sizeof packed, &position, MPI_COMM_WORLD));
    CHECK(position == sizeof source && memcmp(packed, source, sizeof source) == 0);
    MPI_Type_free(&absolute);
}

int main(int argc, char **argv)
{
    static char buffer[100000];
    int length;

    check_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Buffer_attach(buffer, sizeof buffer);
    make_types();
    pack_from_bottom();
    point_to_point();
    receives();
    MPI_Buffer_detach(buffer, &length);
    print_lines();
    for (int i = 1; i < TYPES; i++)
        MPI_Type_free(&types[i]);
    MPI_Comm_free(&comm);
    return check_end("completions");
}
