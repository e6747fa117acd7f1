/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/engine/dates.h"
#include "lowlevel/nic/nic.h"

struct pf_nic_channel;

/* The table of a NIC for end-to-end reliability (e2e.h): an entry for each message that it has sent and not
 * seen acknowledged. */
struct pf_entries {
    long held;                                     /* entries whose acknowledgement has not been sent */
    struct pf_dates acks;                          /* of the others: when it arrives */
    struct pf_nic_channel *waiting, *last_waiting; /* channels whose next message finds the table full */
    void (*go)(struct pf_nic_channel *channel);    /* for each of them */
    struct pf_event event;                         /* the next entry becomes free, when anybody waits */
};

/* Whether a message may enter the network; if so it takes an entry, otherwise `go(channel)` is called when
 * there is room. */
bool pf_entries_may_enter(struct pf_entries *table, struct pf_nic_channel *channel,
                          void (*go)(struct pf_nic_channel *channel));
void pf_entries_enter(struct pf_entries *table, struct pf_nic_message *m);

/* The NIC forgets the message at `date`, when the acknowledgement comes or it gives up. */
void pf_entries_release(struct pf_nic_message *m, double date);
