/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <endian.h>
#include <stdint.h>
#include <string.h>

/*
 * The language between Parfocal and a network that another program simulates; docs/external-network.md
 * explains every field. All numbers are little-endian, dates and doubles are IEEE 754, nothing is padded but
 * as written here. Every message begins with
 *   u32 length   bytes of the message, this head included
 *   u16 type     enum pf_external_type
 *   u16 version  PF_EXTERNAL_VERSION
 *   u64 id       of the network's message that it is about, else 0
 *   f64 date     s, simulated
 */
enum { PF_EXTERNAL_VERSION = 1, PF_EXTERNAL_HEAD = 24 };

/* No message is longer, but HELLO may be as long as PF_EXTERNAL_LONGEST_HELLO. */
enum { PF_EXTERNAL_LONGEST = 65536, PF_EXTERNAL_LONGEST_HELLO = 1 << 30 };

/* An INJECT and an upcall reserve so many turns for what the other side posts for it. */
enum { PF_EXTERNAL_TURNS_AT_ONCE = 65536 };

enum pf_external_type {
    PF_EXTERNAL_HELLO = 1,
    PF_EXTERNAL_INJECT,
    PF_EXTERNAL_CANCEL,
    PF_EXTERNAL_ADVANCE,
    PF_EXTERNAL_ROUTE,
    PF_EXTERNAL_ACKNOWLEDGE,
    PF_EXTERNAL_FINISH,

    PF_EXTERNAL_WELCOME = 65,
    PF_EXTERNAL_FIRST,
    PF_EXTERNAL_SENT,
    PF_EXTERNAL_LAST,
    PF_EXTERNAL_LOST,
    PF_EXTERNAL_CREDIT,
    PF_EXTERNAL_ADVANCED,
    PF_EXTERNAL_ROUTE_INFO,
    PF_EXTERNAL_ACKNOWLEDGED,
    PF_EXTERNAL_ERROR,
};

/* Lengths of the bodies, behind the head; HELLO, WELCOME and ERROR are at least so long. */
enum {
    PF_EXTERNAL_HELLO_BODY = 32,
    PF_EXTERNAL_INJECT_BODY = 48,
    PF_EXTERNAL_ADVANCE_BODY = 24,
    PF_EXTERNAL_ROUTE_BODY = 8,
    PF_EXTERNAL_ACKNOWLEDGE_BODY = 16,
    PF_EXTERNAL_WELCOME_BODY = 40,
    PF_EXTERNAL_TURN_BODY = 8, /* FIRST, SENT, LOST */
    PF_EXTERNAL_LAST_BODY = 16,
    PF_EXTERNAL_CREDIT_BODY = 16,
    PF_EXTERNAL_ADVANCED_BODY = 32,
    PF_EXTERNAL_ROUTE_INFO_BODY = 24,
};

/* Bits of WELCOME's flags: what the peer does. */
enum {
    PF_EXTERNAL_LOOPBACK = 1, /* takes also what a node sends to itself */
    PF_EXTERNAL_ACKS = 2,     /* carries acknowledgements between two NICs */
};

static const char PF_EXTERNAL_MAGIC[8] = {'P', 'A', 'R', 'F', 'O', 'C', 'A', 'L'};

/* Fields of a body: the next one of each kind, from or to `at`, which moves behind it. */
static inline uint32_t pf_external_get_u32(const char **at)
{
    uint32_t value;
    memcpy(&value, *at, sizeof value);
    *at += sizeof value;
    return le32toh(value);
}

static inline uint64_t pf_external_get_u64(const char **at)
{
    uint64_t value;
    memcpy(&value, *at, sizeof value);
    *at += sizeof value;
    return le64toh(value);
}

static inline double pf_external_get_f64(const char **at)
{
    uint64_t bits = pf_external_get_u64(at);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void pf_external_put_u16(char **at, uint16_t value)
{
    value = htole16(value);
    memcpy(*at, &value, sizeof value);
    *at += sizeof value;
}

static inline void pf_external_put_u32(char **at, uint32_t value)
{
    value = htole32(value);
    memcpy(*at, &value, sizeof value);
    *at += sizeof value;
}

static inline void pf_external_put_u64(char **at, uint64_t value)
{
    value = htole64(value);
    memcpy(*at, &value, sizeof value);
    *at += sizeof value;
}

static inline void pf_external_put_f64(char **at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    pf_external_put_u64(at, bits);
}
