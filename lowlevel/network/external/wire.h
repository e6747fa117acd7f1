/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lowlevel/network/external/protocol.h"

/*
 * One end of a conversation: messages are collected and written together, and read as many at a time as are
 * there. Once its buffers are large enough it allocates nothing. All zeros and the descriptor at the
 * beginning.
 */
struct pf_wire {
    int fd;
    char *out, *in;
    size_t out_length, out_room;
    size_t in_begin, in_end, in_room;
    uint64_t received; /* messages, the present one included */
    bool is_closed;    /* by the other side, between two messages */
    char error[300];   /* why the last function has failed, without saying on which side */
};

/* One that has come. `body` stays until the next call. */
struct pf_wire_message {
    uint16_t type;
    uint64_t id;
    double date;
    const char *body;
    size_t length; /* of the body */
};

/* After `seconds` without a byte from the other side, or without room for one, it counts as silent. */
void pf_wire_open(struct pf_wire *wire, int fd, double seconds);
void pf_wire_close(struct pf_wire *wire);

/* Begins a message and returns where its body of `length` bytes goes. */
char *pf_wire_put(struct pf_wire *wire, uint16_t type, uint64_t id, double date, size_t length);

/* Writes what has been put. False: it could not. */
bool pf_wire_flush(struct pf_wire *wire);

/* Waits for the next message, whose head has been checked. False: there is none. */
bool pf_wire_get(struct pf_wire *wire, struct pf_wire_message *message);

/* Whether something has come behind the last message. */
static inline bool pf_wire_has_more(const struct pf_wire *wire)
{
    return wire->in_end > wire->in_begin;
}

/* Whether a body has this length; false with an error that names the message. */
bool pf_wire_expect(struct pf_wire *wire, const struct pf_wire_message *message, size_t length);

/* The name of a type, "message" for an unknown one. */
const char *pf_wire_name(uint16_t type);
