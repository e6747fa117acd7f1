/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_LOWLEVEL_NIC_E2E_H
#define PF_LOWLEVEL_NIC_E2E_H

#include "lowlevel/engine/dates.h"
#include "lowlevel/nic/nic.h"

struct pf_nic_channel;

/*
 * End-to-end reliability. Every message occupies an entry in the table of the source's NIC until the BXI
 * acknowledgement of the target's NIC is back. What is not acknowledged in time is sent again, with
 * everything of its channel that came after it and did not arrive (go back N). The target's NIC takes the
 * messages of a channel in the order of their sequence numbers: it refuses what comes after a gap, and
 * acknowledges again what it has had already.
 *
 * The acknowledgement is arithmetic: it loads the way back, and its fate is known when it is sent. So a
 * message costs no event and no timer as long as nothing is lost.
 */
struct pf_e2e {
    long held;                                     /* entries whose acknowledgement has not been sent */
    struct pf_dates acks;                          /* of the others: when it arrives */
    struct pf_nic_channel *waiting, *last_waiting; /* channels whose next message finds the table full */
    struct pf_event event;                         /* the next entry becomes free, when anybody waits */
};

/* The source: whether a message may enter the network; if so it takes an entry, otherwise the channel is
 * advanced when there is room. */
bool pf_e2e_may_enter(struct pf_e2e *table, struct pf_nic_channel *channel);
void pf_e2e_enter(struct pf_e2e *table, struct pf_nic_message *m);

/* The target: whether the header is the next one of its channel. */
bool pf_e2e_header(struct pf_nic_message *m);
/* The last byte is there. False: the message was no news, and is not the caller's any more. */
bool pf_e2e_tail(struct pf_nic_message *m);

/* The network has lost it; it will be sent again, or its client told that it is lost. */
void pf_e2e_lost(struct pf_nic_message *m);

#endif
