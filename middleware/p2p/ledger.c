/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger is the authority on matching. For each destination on each communicator it has two queues in the
 * order of the calls: sends and receives whose other side has not been seen. The second side takes the first
 * entry of the other queue that matches, as MPI orders it, and follows its model; the first side is recorded
 * in its own.
 *
 * That the implementation cannot match otherwise (exact mode): every message travels in a communicator of the
 * middleware's own (pf_comm_private) under a native tag that no other message to this destination has. A
 * posted receive takes one, and the send that takes the receive uses it; a send that is first takes one, and
 * its receive is issued later with exactly this source and tag. So natively no two messages compete, and no
 * wildcard can choose. A tag is free again when the receive has completed: the message is matched then.
 *
 * As long as no rank has switched, a run must have the simulated times of a run without the ledger, races of
 * wildcards included (plain mode). Messages then have the application's tags and communicators, all in one
 * model, and the implementation matches. The ledger only records, and removes from its queues what has
 * been received, when it completes: its status has the source s and the tag t of the message. That is the
 * first queued one from s with t, because the implementation does not let messages of one
 * source and tag overtake each other. One exception: while an earlier receive of MPI_ANY_TAG is not
 * over, it may have taken a message from between; then the entry of the completed receive stays in
 * its queue ("resolved") until it is.
 *
 * After the first switch of any rank a destination leaves the plain mode as soon as its outcome can be
 * computed: no receive from any source, no cancel and no native probe is pending there. Until then
 * everything to it stays plain, in the first model. What is then pending are receives from given sources,
 * and between one source and one destination matching does not depend on time: in the order of posting each
 * takes the first message that matches (settle). What remains on both sides does not match each other:
 *  - A later send may take a remaining plain receive R: it goes natively with the plain tag. Earlier plain
 *    receives from this source either do not match it or have been taken by earlier sends, so it meets R.
 *  - A later receive may take a remaining plain send S: it is issued natively with S's source and tag. S is
 *    the first of this source and tag that has not been taken, plain receives do not match it, and later
 * plain sends, which took plain receives, cannot have its tag. So it meets S.
 *  - The other messages are in another communicator and meet none of these.
 */
#include "middleware/p2p/ledger.h"

#include "middleware/comm/routing.h"

struct pf_instance *pf_ledger_follow(struct pf_rank *r, MPI_Comm comm, int model)
{
    r->account->slot->followed_messages += model != pf_comm_route(r, comm)->model;
    return r->models[model];
}

struct pf_instance *pf_ledger_plain(struct pf_rank *r, MPI_Comm comm)
{
    const struct pf_comm *on = pf_comm_of(r, comm);
    return pf_ledger_follow(
        r, comm, on ? pf_comm_stand_in(on->shared, (int)r->job->start_model) : (int)r->job->start_model);
}

static void route(struct pf_ledger_route *to, struct pf_comm *comm, int native_tag)
{
    if (native_tag == PF_LEDGER_PLAIN)
        return;
    to->tag = native_tag;
    to->comm = (MPI_Comm)(uintptr_t)pf_comm_private(comm);
}

struct pf_ledger_route pf_ledger_place(struct pf_comm *comm, const struct pf_ledger_entry *send)
{
    struct pf_ledger_route place = {send->envelope.source, send->envelope.tag, pf_comm_handle(comm)};
    route(&place, comm, send->native_tag);
    return place;
}

/* A send of the rank meets a receive. */
static void meet(struct pf_check_note *send, struct pf_check_note *receive)
{
    if (!send)
        return;
    pf_upcalls.met(send, receive);
    pf_upcalls.note_released(send);
}

struct pf_instance *pf_ledger_send(struct pf_rank *r, struct pf_ledger_side *side, struct pf_ledger_route *to)
{
    struct pf_comm *comm = pf_comm_of(r, to->comm);
    struct pf_ledger_mailbox *mailbox = pf_ledger_mailbox(comm, to->peer);
    *side = (struct pf_ledger_side){.mailbox = to->tag >= 0 ? mailbox : NULL};
    struct pf_instance *own = pf_comm_route(r, to->comm);
    if (!side->mailbox)
        return own;
    if (!mailbox->exact) {
        pf_ledger_record(r, side, comm->me, to->tag, pf_comm_stand_in(comm->shared, (int)r->job->start_model),
                         PF_LEDGER_PLAIN);
        return pf_ledger_plain(r, to->comm);
    }
    struct pf_ledger_entry *e = pf_ledger_entry_of(pf_envelope_find(&mailbox->receives, comm->me, to->tag));
    int model = e ? e->model : own->model;
    if (e) {
        meet(pf_ledger_note(r, side, comm->me), e->note);
        pf_ledger_take_entry(side, &mailbox->receives, e);
        if (e->side) {
            e->side->known = true;
            e->side->source = comm->me;
            e->side->tag = to->tag;
        }
    } else {
        e = pf_ledger_record(r, side, comm->me, to->tag, model, pf_ledger_take_tag(mailbox));
        pf_ledger_wake(mailbox, e);
    }
    route(to, comm, side->native_tag);
    return pf_ledger_follow(r, pf_comm_handle(comm), model);
}

void pf_ledger_take(struct pf_ledger_mailbox *mailbox, struct pf_ledger_entry *send,
                    struct pf_ledger_side *side)
{
    *side = (struct pf_ledger_side){.mailbox = mailbox,
                                    .receives = true,
                                    .known = true,
                                    .source = send->envelope.source,
                                    .tag = send->envelope.tag};
    pf_ledger_take_entry(side, &mailbox->sends, send);
}

struct pf_instance *pf_ledger_receive(struct pf_rank *r, struct pf_ledger_side *side,
                                      struct pf_ledger_route *from)
{
    struct pf_comm *comm = pf_comm_of(r, from->comm);
    bool valid = comm &&
                 (from->peer == MPI_ANY_SOURCE || (from->peer >= 0 && from->peer < pf_comm_peers(comm))) &&
                 (from->tag >= 0 || from->tag == MPI_ANY_TAG);
    struct pf_ledger_mailbox *mailbox = valid ? pf_ledger_own_mailbox(comm) : NULL;
    *side = (struct pf_ledger_side){.mailbox = mailbox, .receives = true};
    struct pf_instance *own = pf_comm_route(r, from->comm);
    if (!mailbox)
        return own;
    if (!mailbox->exact) {
        pf_ledger_record(r, side, from->peer, from->tag,
                         pf_comm_stand_in(comm->shared, (int)r->job->start_model), PF_LEDGER_PLAIN);
        mailbox->held += from->peer == MPI_ANY_SOURCE;
        mailbox->any_tag += from->tag == MPI_ANY_TAG;
        return pf_ledger_plain(r, from->comm);
    }
    struct pf_ledger_entry *e = pf_ledger_find_send(mailbox, from->peer, from->tag);
    int model = e ? e->model : own->model;
    if (e) {
        struct pf_check_note *note = pf_ledger_note(r, side, from->peer);
        if (e->note)
            pf_upcalls.met(e->note, note);
        if (note)
            pf_upcalls.note_released(note);
        pf_ledger_take(mailbox, e, side);
        *from = pf_ledger_place(comm, e);
    } else {
        pf_ledger_record(r, side, from->peer, from->tag, model, pf_ledger_take_tag(mailbox));
        route(from, comm, side->native_tag);
    }
    return pf_ledger_follow(r, pf_comm_handle(comm), model);
}

void pf_ledger_keep(const struct pf_ledger_side *side, struct pf_ledger_side *kept)
{
    *kept = *side;
    if (kept->open)
        kept->open->side = kept;
}

/* The implementation has refused the arguments of the call: it is as if it had not been made. */
static void undo(struct pf_ledger_side *side)
{
    struct pf_ledger_entry *e = side->open;
    if (side->took)
        pf_ledger_give_back(side);
    else if (e && e->native_tag == PF_LEDGER_PLAIN && side->receives)
        pf_ledger_plain_received(side->mailbox, e, -1, 0);
    else if (e)
        pf_ledger_remove(side->receives ? &side->mailbox->receives : &side->mailbox->sends, e);
    side->mailbox = NULL;
    side->open = NULL;
}

void pf_ledger_started(struct pf_ledger_side *side, bool accepted)
{
    if (!side->mailbox)
        return;
    if (!accepted) {
        undo(side);
    } else if (side->took) {
        pf_ledger_entry_free(side->took);
        side->took = NULL;
    }
}

void pf_ledger_forget(struct pf_ledger_side *side)
{
    if (side->open)
        side->open->side = NULL;
    side->open = NULL;
    side->mailbox = NULL;
}

void pf_ledger_sent(struct pf_ledger_side *side, bool accepted)
{
    pf_ledger_started(side, accepted);
    pf_ledger_forget(side);
}

static void send_completed(struct pf_ledger_side *side, bool cancelled)
{
    struct pf_ledger_entry *e = side->open;
    if (!e)
        return;
    if (e->held)
        side->mailbox->held--;
    e->held = false;
    e->side = NULL;
    if (cancelled)
        pf_ledger_remove(&side->mailbox->sends, e);
}

static void receive_completed(struct pf_ledger_side *side, const MPI_Status *status, bool cancelled)
{
    struct pf_ledger_entry *e = side->open;
    if (side->native_tag != PF_LEDGER_PLAIN) {
        if (e)
            pf_ledger_remove(&side->mailbox->receives, e);
        if (!cancelled) /* SMPI counts messages per tag, also those that were cancelled: it is not used again
                         */
            pf_ledger_free_tag(side->mailbox, side->native_tag);
    } else if (e) { /* what the call has asked for is certain, also after an error */
        int source = e->envelope.source >= 0 ? e->envelope.source : status->MPI_SOURCE;
        pf_ledger_plain_received(side->mailbox, e, cancelled ? -1 : source,
                                 e->envelope.tag >= 0 ? e->envelope.tag : status->MPI_TAG);
    }
}

static void completed(struct pf_ledger_side *side, MPI_Status *status, bool cancelled)
{
    pf_ledger_started(side, true);
    if (side->receives)
        receive_completed(side, status, cancelled);
    else
        send_completed(side, cancelled);
    if (side->known && side->receives && !cancelled) {
        status->MPI_SOURCE = side->source;
        status->MPI_TAG = side->tag;
    }
    side->mailbox = NULL;
    side->open = NULL;
}

void pf_ledger_completed(struct pf_ledger_side *side, MPI_Status *status)
{
    if (side->mailbox)
        completed(side, status, pf_status_cancelled(status));
}

bool pf_ledger_accepted(struct pf_instance *in, int code)
{
    return code == MPI_SUCCESS || in->ops->error_class(in, code) == MPI_ERR_TRUNCATE;
}

void pf_ledger_received(struct pf_instance *in, struct pf_ledger_side *side, int code, const void *native,
                        MPI_Status *status)
{
    if (!side->mailbox)
        return;
    if (!pf_ledger_accepted(in, code)) {
        undo(side);
        return;
    }
    MPI_Status own;
    if (code != MPI_SUCCESS || !status) /* also of a message that was too long: which one it was */
        pf_status_from_native(in, native, status = &own);
    completed(side, status, false);
}

bool pf_ledger_cancel(struct pf_ledger_side *side)
{
    struct pf_ledger_entry *e = side->open;
    if (!side->mailbox)
        return true;
    if (!side->mailbox->exact) {
        if (e && !e->held) {
            e->held = true;
            side->mailbox->held++;
        }
        return true;
    }
    if (!e || !side->receives) /* its message is on its way; sends are not cancelled */
        return false;
    pf_ledger_remove(&side->mailbox->receives, e);
    return true;
}
