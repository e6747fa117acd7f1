/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages through a stream socket. */
#include "lowlevel/network/external/wire.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/memory.h"

enum { IN_ROOM = 65536, MOST_AT_ONCE = 1 << 20 };

static bool fail(struct pf_wire *wire, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct pf_wire *wire, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(wire->error, sizeof wire->error, format, args);
    va_end(args);
    return false;
}

void pf_wire_open(struct pf_wire *wire, int fd, double seconds)
{
    struct timeval limit = {.tv_sec = (time_t)seconds,
                            .tv_usec = (suseconds_t)((seconds - floor(seconds)) * 1e6)};
    if (limit.tv_sec == 0 && limit.tv_usec == 0)
        limit.tv_usec = 1; /* none would mean for ever */
    *wire = (struct pf_wire){.fd = fd, .in = pf_malloc(IN_ROOM), .in_room = IN_ROOM};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

void pf_wire_close(struct pf_wire *wire)
{
    if (wire->fd >= 0)
        close(wire->fd);
    wire->fd = -1;
    free(wire->out);
    free(wire->in);
    wire->out = wire->in = NULL;
    wire->out_length = wire->out_room = wire->in_begin = wire->in_end = wire->in_room = 0;
}

char *pf_wire_put(struct pf_wire *wire, uint16_t type, uint64_t id, double date, size_t length)
{
    size_t whole = PF_EXTERNAL_HEAD + length;
    PF_ARRAY_ROOM(wire->out, wire->out_room, wire->out_length + whole);
    char *at = wire->out + wire->out_length;
    wire->out_length += whole;
    pf_external_put_u32(&at, (uint32_t)whole);
    pf_external_put_u16(&at, type);
    pf_external_put_u16(&at, PF_EXTERNAL_VERSION);
    pf_external_put_u64(&at, id);
    pf_external_put_f64(&at, date);
    return at;
}

static bool is_silent(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK;
}

bool pf_wire_flush(struct pf_wire *wire)
{
    for (size_t done = 0; done < wire->out_length;) {
        ssize_t count = send(wire->fd, wire->out + done, wire->out_length - done, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return fail(wire,
                        is_silent(errno) ? "it takes no more messages" : "it has closed the connection");
        done += (size_t)count;
    }
    wire->out_length = 0;
    return true;
}

/* At least `wanted` bytes from in_begin on. */
static bool fetch(struct pf_wire *wire, size_t wanted)
{
    size_t there = wire->in_end - wire->in_begin;
    if (there >= wanted)
        return true;
    memmove(wire->in, wire->in + wire->in_begin, there);
    wire->in_begin = 0;
    wire->in_end = there;
    while (wire->in_end < wanted) {
        /* What a message says of its length is believed only as far as its bytes have come. */
        size_t room = wire->in_end + MOST_AT_ONCE < wanted ? wire->in_end + MOST_AT_ONCE : wanted;
        if (room > wire->in_room) {
            wire->in = pf_realloc(wire->in, room);
            wire->in_room = room;
        }
        ssize_t count = recv(wire->fd, wire->in + wire->in_end, wire->in_room - wire->in_end, 0);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && is_silent(errno))
            return fail(wire, "it has sent nothing for too long");
        wire->is_closed = count == 0 && wire->in_end == 0;
        if (count <= 0)
            return fail(wire, wire->in_end ? "it has closed the connection in the middle of a message"
                                           : "it has closed the connection");
        wire->in_end += (size_t)count;
    }
    return true;
}

const char *pf_wire_name(uint16_t type)
{
    static const char *const names[] = {
        [PF_EXTERNAL_HELLO] = "HELLO",
        [PF_EXTERNAL_INJECT] = "INJECT",
        [PF_EXTERNAL_CANCEL] = "CANCEL",
        [PF_EXTERNAL_ADVANCE] = "ADVANCE",
        [PF_EXTERNAL_ROUTE] = "ROUTE",
        [PF_EXTERNAL_ACKNOWLEDGE] = "ACKNOWLEDGE",
        [PF_EXTERNAL_FINISH] = "FINISH",
        [PF_EXTERNAL_WELCOME] = "WELCOME",
        [PF_EXTERNAL_FIRST] = "FIRST",
        [PF_EXTERNAL_SENT] = "SENT",
        [PF_EXTERNAL_LAST] = "LAST",
        [PF_EXTERNAL_LOST] = "LOST",
        [PF_EXTERNAL_CREDIT] = "CREDIT",
        [PF_EXTERNAL_ADVANCED] = "ADVANCED",
        [PF_EXTERNAL_ROUTE_INFO] = "ROUTE_INFO",
        [PF_EXTERNAL_ACKNOWLEDGED] = "ACKNOWLEDGED",
        [PF_EXTERNAL_ERROR] = "ERROR",
    };
    return type < sizeof names / sizeof names[0] && names[type] ? names[type] : "message";
}

bool pf_wire_get(struct pf_wire *wire, struct pf_wire_message *message)
{
    if (!fetch(wire, PF_EXTERNAL_HEAD))
        return false;
    const char *at = wire->in + wire->in_begin;
    uint32_t length = pf_external_get_u32(&at), both = pf_external_get_u32(&at);
    uint16_t version = (uint16_t)(both >> 16);
    message->type = (uint16_t)both;
    message->id = pf_external_get_u64(&at);
    message->date = pf_external_get_f64(&at);
    uint32_t most =
        message->type == PF_EXTERNAL_HELLO ? PF_EXTERNAL_LONGEST_HELLO : (uint32_t)PF_EXTERNAL_LONGEST;
    wire->received++;
    if (length < PF_EXTERNAL_HEAD || length > most)
        return fail(wire, "a %s of %u bytes", pf_wire_name(message->type), length);
    if (version != PF_EXTERNAL_VERSION)
        return fail(wire, "a %s of version %u of the protocol, and this side speaks %d",
                    pf_wire_name(message->type), version, PF_EXTERNAL_VERSION);
    if (!isfinite(message->date))
        return fail(wire, "a %s whose date is no number", pf_wire_name(message->type));
    if (!fetch(wire, length))
        return false;
    message->body = wire->in + wire->in_begin + PF_EXTERNAL_HEAD;
    message->length = length - PF_EXTERNAL_HEAD;
    wire->in_begin += length;
    return true;
}

bool pf_wire_expect(struct pf_wire *wire, const struct pf_wire_message *message, size_t length)
{
    return message->length == length || fail(wire, "a %s of %zu bytes behind its head, which must be %zu",
                                             pf_wire_name(message->type), message->length, length);
}
