/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger is the authority on matching. For each destination on each communicator it has two queues in the
 * order of the calls: sends and receives whose other side has not been seen. Who comes second takes the first
 * entry of the other queue that matches, as MPI orders it, and follows its model; who comes first is
 * recorded in its own.
 *
 * That the implementation cannot match otherwise (exact mode): every message travels in a communicator of the
 * hub's own (pf_comm_private) under a native tag that no other message to this destination has. A posted
 * receive takes one, and the send that takes the receive uses it; a send that is first takes one, and its
 * receive is issued later with exactly this source and tag. So natively no two messages compete, and
 * no wildcard can choose. A tag is free again when the receive has completed: the message is matched then.
 *
 * As long as nobody has switched, a run must have the simulated times of a run without the ledger, races of
 * wildcards included (plain mode). Messages then have the application's tags and communicators, all in one
 * model, and the implementation matches. The ledger only records, and takes from its books what has
 * been received, when it completes: its status says the source s and the tag t of the message. That is the
 * first one in the books from s with t, because the implementation does not let messages of one
 * source and tag overtake each other. One exception: while an earlier receive of MPI_ANY_TAG is not
 * over, it may have taken a message from between; then the entry of the completed receive waits in
 * the books ("resolved") until it is.
 *
 * After the first switch of any rank a destination leaves the plain mode as soon as its outcome can be
 * computed: no receive from any source, no cancel and no native probe is pending there. Until then
 * everything to it stays plain, in the first model. What is then pending are receives from given sources,
 * and between one source and one destination matching does not depend on time: in the order of posting each
 * takes the first message that matches (settle). What remains on both sides does not match each other:
 *  - A later send may take a remaining plain receive R: it goes natively with the plain tag. Earlier plain
 *    receives from this source either do not match it or have been taken by earlier sends, so it meets R.
 *  - A later receive may take a remaining plain send S: it is issued natively with S's source and tag. S is
 *    the first of this source and tag that nobody has taken, plain receives do not match it, and later plain
 *    sends, which took plain receives, cannot have its tag. So it meets S.
 *  - The other messages are in another communicator and meet nobody of these.
 */
#include "middleware/agree/ledger.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/pool.h"
#include "middleware/agree/stranded.h"
#include "middleware/core/call.h"
#include "middleware/p2p/request.h"

/* Resolved receives that wait in the books before somebody looks again whether they can go. */
#define SETTLE_AT 64

bool pf_ledger_on;

static int first_model;
static bool switched;

void pf_ledger_begin(int model)
{
    first_model = model;
}

void pf_ledger_switched(int model)
{
    switched |= model != first_model;
}

/* ---- entries ---- */

static struct pf_pool entries = PF_POOL(struct pf_ledger_entry);

static void entry_free(struct pf_ledger_entry *e)
{
    pf_pool_put(&entries, e);
}

static void entry_release(struct pf_envelope *envelope)
{
    entry_free(pf_ledger_entry_of(envelope));
}

static void release(struct pf_envelope_queue *queue, struct pf_ledger_entry *e)
{
    if (e->side)
        e->side->open = NULL;
    pf_envelope_remove(queue, &e->envelope);
    entry_free(e);
}

static struct pf_ledger_entry *record(struct pf_rank *r, struct pf_ledger_side *side, int source, int tag,
                                      int model, int native_tag)
{
    struct pf_ledger_mailbox *box = side->box;
    struct pf_ledger_entry *e = pf_pool_get(&entries);
    *e = (struct pf_ledger_entry){.envelope = {.order = box->order++, .source = source, .tag = tag},
                                  .side = side,
                                  .native_tag = native_tag,
                                  .sender = r->self.rank,
                                  .fn = r->call.fn,
                                  .model = (int8_t)model,
                                  .site = r->call.site};
    side->open = e;
    side->native_tag = native_tag;
    pf_envelope_insert(side->receives ? &box->receives : &box->sends, &e->envelope, box->members);
    return e;
}

/* The other side of `side` is there: it takes it. */
static void take(struct pf_ledger_side *side, struct pf_envelope_queue *queue, struct pf_ledger_entry *other)
{
    pf_envelope_remove(queue, &other->envelope);
    if (other->side)
        other->side->open = NULL;
    side->took = other;
    side->native_tag = other->native_tag;
}

/* Nothing came of it: the other side is in the books again. */
static void give_back(struct pf_ledger_side *side)
{
    struct pf_ledger_entry *e = side->took;
    pf_envelope_insert(side->receives ? &side->box->sends : &side->box->receives, &e->envelope,
                       side->box->members);
    if (e->side) {
        e->side->open = e;
        e->side->known = false;
    }
    side->took = NULL;
}

static int take_tag(struct pf_ledger_mailbox *box)
{
    if (box->free_count)
        return box->free_tags[--box->free_count];
    if (box->next_tag == (1 << 23) - 1) /* the least upper bound of the implementations */
        pf_die("more than %d messages to one rank are under way at once: too many for -agree follow",
               box->next_tag);
    return box->next_tag++;
}

static void free_tag(struct pf_ledger_mailbox *box, int tag)
{
    if (box->free_count == box->free_capacity) {
        box->free_capacity = box->free_capacity ? 2 * box->free_capacity : 16;
        box->free_tags = pf_realloc(box->free_tags, (size_t)box->free_capacity * sizeof *box->free_tags);
    }
    box->free_tags[box->free_count++] = tag;
}

/* ---- the plain mode ---- */

/* A receive of a message from this source with this tag is over. */
static void consume(struct pf_ledger_mailbox *box, int source, int tag)
{
    struct pf_ledger_entry *send = pf_ledger_find_send(box, source, tag);
    if (send)
        release(&box->sends, send);
}

/* Sources of receives of any tag that are not over. */
struct blockers {
    int count;
    bool all;
    int sources[8];
};

static bool blocks(const struct blockers *blockers, int source)
{
    for (int i = 0; i < blockers->count; i++)
        if (blockers->sources[i] == source || blockers->sources[i] == MPI_ANY_SOURCE)
            return true;
    return blockers->all;
}

static void add_blocker(struct blockers *blockers, int source)
{
    if (blocks(blockers, source))
        return;
    if (blockers->count == 8)
        blockers->all = true;
    else
        blockers->sources[blockers->count++] = source;
}

/* Takes out of the books what is over. With `finally` also the receives that the implementation must have
 * matched by now, or will match: they name their sources. */
static void settle(struct pf_ledger_mailbox *box, bool finally)
{
    struct blockers blockers = {0};
    struct pf_ledger_entry *next;
    for (struct pf_ledger_entry *e = pf_ledger_entry_of(box->receives.all.first); e && !blockers.all;
         e = next) {
        next = pf_ledger_entry_of(e->envelope.next);
        if (e->resolved) {
            if (!finally && blocks(&blockers, e->found_source))
                continue;
            consume(box, e->found_source, e->found_tag);
            release(&box->receives, e);
            box->resolved--;
        } else if (finally) {
            struct pf_ledger_entry *send = pf_ledger_find_send(box, e->envelope.source, e->envelope.tag);
            if (!send)
                continue;
            release(&box->sends, send);
            release(&box->receives, e);
        } else if (e->envelope.tag == MPI_ANY_TAG) {
            add_blocker(&blockers, e->envelope.source);
        }
    }
    box->settle_at = 2 * box->resolved > SETTLE_AT ? 2 * box->resolved : SETTLE_AT;
}

static void resolve(struct pf_ledger_mailbox *box, struct pf_ledger_entry *e, int source, int tag)
{
    if (box->any_tag == 0 || !e->envelope.prev) {
        consume(box, source, tag);
        release(&box->receives, e);
        return;
    }
    e->resolved = true;
    e->found_source = source;
    e->found_tag = tag;
    if (++box->resolved >= box->settle_at)
        settle(box, false);
}

/* A plain receive is over, or has been cancelled: then its status has no source. */
static void plain_received(struct pf_ledger_mailbox *box, struct pf_ledger_entry *e, int source, int tag)
{
    e->side = NULL;
    box->held -= (e->envelope.source == MPI_ANY_SOURCE) + e->held;
    box->any_tag -= e->envelope.tag == MPI_ANY_TAG;
    if (source < 0)
        release(&box->receives, e);
    else
        resolve(box, e, source, tag);
}

void pf_ledger_probed(struct pf_ledger_mailbox *box, int source, int tag)
{
    if (box->any_tag == 0) {
        consume(box, source, tag);
        return;
    }
    struct pf_ledger_entry *e = pf_pool_get(&entries);
    *e = (struct pf_ledger_entry){.envelope = {.order = box->order++, .source = source, .tag = tag},
                                  .native_tag = PF_LEDGER_PLAIN};
    pf_envelope_insert(&box->receives, &e->envelope, box->members);
    resolve(box, e, source, tag);
}

/* ---- boxes ---- */

static struct pf_ledger_mailbox *boxes_new(struct pf_comm_shared *shared)
{
    struct pf_ledger_mailbox *boxes = pf_calloc((size_t)shared->size, sizeof *boxes);
    for (int i = 0; i < shared->size; i++) {
        boxes[i].members = shared->other ? shared->other->size : shared->size;
        boxes[i].settle_at = SETTLE_AT;
        boxes[i].exact = switched;
    }
    return boxes;
}

static struct pf_ledger_mailbox *box_of(struct pf_comm_shared *shared, int destination)
{
    if (destination < 0 || destination >= shared->size)
        return NULL;
    if (!shared->boxes)
        shared->boxes = boxes_new(shared);
    struct pf_ledger_mailbox *box = &shared->boxes[destination];
    if (PF_UNLIKELY(switched && !box->exact && box->held == 0)) {
        settle(box, true);
        box->exact = true;
    }
    return box;
}

struct pf_ledger_mailbox *pf_ledger_mailbox(const struct pf_comm *comm, int destination)
{
    return comm ? box_of(pf_comm_peer_side(comm), destination) : NULL;
}

struct pf_ledger_mailbox *pf_ledger_own_mailbox(const struct pf_comm *comm)
{
    return box_of(comm->shared, comm->me);
}

void pf_ledger_unreceived(const struct pf_comm_shared *shared,
                          void (*tell)(const struct pf_ledger_entry *send, int destination, void *data),
                          void *data)
{
    for (int i = 0; shared->boxes && i < shared->size; i++) {
        if (!shared->boxes[i].exact)
            settle(&shared->boxes[i], true);
        for (struct pf_envelope *e = shared->boxes[i].sends.all.first; e; e = e->next)
            tell(pf_ledger_entry_of(e), i, data);
    }
}

void pf_ledger_free(struct pf_comm_shared *shared)
{
    for (int i = 0; shared->boxes && i < shared->size; i++) {
        pf_envelope_queue_clear(&shared->boxes[i].sends, entry_release);
        pf_envelope_queue_clear(&shared->boxes[i].receives, entry_release);
        free(shared->boxes[i].free_tags);
    }
    free(shared->boxes);
}

/* ---- calls ---- */

struct pf_instance *pf_ledger_follow(struct pf_rank *r, MPI_Comm comm, int model)
{
    r->account->slot->followed_messages += model != pf_comm_route(r, comm)->model;
    return r->models[model];
}

struct pf_instance *pf_ledger_plain(struct pf_rank *r, MPI_Comm comm)
{
    const struct pf_comm *on = pf_comm_of(r, comm);
    return pf_ledger_follow(r, comm, on ? pf_comm_stand_in(on->shared, first_model) : first_model);
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

struct pf_instance *pf_ledger_send(struct pf_rank *r, struct pf_ledger_side *side, struct pf_ledger_route *to)
{
    struct pf_comm *comm = pf_comm_of(r, to->comm);
    struct pf_ledger_mailbox *box = pf_ledger_mailbox(comm, to->peer);
    *side = (struct pf_ledger_side){.box = to->tag >= 0 ? box : NULL};
    struct pf_instance *own = pf_comm_route(r, to->comm);
    if (!side->box)
        return own;
    if (!box->exact) {
        record(r, side, comm->me, to->tag, pf_comm_stand_in(comm->shared, first_model), PF_LEDGER_PLAIN);
        return pf_ledger_plain(r, to->comm);
    }
    struct pf_ledger_entry *e =
        pf_ledger_entry_of(pf_envelope_find_receive(&box->receives, comm->me, to->tag));
    int model = e ? e->model : own->model;
    if (e) {
        take(side, &box->receives, e);
        if (e->side) {
            e->side->known = true;
            e->side->source = comm->me;
            e->side->tag = to->tag;
        }
    } else {
        e = record(r, side, comm->me, to->tag, model, take_tag(box));
        pf_ledger_wake(box, e);
    }
    route(to, comm, side->native_tag);
    return pf_ledger_follow(r, pf_comm_handle(comm), model);
}

void pf_ledger_take(struct pf_ledger_mailbox *box, struct pf_ledger_entry *send, struct pf_ledger_side *side)
{
    *side = (struct pf_ledger_side){.box = box,
                                    .receives = true,
                                    .known = true,
                                    .source = send->envelope.source,
                                    .tag = send->envelope.tag};
    take(side, &box->sends, send);
}

struct pf_instance *pf_ledger_receive(struct pf_rank *r, struct pf_ledger_side *side,
                                      struct pf_ledger_route *from)
{
    struct pf_comm *comm = pf_comm_of(r, from->comm);
    bool valid = comm &&
                 (from->peer == MPI_ANY_SOURCE || (from->peer >= 0 && from->peer < pf_comm_peers(comm))) &&
                 (from->tag >= 0 || from->tag == MPI_ANY_TAG);
    struct pf_ledger_mailbox *box = valid ? pf_ledger_own_mailbox(comm) : NULL;
    *side = (struct pf_ledger_side){.box = box, .receives = true};
    struct pf_instance *own = pf_comm_route(r, from->comm);
    if (!box)
        return own;
    if (!box->exact) {
        record(r, side, from->peer, from->tag, pf_comm_stand_in(comm->shared, first_model), PF_LEDGER_PLAIN);
        box->held += from->peer == MPI_ANY_SOURCE;
        box->any_tag += from->tag == MPI_ANY_TAG;
        return pf_ledger_plain(r, from->comm);
    }
    struct pf_ledger_entry *e = pf_ledger_find_send(box, from->peer, from->tag);
    int model = e ? e->model : own->model;
    if (e) {
        pf_ledger_take(box, e, side);
        *from = pf_ledger_place(comm, e);
    } else {
        record(r, side, from->peer, from->tag, model, take_tag(box));
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
        give_back(side);
    else if (e && e->native_tag == PF_LEDGER_PLAIN && side->receives)
        plain_received(side->box, e, -1, 0);
    else if (e)
        release(side->receives ? &side->box->receives : &side->box->sends, e);
    side->box = NULL;
    side->open = NULL;
}

void pf_ledger_started(struct pf_ledger_side *side, bool accepted)
{
    if (!side->box)
        return;
    if (!accepted) {
        undo(side);
    } else if (side->took) {
        entry_free(side->took);
        side->took = NULL;
    }
}

void pf_ledger_forget(struct pf_ledger_side *side)
{
    if (side->open)
        side->open->side = NULL;
    side->open = NULL;
    side->box = NULL;
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
        side->box->held--;
    e->held = false;
    e->side = NULL;
    if (cancelled)
        release(&side->box->sends, e);
}

static void receive_completed(struct pf_ledger_side *side, const MPI_Status *status, bool cancelled)
{
    struct pf_ledger_entry *e = side->open;
    if (side->native_tag != PF_LEDGER_PLAIN) {
        if (e)
            release(&side->box->receives, e);
        if (!cancelled) /* SMPI counts messages per tag, also those that were cancelled: it is not used again
                         */
            free_tag(side->box, side->native_tag);
    } else if (e) { /* what the call has asked for is certain, also after an error */
        int source = e->envelope.source >= 0 ? e->envelope.source : status->MPI_SOURCE;
        plain_received(side->box, e, cancelled ? -1 : source,
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
    side->box = NULL;
    side->open = NULL;
}

void pf_ledger_completed(struct pf_ledger_side *side, MPI_Status *status)
{
    if (side->box)
        completed(side, status, pf_status_cancelled(status));
}

bool pf_ledger_accepted(struct pf_instance *in, int code)
{
    return code == MPI_SUCCESS || in->ops->error_class(in, code) == MPI_ERR_TRUNCATE;
}

void pf_ledger_received(struct pf_instance *in, struct pf_ledger_side *side, int code, const void *native,
                        MPI_Status *status)
{
    if (!side->box)
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

bool pf_ledger_cancel(struct pf_instance *in, void *native, struct pf_ledger_side *side)
{
    struct pf_ledger_entry *e = side->open;
    if (!side->box)
        return true;
    if (!side->box->exact) {
        if (e && !e->held) {
            e->held = true;
            side->box->held++;
        }
        return true;
    }
    if (!e) /* its message is on its way */
        return false;
    /* Nobody cancels a send that has left the buffer: such a message will be received. */
    if (!side->receives && (!in->values->cancels_sends || in->ops->request_done(in, native)))
        return false;
    release(side->receives ? &side->box->receives : &side->box->sends, e);
    return true;
}
