/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of a rank as lines that pfrun -replay reads (docs/replay.md). This text serves twice: in
 * Parfocal, and in the library that pfinfo --record-program=calls prints for any other MPI; so it knows
 * nothing but mpi.h. The including file defines before:
 *
 *   record_self()                      the calling rank's struct recorder, NULL if nothing is to be recorded
 *   record_emit(me, text, length)      appends to what the rank has recorded; the position of the text in it
 *   record_amend(me, at, text, length) writes over what stands there
 *   record_computed(me, &sleeps)       what has passed since the last recorded call and is in no line: flops,
 * or seconds that are no computation record_left(me)                    a call, with what has been written of
 * it, is over record_closed(me)                  the rank's last line has been written RECORD_CALL(name) the
 * function that does the work RECORD_FUNCTION                    static, where no one else calls the
 * functions below
 *   RECORD_NEW_COMM(me, comm, number)  a communicator has got its number
 *
 * The tables record_types[] and record_ops[] are generated (surface/record_tables.py). The functions
 * record_NAME are generated (surface/record_trace.py), or below.
 */

/* Handles and their numbers in the recording: the least that is free. */
struct record_map {
    unsigned long *keys;
    int *numbers;
    size_t room, count;
    int *freed, freed_count, freed_room, next;
};

/* A pending or persistent request. */
struct record_request {
    int source, destination, tag;
    long wild; /* where its source and tag stand, to be filled in when they are known; -1: they are */
    int persistent;
};

struct recorder {
    struct record_map comms, requests, wins, messages;
    struct record_request *request;
    int request_room;
    char *text; /* the line */
    size_t used, text_room;
    void *scratch; /* of one call: requests as they were, or statuses */
    size_t scratch_room;
    int rank, depth, open;
};

static void *record_grow(void *memory, size_t *room, size_t wanted, size_t size)
{
    if (wanted <= *room)
        return memory;
    *room = 2 * wanted;
    memory = realloc(memory, *room * size);
    if (!memory) {
        fprintf(stderr, "parfocal: error: no memory for the recording\n");
        abort();
    }
    return memory;
}

/* Numbers of handles. The table is never more than half full. */
static size_t record_slot(const struct record_map *map, unsigned long key)
{
    size_t at = (key * 0x9e3779b97f4a7c15ul >> 20) & (map->room - 1);
    while (map->numbers[at] >= 0 && map->keys[at] != key)
        at = (at + 1) & (map->room - 1);
    return at;
}

static int record_number(const struct record_map *map, unsigned long key)
{
    return map->room ? map->numbers[record_slot(map, key)] : -1;
}

static void record_put(struct record_map *map, unsigned long key, int number)
{
    if (2 * (map->count + 1) > map->room) {
        struct record_map old = *map;
        size_t none = 0;
        map->room = old.room ? 2 * old.room : 64;
        map->count = 0;
        map->keys = record_grow(NULL, &none, map->room, sizeof *map->keys);
        none = 0;
        map->numbers = record_grow(NULL, &none, map->room, sizeof *map->numbers);
        memset(map->numbers, 0xff, map->room * sizeof *map->numbers);
        for (size_t i = 0; i < old.room; i++)
            if (old.numbers[i] >= 0)
                record_put(map, old.keys[i], old.numbers[i]);
        free(old.keys);
        free(old.numbers);
    }
    size_t at = record_slot(map, key);
    map->count += map->numbers[at] < 0;
    map->keys[at] = key;
    map->numbers[at] = number;
}

static int record_new(struct record_map *map, unsigned long key)
{
    int number = map->freed_count ? map->freed[--map->freed_count] : map->next++;
    record_put(map, key, number);
    return number;
}

/* What comes behind it in the table may have wanted its place. */
static void record_forget(struct record_map *map, unsigned long key)
{
    size_t at = map->room ? record_slot(map, key) : 0, room = (size_t)map->freed_room;
    if (!map->room || map->numbers[at] < 0)
        return;
    map->freed = record_grow(map->freed, &room, (size_t)map->freed_count + 1, sizeof *map->freed);
    map->freed_room = (int)room;
    map->freed[map->freed_count++] = map->numbers[at];
    map->numbers[at] = -1;
    map->count--;
    for (size_t i = (at + 1) & (map->room - 1); map->numbers[i] >= 0; i = (i + 1) & (map->room - 1)) {
        int number = map->numbers[i];
        map->numbers[i] = -1;
        size_t wanted = record_slot(map, map->keys[i]);
        map->keys[wanted] = map->keys[i];
        map->numbers[wanted] = number;
    }
}

/* A handle is a pointer in one MPI and an int in another. */
#define RECORD_KEY(handle)                                                                                   \
    ({                                                                                                       \
        unsigned long record_key_ = 0;                                                                       \
        __typeof__(handle) record_handle_ = (handle);                                                        \
        memcpy(&record_key_, &record_handle_, sizeof record_handle_);                                        \
        record_key_;                                                                                         \
    })

/* The line: words with a blank between. */
static void record_text(struct recorder *me, const char *text)
{
    size_t length = strlen(text);
    me->text = record_grow(me->text, &me->text_room, me->used + length + 40, 1);
    memcpy(me->text + me->used, text, length);
    me->used += length;
}

static void record_integer(struct recorder *me, long value)
{
    char digits[24];
    int at = (int)sizeof digits;
    unsigned long rest = value < 0 ? 0ul - (unsigned long)value : (unsigned long)value;
    digits[--at] = 0;
    do
        digits[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        digits[--at] = '-';
    record_text(me, digits + at);
}

static void record_int(struct recorder *me, long value)
{
    record_text(me, " ");
    record_integer(me, value);
}

static void record_line(struct recorder *me, const char *action)
{
    me->used = 0;
    record_integer(me, me->rank);
    record_text(me, " ");
    record_text(me, action);
}

static long record_end(struct recorder *me)
{
    record_text(me, "\n");
    return record_emit(me, me->text, me->used);
}

static void record_ints(struct recorder *me, int count, const int *values)
{
    record_int(me, count);
    for (int i = 0; i < count; i++)
        record_int(me, values[i]);
}

/* What has been computed before the call stands in a line before it. */
static void record_compute(struct recorder *me)
{
    int sleeps = 0;
    double passed = record_computed(me, &sleeps);
    char text[40];
    if (passed <= 0)
        return;
    record_line(me, sleeps ? "sleep" : "compute");
    snprintf(text, sizeof text, " %.17g", passed);
    record_text(me, text);
    record_end(me);
}

/* Around a call: NULL when it is not to be recorded, since it is part of another one. */
static struct recorder *record_enter(void)
{
    struct recorder *me = record_self();
    if (!me || !me->open || me->depth > 0)
        return NULL;
    me->depth++;
    return me;
}

static void record_leave(struct recorder *me)
{
    me->depth--;
    record_left(me);
}

/* The call has succeeded: its lines follow, in which further calls may be made. */
static int record_good(struct recorder *me, int answer)
{
    if (answer == MPI_SUCCESS)
        record_compute(me);
    return answer == MPI_SUCCESS;
}

/* Arguments as words. */
enum {
    RECORD_ANY_SOURCE = -555,
    RECORD_ANY_TAG = -444,
    RECORD_NO_RANK = -666,
    RECORD_ROOT = -777,
    RECORD_UNDEFINED = -333
};

static int record_rank_value(int rank)
{
    return rank == MPI_ANY_SOURCE  ? RECORD_ANY_SOURCE
           : rank == MPI_PROC_NULL ? RECORD_NO_RANK
           : rank == MPI_ROOT      ? RECORD_ROOT
                                   : rank;
}

static void record_rank(struct recorder *me, int rank)
{
    record_int(me, record_rank_value(rank));
}

static int record_tag_value(int tag)
{
    return tag == MPI_ANY_TAG ? RECORD_ANY_TAG : tag;
}

static void record_tag(struct recorder *me, int tag)
{
    record_int(me, record_tag_value(tag));
}

static void record_color(struct recorder *me, int color)
{
    record_int(me, color == MPI_UNDEFINED ? RECORD_UNDEFINED : color);
}

static void record_split_type(struct recorder *me, int type)
{
    record_int(me, type == MPI_UNDEFINED ? RECORD_UNDEFINED : 0);
}

static void record_lock(struct recorder *me, int lock)
{
    record_int(me, lock == MPI_LOCK_EXCLUSIVE);
}

static void record_assert(struct recorder *me, int assert)
{
    record_int(me, (assert &MPI_MODE_NOCHECK ? 1 : 0) | (assert &MPI_MODE_NOSTORE ? 2 : 0) |
                       (assert &MPI_MODE_NOPUT ? 4 : 0) | (assert &MPI_MODE_NOPRECEDE ? 8 : 0) |
                       (assert &MPI_MODE_NOSUCCEED ? 16 : 0));
}

static void record_place(struct recorder *me, const void *buffer)
{
    record_text(me, buffer == MPI_IN_PLACE ? " i" : " -");
}

/* The number of a predefined type, -1 of others. */
static int record_named(MPI_Datatype type)
{
    for (size_t i = 0; i < sizeof record_types / sizeof record_types[0]; i++)
        if (record_types[i].type == type)
            return record_types[i].number;
    return -1;
}

static int record_size(MPI_Datatype type)
{
    int size = 0;
    if (type != MPI_DATATYPE_NULL)
        PMPI_Type_size(type, &size);
    return size;
}

static void record_type(struct recorder *me, MPI_Datatype type)
{
    int number = type == MPI_DATATYPE_NULL ? 6 : record_named(type);
    if (number >= 0) {
        record_int(me, number);
        return;
    }
    record_text(me, " *");
    record_integer(me, record_size(type));
}

static void record_datatypes(struct recorder *me, int count, const MPI_Datatype *types)
{
    for (int i = 0; i < count; i++)
        record_type(me, types[i]);
}

static const char *record_op_name(MPI_Op op)
{
    int commutes = 1;
    for (size_t i = 0; i < sizeof record_ops / sizeof record_ops[0]; i++)
        if (record_ops[i].op == op)
            return record_ops[i].name;
    PMPI_Op_commutative(op, &commutes);
    return commutes ? "user" : "ordered";
}

static void record_op(struct recorder *me, MPI_Op op)
{
    record_text(me, " ");
    record_text(me, record_op_name(op));
}

static int record_comm_number(struct recorder *me, MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD  ? 0
           : comm == MPI_COMM_SELF ? 1
                                   : record_number(&me->comms, RECORD_KEY(comm));
}

static void record_comm(struct recorder *me, MPI_Comm comm)
{
    record_int(me, record_comm_number(me, comm));
}

static void record_new_comm(struct recorder *me, MPI_Comm comm)
{
    int number = comm == MPI_COMM_NULL ? -1 : record_new(&me->comms, RECORD_KEY(comm));
    record_int(me, number);
    if (number >= 0)
        RECORD_NEW_COMM(me, comm, number);
}

static void record_win(struct recorder *me, MPI_Win win)
{
    record_int(me, record_number(&me->wins, RECORD_KEY(win)));
}

static void record_new_win(struct recorder *me, MPI_Win win)
{
    record_int(me, record_new(&me->wins, RECORD_KEY(win)));
}

static void record_message(struct recorder *me, MPI_Message message)
{
    record_int(me, record_number(&me->messages, RECORD_KEY(message)));
}

static void record_new_message(struct recorder *me, MPI_Message message)
{
    record_int(me, record_new(&me->messages, RECORD_KEY(message)));
}

static int record_request_number(struct recorder *me, MPI_Request request)
{
    return request == MPI_REQUEST_NULL ? -1 : record_number(&me->requests, RECORD_KEY(request));
}

static void record_request(struct recorder *me, MPI_Request request)
{
    record_int(me, record_request_number(me, request));
}

/* An implementation may give the same handle to several operations that are done already. */
static int record_add_request(struct recorder *me, MPI_Request request, struct record_request what)
{
    int number = record_number(&me->requests, RECORD_KEY(request));
    size_t room = (size_t)me->request_room;
    if (number < 0)
        number = record_new(&me->requests, RECORD_KEY(request));
    me->request = record_grow(me->request, &room, (size_t)number + 1, sizeof *me->request);
    me->request_room = (int)room;
    me->request[number] = what;
    return number;
}

static void record_new_request(struct recorder *me, MPI_Request request, int persistent)
{
    struct record_request what = {.wild = -1, .persistent = persistent};
    record_int(me, record_add_request(me, request, what));
}

/* By ranks of MPI_COMM_WORLD. */
static void record_group(struct recorder *me, MPI_Group group)
{
    int size = 0;
    MPI_Group world;
    PMPI_Group_size(group, &size);
    size_t none = 0;
    int *ranks =
        record_grow(NULL, &none, (size_t)size + 1, sizeof *ranks); /* twice as many as it is asked for */
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, size, ranks, world, ranks + size);
    PMPI_Group_free(&world);
    record_ints(me, size, ranks + size);
    free(ranks);
}

/* How long arrays are that the table leaves to the communicator. */
static int record_peers(MPI_Comm comm)
{
    int inter = 0, size = 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(comm, &size);
    else
        PMPI_Comm_size(comm, &size);
    return size;
}

static int record_is_root(MPI_Comm comm, int root)
{
    int inter = 0, rank = 0;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_rank(comm, &rank);
    return inter ? root == MPI_ROOT : root == rank;
}

static int record_dimensions(MPI_Comm comm)
{
    int count = 0;
    PMPI_Cartdim_get(comm, &count);
    return count;
}

static int record_sum(int count, const int *values)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

static int record_neighbors(MPI_Comm comm, int into)
{
    int kind = MPI_UNDEFINED, in = 0, out = 0, weighted, rank;
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_CART)
        return 2 * record_dimensions(comm);
    if (kind == MPI_GRAPH) {
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &in);
        return in;
    }
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    return into ? in : out;
}

/* A memory of one call. */
static void *record_scratch(struct recorder *me, size_t size)
{
    me->scratch = record_grow(me->scratch, &me->scratch_room, size + 1, 1);
    return me->scratch;
}

/* The source and tag of a receive that would have taken any. Fields of a fixed width, which are filled in
 * when they are known. */
#define RECORD_WIDE 11

static void record_wide(struct recorder *me, int value)
{
    char text[24];
    snprintf(text, sizeof text, " %*d", RECORD_WIDE, value);
    record_text(me, text);
}

static void record_wild_is(struct recorder *me, long at, int source, int tag)
{
    char text[48];
    int length = snprintf(text, sizeof text, " %*d %*d", RECORD_WIDE, record_rank_value(source), RECORD_WIDE,
                          record_tag_value(tag));
    record_amend(me, at, text, (size_t)length);
}

/* Whose message a receive has taken is known. */
static void record_resolve(struct recorder *me, MPI_Request was, const MPI_Status *status)
{
    int number = record_request_number(me, was), cancelled = 0;
    if (number < 0 || !status || me->request[number].wild < 0)
        return;
    struct record_request *request = &me->request[number];
    PMPI_Test_cancelled(status, &cancelled);
    if (!cancelled) {
        record_wild_is(me, request->wild, status->MPI_SOURCE, status->MPI_TAG);
        request->source = record_rank_value(status->MPI_SOURCE);
        request->tag = status->MPI_TAG;
    }
    request->wild = -1;
}

/* A request has been completed, and is gone unless it is persistent. */
static void record_completed(struct recorder *me, MPI_Request was, const MPI_Status *status)
{
    int number = record_request_number(me, was);
    if (number < 0)
        return;
    record_resolve(me, was, status);
    if (!me->request[number].persistent)
        record_forget(&me->requests, RECORD_KEY(was));
}

static void record_key(struct recorder *me, const char *key, long value)
{
    record_text(me, " ");
    record_text(me, key);
    record_text(me, "=");
    record_integer(me, value);
}
