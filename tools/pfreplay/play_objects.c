/* SPDX-License-Identifier: BSD-3-Clause */
/* What the lines of a trace name: ranks, types, communicators, requests, buffers. */
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "tools/pfreplay/play.h"

#define MOST_NUMBER 100000000
#define MOST_AHEAD  65536

int play_rank(const char *what)
{
    int rank = play_int(what);
    if (rank >= 0)
        return rank;
    if (rank == REPLAY_ANY_SOURCE || rank == -1)
        return MPI_ANY_SOURCE;
    if (rank == REPLAY_NO_RANK)
        return MPI_PROC_NULL;
    if (rank == REPLAY_ROOT)
        return MPI_ROOT;
    play_die("%s: %s is %d, which is no rank", play.action, what, rank);
}

int play_tag(const char *what)
{
    int tag = play_int(what);
    if (tag >= 0)
        return tag;
    if (tag == REPLAY_ANY_TAG || tag == -1)
        return MPI_ANY_TAG;
    play_die("%s: %s is %d, which is no tag", play.action, what, tag);
}

static MPI_Datatype named(long number)
{
    static const struct {
        int number;
        MPI_Datatype type;
    } types[] = {
#define X(number, name) {number, name},
#include "replay_types.h"
#undef X
    };
    if (number >= 0 && number < 7)
        return types[number].type;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].number == number)
            return types[i].type;
    play_die("%s: %ld is no datatype", play.action, number);
}

MPI_Datatype play_bytes(long size)
{
    MPI_Datatype type;
    if (size < 0 || size > 0x7fffffff)
        play_die("%s: a datatype cannot have %ld bytes", play.action, size);
    for (int i = 0; i < play.type_count; i++)
        if (play.types[i].size == size)
            return play.types[i].type;
    play_check(MPI_Type_contiguous((int)size, MPI_BYTE, &type));
    play_check(MPI_Type_commit(&type));
    play.types = pf_reallocarray(play.types, (size_t)play.type_count + 1, sizeof *play.types);
    play.largest = size > play.largest ? size : play.largest;
    play.types[play.type_count++] = (struct play_type){size, type};
    return type;
}

/* SMPI's traces do not say how large a derived type is, and its replay sends nothing for it. */
static MPI_Datatype unknown(void)
{
    if (!play.from->warned)
        pf_warn("%s: line %ld: rank %d: the size of a derived datatype is not in the trace: as in smpirun "
                "-replay, "
                "nothing is sent for it (-trace replay:FILE records it)",
                play.from->ops->file(play.from, play.rank), play.from->ops->line(play.from, play.rank),
                play.rank);
    play.from->warned = true;
    return play_bytes(0);
}

MPI_Datatype play_type(void)
{
    play.at += strspn(play.at, " \t");
    if (*play.at == '*') {
        play.at++;
        return play_bytes(play_long("the size of a datatype"));
    }
    long number = play_long("a datatype");
    return number == -1 ? unknown() : named(number);
}

MPI_Datatype play_type_or_plain(void)
{
    return play_more() ? play_type() : play.plain;
}

MPI_Op play_op(const char *name)
{
    static const struct {
        const char *name;
        MPI_Op op;
    } ops[] = {{"SUM", MPI_SUM},         {"MAX", MPI_MAX},    {"MIN", MPI_MIN},       {"PROD", MPI_PROD},
               {"LAND", MPI_LAND},       {"BAND", MPI_BAND},  {"LOR", MPI_LOR},       {"BOR", MPI_BOR},
               {"LXOR", MPI_LXOR},       {"BXOR", MPI_BXOR},  {"MAXLOC", MPI_MAXLOC}, {"MINLOC", MPI_MINLOC},
               {"REPLACE", MPI_REPLACE}, {"NO_OP", MPI_NO_OP}};
    if (!name)
        return play.op;
    size_t length = strcspn(name, " \t\r");
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (strlen(ops[i].name) == length && strncmp(name, ops[i].name, length) == 0)
            return ops[i].op;
    if (length == 4 && strncmp(name, "user", 4) == 0)
        return play.op;
    if (length == 7 && strncmp(name, "ordered", 7) == 0)
        return play.ordered;
    play_die("%s: there is no operation '%.20s'", play.action, name);
}

/* Room for one more by number; what is new is zero. A recorder gives numbers in order, so that a large one
 * comes after many smaller ones. */
static void *grow(void *array, int *room, int number, size_t size, const char *what)
{
    if (number < 0 || number > MOST_NUMBER || number > 2 * (*room + MOST_AHEAD))
        play_die("%s: %d is no number of a %s", play.action, number, what);
    if (number < *room)
        return array;
    int wanted = number < 8 ? 16 : 2 * number;
    array = pf_array_extend(array, (size_t)*room, (size_t)wanted, size);
    *room = wanted;
    return array;
}

MPI_Comm *play_comm_slot(int number)
{
    play.comms = grow(play.comms, &play.comm_room, number, sizeof *play.comms, "communicator");
    if (!play.comms[number]) {
        play.comms[number] = pf_malloc(sizeof(MPI_Comm));
        *play.comms[number] = MPI_COMM_NULL;
    }
    return play.comms[number];
}

MPI_Comm play_comm(int number)
{
    if (number < 0 || number >= play.comm_room || !play.comms[number] || *play.comms[number] == MPI_COMM_NULL)
        play_die("%s: communicator %d has not been made, or is freed", play.action, number);
    return *play.comms[number];
}

MPI_Request *play_request(int number)
{
    int had = play.request_room;
    play.requests = grow(play.requests, &play.request_room, number, sizeof *play.requests, "request");
    for (; had < play.request_room; had++)
        play.requests[had] = MPI_REQUEST_NULL;
    return &play.requests[number];
}

MPI_Win *play_win(int number)
{
    play.wins = grow(play.wins, &play.win_room, number, sizeof *play.wins, "window");
    return &play.wins[number];
}

MPI_Message *play_message(int number)
{
    play.messages = grow(play.messages, &play.message_room, number, sizeof *play.messages, "message");
    return &play.messages[number];
}

int *play_zeros(int count)
{
    size_t wanted = play.number_count + (size_t)count;
    if (wanted > play.number_room)
        play_die("%s: too many numbers", play.action);
    int *numbers = play.numbers + play.number_count;
    memset(numbers, 0, (size_t)count * sizeof *numbers);
    play.number_count = wanted;
    return numbers;
}

/* No array of a call moves while the others are read: there is room for all that the line can hold, and as
 * many zeros. */
int *play_ints(int count, const char *what)
{
    if ((size_t)count > strlen(play.at) / 2 + 1)
        play_die("%s: %s is missing: there must be %d", play.action, what, count);
    if (play.number_count == 0) {
        size_t most = 4 * ((size_t)count + strlen(play.at) / 2 + (size_t)play.size + 16);
        if (play.numbers_stay) {
            play.numbers = NULL;
            play.number_room = 0;
        }
        /* The arrays of a nonblocking call are read until it completes. */
        play.numbers_stay = strncmp(play.action, "MPI_I", 5) == 0;
        if (most > play.number_room) {
            play.numbers = pf_reallocarray(play.numbers, most, sizeof *play.numbers);
            play.number_room = most;
        }
    }
    int *numbers = play_zeros(count);
    for (int i = 0; i < count; i++)
        numbers[i] = play_int(what);
    return numbers;
}

/* No predefined type has more. */
#define LARGEST_NAMED 32

static void *buffer(int which, double count, MPI_Datatype type)
{
    int size = 1;
    double most = play.largest > LARGEST_NAMED ? (double)play.largest : LARGEST_NAMED;
    if (__builtin_expect(count * most <= (double)play.from->room, 1))
        return play.from->memory[which];
    MPI_Type_size(type, &size);
    if (count * size > (double)play.from->room)
        play_die("%s: %.0f bytes are more than a replay can send at once (%zu)", play.action, count * size,
                 play.from->room);
    return play.from->memory[which];
}

void *play_send_buffer(double count, MPI_Datatype type)
{
    return buffer(0, count, type);
}

void *play_receive_buffer(double count, MPI_Datatype type)
{
    return buffer(1, count, type);
}

void play_compute(double flops)
{
    if (flops < 0)
        play_die("%s: %g flops are less than none", play.action, flops);
    if (flops > 0)
        smpi_execute_flops(flops * play.from->scale);
}
