/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/agree/ledger_queues.h"
#include "middleware/comm/comm.h"
#include "middleware/core/job_state.h"

/*
 * The ledger: both sides of a message are in one model (-agree follow). The first side decides, the other
 * follows, in MPI's matching order. ledger.c explains why that is right. It keeps match queues in runs that
 * can switch, and costs one test of pf_ledger_on in all others.
 */

/* The arguments of a native call that depend on the agreement: the application's come in. */
struct pf_ledger_route {
    int peer, tag;
    MPI_Comm comm;
};

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

/* A blocking receive has returned this code. A status then has the application's source and tag. */
void pf_ledger_received(struct pf_instance *in, struct pf_ledger_side *side, int code, const void *native,
                        MPI_Status *status);

/* A request has completed with this status (of the middleware), which is corrected. */
void pf_ledger_completed(struct pf_ledger_side *side, MPI_Status *status);

/* The request is gone, the message is not. */
void pf_ledger_forget(struct pf_ledger_side *side);

/* MPI_Cancel of a request of `in`: is the native call to be made? */
bool pf_ledger_cancel(struct pf_ledger_side *side);

/* The instance in which everything runs in the plain mode. Counts if that is not the rank's choice. */
struct pf_instance *pf_ledger_follow(struct pf_rank *r, MPI_Comm comm, int model);
struct pf_instance *pf_ledger_plain(struct pf_rank *r, MPI_Comm comm);

/* The native MPI_Probe, in native values; a job in which all ranks wait for ever is reported. */
int pf_probe_native(struct pf_rank *r, struct pf_instance *in, int source, int tag, pf_native_comm_t comm,
                    union pf_native_status *status);

/* The rank's own mailbox, for a probe. */
struct pf_ledger_mailbox *pf_ledger_probe_mailbox(struct pf_rank *r, MPI_Comm comm, int source, int tag);

/* Ends a probe without a match in the queues, at the cost of a native one in `in`. */
int pf_ledger_found_nothing(struct pf_rank *r, struct pf_instance *in, const struct pf_ledger_route *at,
                            int *flag);

/* A send was recorded: wakes a probe that waits for it. */
void pf_ledger_wake(struct pf_ledger_mailbox *mailbox, const struct pf_ledger_entry *send);

/* Waits in a blocking probe until a send is recorded that matches; returns the first that does. */
struct pf_ledger_entry *pf_ledger_await(struct pf_rank *r, struct pf_ledger_mailbox *mailbox, int source,
                                        int tag);

/* A matched probe has taken the message out of matching: for good. */
void pf_ledger_take(struct pf_ledger_mailbox *mailbox, struct pf_ledger_entry *send,
                    struct pf_ledger_side *side);

/* Where a recorded send can be found natively. */
struct pf_ledger_route pf_ledger_place(struct pf_comm *comm, const struct pf_ledger_entry *send);

/* The mailbox of the destination of a message, NULL when it is none. */
static inline struct pf_ledger_mailbox *pf_ledger_mailbox(const struct pf_comm *comm, int destination)
{
    struct pf_comm_shared *side = comm ? pf_comm_peer_side(comm) : NULL;
    return side ? pf_ledger_mailbox_of(&side->mailboxes, side->size, destination, comm->owner->job->switched)
                : NULL;
}

/* Those of the caller. */
static inline struct pf_ledger_mailbox *pf_ledger_own_mailbox(const struct pf_comm *comm)
{
    return pf_ledger_mailbox_of(&comm->shared->mailboxes, comm->shared->size, comm->me,
                                comm->owner->job->switched);
}
