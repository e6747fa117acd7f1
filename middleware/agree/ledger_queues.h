/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/envelope.h"
#include "middleware/core/rank.h"
#include "middleware/core/upcalls.h"

/* The match queues of the ledger (p2p/ledger.c explains them). */

struct pf_ledger_side;

/* The native tag of a message that has the application's own. */
#define PF_LEDGER_PLAIN (-1)

/* One side of a message whose other side has not been seen yet: a posted receive or a send. */
struct pf_ledger_entry {
    struct pf_envelope envelope; /* the application's source and tag; first */
    struct pf_ledger_side *side; /* its side, updated when it is taken; NULL: no longer needed */
    int found_source, found_tag; /* of a receive that has completed before it could be settled */
    int native_tag;              /* or PF_LEDGER_PLAIN */
    int sender;                  /* of a send: rank in the world */
    int fn;
    int8_t model;
    bool resolved; /* found_... are known */
    bool held;     /* MPI_Cancel was called for it, and what became of it is not known yet */
    const void *site;
    struct pf_check_note *note; /* of a watched rank, for the checking layer */
};

/* Match queues of one destination on one communicator. */
struct pf_ledger_mailbox {
    struct pf_envelope_queue sends, receives; /* whose other side is not known */
    uint64_t order;                           /* of the calls */
    bool exact;                               /* has left the plain mode */
    int held;     /* plain: receives from any source, cancels and blocking probes that are not over */
    int any_tag;  /* plain: receives of any tag that are not over */
    int resolved; /* plain: receives that are over and could not be settled yet; */
    int settle_at;
    int *free_tags; /* unused native ones, newest last */
    int free_count, free_capacity, next_tag;
    struct pf_ledger_prober *prober; /* the destination waits in a blocking probe */
};

/* One side of a message, from the call that starts it to its completion. On the stack of a blocking call, in
 * the request of another one. All zero: the ledger has nothing to do with it. */
struct pf_ledger_side {
    struct pf_ledger_mailbox *mailbox;
    struct pf_ledger_entry *open; /* its own entry until it is taken */
    struct pf_ledger_entry *took; /* the other side's, until the implementation has accepted the call */
    int native_tag;
    int source, tag; /* of the message, once `known` */
    bool receives;
    bool known;
};

/* Whether this run has a ledger. */
extern bool pf_ledger_on;

static inline struct pf_ledger_entry *pf_ledger_entry_of(struct pf_envelope *envelope)
{
    return (struct pf_ledger_entry *)envelope;
}

/* The first entry of a queued send that a receive with this source and tag (or wildcards) matches, NULL
 * without one. */
static inline struct pf_ledger_entry *pf_ledger_find_send(const struct pf_ledger_mailbox *mailbox, int source,
                                                          int tag)
{
    return pf_ledger_entry_of(pf_envelope_find(&mailbox->sends, source, tag));
}

/* The side of a watched rank, which posts it now: for the checking layer. NULL for the others. */
static inline struct pf_check_note *pf_ledger_note(struct pf_rank *r, const struct pf_ledger_side *side,
                                                   int source)
{
    return r->check ? pf_upcalls.posted(r, side, source) : NULL;
}

/* Queues the side: it has not been taken yet. */
struct pf_ledger_entry *pf_ledger_record(struct pf_rank *r, struct pf_ledger_side *side, int source, int tag,
                                         int model, int native_tag);

/* The other side of `side` is there: it takes it. */
void pf_ledger_take_entry(struct pf_ledger_side *side, struct pf_envelope_queue *queue,
                          struct pf_ledger_entry *other);

/* The call has failed: the other side is in its queue again. */
void pf_ledger_give_back(struct pf_ledger_side *side);

/* Removes an entry from its queue, for good. */
void pf_ledger_remove(struct pf_envelope_queue *queue, struct pf_ledger_entry *e);

/* The end of an entry that is in no queue. */
void pf_ledger_entry_free(struct pf_ledger_entry *e);

/* A native tag that no other message to this destination has, and its end. */
int pf_ledger_take_tag(struct pf_ledger_mailbox *mailbox);
void pf_ledger_free_tag(struct pf_ledger_mailbox *mailbox, int tag);

/* A plain receive is over, or has been cancelled: then its status has no source (-1). */
void pf_ledger_plain_received(struct pf_ledger_mailbox *mailbox, struct pf_ledger_entry *e, int source,
                              int tag);

/* The mailbox of a destination among the `size` of a communicator, NULL when there is no such member. All are
 * made on first use (*mailboxes is NULL before), and after the first switch of a rank of the world leave the
 * plain mode here, as soon as they can. */
struct pf_ledger_mailbox *pf_ledger_mailbox_of(struct pf_ledger_mailbox **mailboxes, int size,
                                               int destination, bool switched);

/* The same in the plain mode: it is some message from `source` with `tag`. */
void pf_ledger_probed(struct pf_ledger_mailbox *mailbox, int source, int tag);

/* Calls `report` for each unreceived message of a communicator, by destination and in the order of calls. */
void pf_ledger_unreceived(struct pf_ledger_mailbox *mailboxes, int size,
                          void (*report)(const struct pf_ledger_entry *send, int destination, void *data),
                          void *data);

/* Of a communicator that ends. */
void pf_ledger_free(struct pf_ledger_mailbox *mailboxes, int size);
