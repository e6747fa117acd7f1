/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/nic/nic.h"

/*
 * Messages from one NIC to another in one virtual network keep their order: they enter the network in the
 * order of their commands, whatever each needs before (a DMA takes longer than a payload that came with the
 * command), and a stream holds up its successors until it has left (nic_streams: until so many others have).
 */
struct pf_nic_channel {
    /* What every message reads: one cache line */
    _Alignas(64) struct pf_nic_message *first, *last;
    struct pf_entries *entries; /* of the source's NIC */
    uint64_t entered, arrived;  /* transmissions, lost ones included (order.h) */
    struct pf_nic_early *early; /* what came before its turn */
    uint32_t next_sequence;     /* of the source */
    uint32_t expected;          /* by the target */
    int leaving;                /* streams */
    bool advancing : 1;
    bool awaiting_credit : 1; /* the network will call */
    bool awaiting_entry : 1;
    bool mixed : 1;         /* messages that took different networks are under way */
    uint8_t newest_network; /* of the message that entered last */

    /* End-to-end reliability (e2e.c) */
    struct pf_nic_message *missing;      /* to be sent again, by sequence number */
    struct pf_event timer;               /* when they are */
    struct pf_nic_channel *next_waiting; /* for an entry */
};

/* Takes its place behind those submitted before. At its ready_date m->event calls pf_nic_channel_ready();
 * not if it waits for others then. `fifo`: for this event. */
void pf_nic_channel_enter(struct pf_nic_message *m, struct pf_event_fifo *fifo);
/* It may go now; it goes when everything before it has gone. */
void pf_nic_channel_ready(struct pf_nic_message *m);
/* The same for one that is sent again: before everything with a higher sequence number. It goes at the next
 * pf_nic_channel_advance(). */
void pf_nic_channel_insert(struct pf_nic_message *m);
/* Sends what may go. */
void pf_nic_channel_advance(struct pf_nic_channel *channel);
/* A stream has left (or is lost). */
void pf_nic_channel_left(struct pf_nic_message *m);
