/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/config.h"
#include "lowlevel/engine/engine.h"
#include "lowlevel/network/network.h"

/*
 * The BXI network interface of one node: when a message takes which step. What the steps mean (matching,
 * copying, events) is up to the client, which gets upcalls in engine context. Latency and occupancy are
 * separate: every stage delays a message by its latency and is busy for its gap only.
 */
struct pf_nic;

enum pf_nic_kind { PF_NIC_PUT, PF_NIC_GET, PF_NIC_REPLY, PF_NIC_ACK };

struct pf_nic_message;
struct pf_entries;
struct pf_window;

struct pf_nic_client_ops {
    size_t size; /* of this structure, for versions to come */
    /* The NIC at the source holds the payload: the user's buffer is free. Only for messages that came with
     * their payload. */
    void (*buffered)(struct pf_nic_message *m);
    /* The last byte has left the source (streams), or is in its NIC and will leave it without fail. */
    void (*sent)(struct pf_nic_message *m);
    /* The header has been through list matching at the destination. The client sets `accepted`. */
    void (*match)(struct pf_nic_message *m);
    /* All of the payload is at the destination; it will be in memory at m->done_date. The message is the
     * client's again. */
    void (*complete)(struct pf_nic_message *m);
    /* The NIC has given up sending it. The message is the client's again. */
    void (*lost)(struct pf_nic_message *m);
    /* Without end-to-end reliability: the network has lost it, which neither NIC knows. The message is the
     * client's again. */
    void (*vanished)(struct pf_nic_message *m);
};

struct pf_nic_message {
    struct pf_transfer transfer;
    struct pf_event event; /* submission, then matching */
    struct pf_event tail;  /* completion of a stream */
    const struct pf_nic_client_ops *client;
    struct pf_nic *src, *dst;
    struct pf_nic_message *next; /* in the channel's queue */
    struct pf_nic_channel *channel;
    enum pf_nic_kind kind;
    bool matching;            /* the command carries match bits */
    bool in_command;          /* a put: its payload comes with the command */
    bool service;             /* a message of the service network, not of compute */
    bool source_read;         /* `sent` has been called */
    bool leaving;             /* a stream that has not left the source */
    bool taken;               /* the destination has its header: a second transmission is not matched again */
    bool in_order;            /* the header was the next one of its channel */
    bool ghost;               /* sent again although it has been delivered (e2e.c) */
    int losses;               /* transmissions that were not acknowledged */
    bool under_way;           /* its header is between the interfaces, or held (order.h) */
    bool held, held_tail;     /* an earlier message that took another network is not there yet */
    uint32_t sequence;        /* in its channel */
    uint64_t turn;            /* among the transmissions of its channel */
    double left_date;         /* when its latest transmission was over at the source */
    double wait_date;         /* of flow control: it was to be sent at this date */
    struct pf_entries *entry; /* the table that it has an entry in */
    struct pf_window *window; /* in which it counts as in flight */
    bool ready;               /* may enter the network when its turn comes */
    double ready_date;        /* when that is so */
    size_t payload;           /* bytes to move */
    size_t accepted;          /* bytes that the destination writes to its memory */
    double read_start, match_date;
    double done_date; /* payload in memory */
    int *queue_count; /* commands of the submitting process that the NIC has not taken yet, or NULL */
    void (*queue_moved)(struct pf_nic_message *m);
};

/* The NIC of a node, created at the first request. */
struct pf_nic *pf_nic_get(int node);
int pf_nic_node(const struct pf_nic *nic);

/* Sends m from m->src to m->dst: as a command of the processor, now. `free_command` leaves out the cost of
 * giving the command. */
void pf_nic_command(struct pf_nic_message *m, bool free_command);
/* The same as an answer or a triggered operation of the NIC itself, not before `date`. */
void pf_nic_submit(struct pf_nic_message *m, double date);

/* When a command without a message (list append, counter) reaches the NIC, if the processor gives it now. */
double pf_nic_command_date(struct pf_nic *nic);

/* When an event written by the NIC at `date` is visible in memory. */
double pf_nic_event_date(struct pf_nic *nic, double date);

/* Whether the messages of this rank use the service network (nic_service_ranks). */
bool pf_nic_serves(int rank);

/* Whether the NIC keeps a payload of this size (early SEND). */
bool pf_nic_keeps(size_t payload);
/* Whether a payload comes with the command: inside it, or written by the processor before it (PIO), which it
 * does for memory that may change as soon as the call returns. */
bool pf_nic_in_command(size_t payload, bool matching, bool is_volatile);
/* The bytes of a command that are match bits, or payload where nothing is matched. */
enum { PF_NIC_MATCH_BITS = 8 };
/* The longest payload that the processor writes, with match bits. */
static inline size_t pf_nic_volatile_max(void)
{
    return pf_config.nic_pio_max > pf_config.nic_inline_max ? pf_config.nic_pio_max
                                                            : pf_config.nic_inline_max;
}
