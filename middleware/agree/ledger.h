/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_LEDGER_H
#define PF_MIDDLEWARE_LEDGER_H

#include "adapters/envelope.h"
#include "middleware/comm/comm.h"

/*
 * The ledger: both sides of a message are in one model (-agree follow). The first side decides, the other
 * follows, in MPI's matching order. ledger.c says how and why that is right. It keeps books in runs that can
 * switch, and costs one test of pf_ledger_on in all others.
 */

struct pf_ledger_side;

/* The native tag of a message that has the application's own. */
#define PF_LEDGER_PLAIN (-1)

/* One side of a message whose other side has not been seen yet: a posted receive or a send. */
struct pf_ledger_entry {
    struct pf_envelope envelope; /* the application's source and tag; first */
    struct pf_ledger_side *side; /* whom to tell when it is taken; NULL: nobody asks any more */
    int found_source, found_tag; /* of a receive that has completed before it could be settled */
    int native_tag;              /* or PF_LEDGER_PLAIN */
    int sender;                  /* of a send: rank in the world */
    int fn;
    int8_t model;
    bool resolved; /* found_... are known */
    bool held;     /* MPI_Cancel was called for it, and what became of it is not known yet */
    const void *site;
};

/* Books of one destination on one communicator. */
struct pf_ledger_mailbox {
    struct pf_envelope_queue sends, receives; /* whose other side is not known */
    uint64_t order;                           /* of the calls */
    int members;                              /* that may send to it */
    bool exact;                               /* has left the plain mode */
    int held;     /* plain: receives from any source, cancels and blocking probes that are not over */
    int any_tag;  /* plain: receives of any tag that are not over */
    int resolved; /* plain: receives that are over and could not be settled yet; */
    int settle_at;
    int *free_tags; /* native ones that nobody uses, newest last */
    int free_count, free_capacity, next_tag;
    struct pf_ledger_prober *prober; /* the destination waits in a blocking probe */
};

/* One side of a message, from the call that starts it to its completion. On the stack of a blocking call, in
 * the request of another one. All zero: the ledger has nothing to do with it. */
struct pf_ledger_side {
    struct pf_ledger_mailbox *box;
    struct pf_ledger_entry *open; /* its own entry while nobody has taken it */
    struct pf_ledger_entry *took; /* the other side's, until the implementation has accepted the call */
    int native_tag;
    int source, tag; /* of the message, once `known` */
    bool receives;
    bool known;
};

/* The arguments of a native call that depend on the agreement: the application's come in. */
struct pf_ledger_route {
    int peer, tag;
    MPI_Comm comm;
};

/* Are books kept in this run? */
extern bool pf_ledger_on;

/* The start of the job: nobody has switched, all ranks are in `model`. */
void pf_ledger_begin(int model);

/* A rank switches to `model`, or a communicator is bound to it. */
void pf_ledger_switched(int model);

/* A rank starts to send / to receive: where it runs. Changes the route to what the native call gets. */
struct pf_instance *pf_ledger_send(struct pf_rank *r, struct pf_ledger_side *side,
                                   struct pf_ledger_route *to);
struct pf_instance *pf_ledger_receive(struct pf_rank *r, struct pf_ledger_side *side,
                                      struct pf_ledger_route *from);

/* The side moves into the request. */
void pf_ledger_keep(const struct pf_ledger_side *side, struct pf_ledger_side *kept);

/* The native call that starts the side has returned; when it has refused its arguments, nothing has
 * happened. */
void pf_ledger_started(struct pf_ledger_side *side, bool accepted);

/* A blocking send has returned. */
void pf_ledger_sent(struct pf_ledger_side *side, bool accepted);

/* Does a blocking call that returned this code have received? */
bool pf_ledger_accepted(struct pf_instance *in, int code);

/* A blocking receive has returned this code. The status, if there is one, tells the application's source and
 * tag after that. */
void pf_ledger_received(struct pf_instance *in, struct pf_ledger_side *side, int code, const void *native,
                        MPI_Status *status);

/* A request has completed with this status (of the hub), which is corrected. */
void pf_ledger_completed(struct pf_ledger_side *side, MPI_Status *status);

/* Nobody will ask any more: the request is gone, the message is not. */
void pf_ledger_forget(struct pf_ledger_side *side);

/* MPI_Cancel of a request of `in`: is the native call to be made? */
bool pf_ledger_cancel(struct pf_instance *in, void *native, struct pf_ledger_side *side);

/* The books of the destination of a message, NULL when it is none. After the first switch they leave the
 * plain mode here, as soon as they can. */
struct pf_ledger_mailbox *pf_ledger_mailbox(const struct pf_comm *comm, int destination);
/* Those of the caller. */
struct pf_ledger_mailbox *pf_ledger_own_mailbox(const struct pf_comm *comm);

/* The instance in which everything runs in the plain mode. Counts if that is not the rank's choice. */
struct pf_instance *pf_ledger_follow(struct pf_rank *r, MPI_Comm comm, int model);
struct pf_instance *pf_ledger_plain(struct pf_rank *r, MPI_Comm comm);

static inline struct pf_ledger_entry *pf_ledger_entry_of(struct pf_envelope *envelope)
{
    return (struct pf_ledger_entry *)envelope;
}

/* The first entry of a send in the books that a receive with this source and tag (or wildcards) matches, NULL
 * without one. */
static inline struct pf_ledger_entry *pf_ledger_find_send(const struct pf_ledger_mailbox *box, int source,
                                                          int tag)
{
    return pf_ledger_entry_of(pf_envelope_find_send(&box->sends, source, tag));
}

/* The rank's own books, for a probe. */
struct pf_ledger_mailbox *pf_ledger_probe_mailbox(struct pf_rank *r, MPI_Comm comm, int source, int tag);

/* Ends a probe for which the books have nothing, at the cost of a native one in `in`. */
int pf_ledger_found_nothing(struct pf_rank *r, struct pf_instance *in, const struct pf_ledger_route *at,
                            int *flag);

/* A send was recorded: does somebody wait for it in a probe? */
void pf_ledger_wake(struct pf_ledger_mailbox *box, const struct pf_ledger_entry *send);

/* Waits in a blocking probe until a send is recorded that matches; returns the first that does. */
struct pf_ledger_entry *pf_ledger_await(struct pf_rank *r, struct pf_ledger_mailbox *box, int source,
                                        int tag);

/* A matched probe has taken the message out of matching: for good. */
void pf_ledger_take(struct pf_ledger_mailbox *box, struct pf_ledger_entry *send, struct pf_ledger_side *side);

/* The same in the plain mode: it is some message from `source` with `tag`. */
void pf_ledger_probed(struct pf_ledger_mailbox *box, int source, int tag);

/* Where a recorded send can be found natively. */
struct pf_ledger_route pf_ledger_place(struct pf_comm *comm, const struct pf_ledger_entry *send);

/* Calls `tell` for each message that nobody has received on a communicator that nobody uses any more, by
 * destination and in the order of the calls. */
void pf_ledger_unreceived(const struct pf_comm_shared *shared,
                          void (*tell)(const struct pf_ledger_entry *send, int destination, void *data),
                          void *data);

/* Of a communicator that ends. */
void pf_ledger_free(struct pf_comm_shared *shared);

#endif
