/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * One operation of the simulated machine: a message between two NICs, a step on the PCIe bus of a node, an
 * MPI call of a rank, what it does between two calls, or a change of its model. Times are simulated seconds.
 */

/* Name in the traces, colour in those that have any. */
#define PF_TRACE_TYPES(X)                                                                                    \
    X(PUT, "put", 0x2f6fb0)                                                                                  \
    X(GET, "get", 0x17849b)                                                                                  \
    X(GET_RESPONSE, "get response", 0x0f5f73)                                                                \
    X(ATOMIC, "atomic", 0x7a4fb5)                                                                            \
    X(FETCH_ATOMIC, "fetch-atomic", 0xa03f9c)                                                                \
    X(FETCH_ATOMIC_RESPONSE, "fetch-atomic response", 0x77307a)                                              \
    X(SWAP, "swap", 0xb5477a)                                                                                \
    X(SWAP_RESPONSE, "swap response", 0x8c2f5a)                                                              \
    X(PTL_ACK, "Portals ACK", 0x4d7f2a)                                                                      \
    X(BXI_ACK, "BXI ACK", 0x84a33c)                                                                          \
    X(PIO_PAYLOAD, "PIO payload", 0xc47a12)                                                                  \
    X(DMA_PAYLOAD, "DMA payload", 0xb0581a)                                                                  \
    X(DMA_REQUEST, "DMA request", 0x8f5f2d)                                                                  \
    X(PAYLOAD_WRITE, "PCIe payload write", 0xc23b22)                                                         \
    X(EVENT, "PCIe event", 0x9c2a4a)                                                                         \
    X(COMMAND, "PCIe command", 0x6a6f78)                                                                     \
    X(COMPUTE, "compute", 0xd9a520)                                                                          \
    X(CALL, "MPI call", 0x6a6f78)                                                                            \
    X(SWITCH, "switch", 0xd1242f)

enum pf_trace_type {
#define X(id, name, colour) PF_TRACE_##id,
    PF_TRACE_TYPES(X)
#undef X
        PF_TRACE_TYPE_COUNT
};

/* Where a record is drawn. A message has a record at its source and, from its header's arrival to its end in
 * the NIC there, one at its destination; formats with one line per operation leave the second out. */
enum pf_trace_track { PF_TRACE_RANK, PF_TRACE_TX, PF_TRACE_RX, PF_TRACE_PCIE, PF_TRACE_TRACK_COUNT };

enum pf_trace_outcome { PF_TRACE_DONE, PF_TRACE_LOST, PF_TRACE_UNFINISHED };

/* A rank of -1: not known, or none. */
struct pf_trace_party {
    int node, rank;
};

struct pf_trace_record {
    uint8_t type;                   /* enum pf_trace_type */
    uint8_t track;                  /* enum pf_trace_track */
    uint8_t outcome;                /* enum pf_trace_outcome */
    bool to_memory;                 /* PCIe: from the NIC to the node's memory; else towards the NIC */
    struct pf_trace_party from, to; /* where it starts, where it ends */
    double start, end;
    uint64_t bytes;      /* payload of a message; what crosses the bus */
    uint64_t wire_bytes; /* of a message, headers included */
    int attempt;         /* of a message, from 1 */
    bool arrived;        /* of a message: its header has been at the target */
    uint64_t message;    /* number of the message, in order of their starts, from 1; 0: none */
    int lane;            /* operations of one node and track that overlap have different lanes, from 0 */

    /* Of calls and switches; the texts stay until the end of the run. */
    const char *call;                       /* MPI_Send; NULL: no call */
    const char *model, *from_model, *phase; /* in force; of a switch, the model before it too */
    unsigned int colour;                    /* of the model, 0xrrggbb: that of a call in a picture */
};

/* One that has begun; 0: none. */
typedef uint32_t pf_trace_span;

static inline int pf_trace_node(const struct pf_trace_record *record)
{
    return record->track == PF_TRACE_RX ? record->to.node : record->from.node;
}

/* A switch has no length, and is not one of a rank's operations. */
static inline bool pf_trace_is_mark(const struct pf_trace_record *record)
{
    return record->type == PF_TRACE_SWITCH;
}

const char *pf_trace_type_name(enum pf_trace_type type);
/* What a picture says: the function of an MPI call, otherwise the type. */
const char *pf_trace_name(const struct pf_trace_record *record);
/* The same for its colour: that of the model of an MPI call. */
unsigned int pf_trace_colour(const struct pf_trace_record *record);
unsigned int pf_trace_type_colour(enum pf_trace_type type); /* 0xrrggbb */
const char *pf_trace_track_name(enum pf_trace_track track);
const char *pf_trace_outcome_name(enum pf_trace_outcome outcome);

/* "8 B", "1 MiB": exact multiples get a unit, everything else is bytes. */
const char *pf_trace_bytes_text(uint64_t bytes, char *text, unsigned long size);
