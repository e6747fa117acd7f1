/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lowlevel/network/external/wire.h"

/* The simulator at the other end, as the client sees it. What it does wrong ends the process with one line.
 */
struct pf_external_peer {
    struct pf_wire wire;
    /* From WELCOME. */
    uint32_t flags, credits;
    double lookahead, at_once, loopback_at_once;
};
extern struct pf_external_peer pf_external_peer;

/* Connects, and says HELLO and hears WELCOME: each unless it is done. */
void pf_external_meet(void);

/* The next message, checked as far as it can be without knowing what it is about. */
void pf_external_hear(struct pf_wire_message *message);
void pf_external_expect(const struct pf_wire_message *message, size_t length);
/* Writes what has been put. */
void pf_external_say(void);

/* Ends the process: the peer's present message is wrong in this way. */
_Noreturn void pf_external_blame(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* HELLO, put into the wire (hello.c). */
void pf_external_put_hello(struct pf_wire *wire);
