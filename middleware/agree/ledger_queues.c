/* SPDX-License-Identifier: BSD-3-Clause */
/* The match queues of the ledger, its native tags, completed messages of the plain mode (p2p/ledger.c). */
#include "middleware/agree/ledger_queues.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/pool.h"
#include "middleware/core/call.h"

/* Resolved receives in the queues before the next look whether they can be removed. */
#define SETTLE_AT 64

bool pf_ledger_on;

/* ---- entries ---- */

static struct pf_pool entries = PF_POOL(struct pf_ledger_entry);

void pf_ledger_entry_free(struct pf_ledger_entry *e)
{
    if (e->note)
        pf_upcalls.note_released(e->note);
    pf_pool_put(&entries, e);
}

static void entry_release(struct pf_envelope *envelope)
{
    pf_ledger_entry_free(pf_ledger_entry_of(envelope));
}

void pf_ledger_remove(struct pf_envelope_queue *queue, struct pf_ledger_entry *e)
{
    if (e->side)
        e->side->open = NULL;
    pf_envelope_remove(queue, &e->envelope);
    pf_ledger_entry_free(e);
}

struct pf_ledger_entry *pf_ledger_record(struct pf_rank *r, struct pf_ledger_side *side, int source, int tag,
                                         int model, int native_tag)
{
    struct pf_ledger_mailbox *mailbox = side->mailbox;
    struct pf_ledger_entry *e = pf_pool_get(&entries);
    *e = (struct pf_ledger_entry){.envelope = {.order = mailbox->order++, .source = source, .tag = tag},
                                  .side = side,
                                  .native_tag = native_tag,
                                  .sender = r->self.rank,
                                  .fn = r->call.fn,
                                  .model = (int8_t)model,
                                  .site = r->call.site,
                                  .note = pf_ledger_note(r, side, source)};
    side->open = e;
    side->native_tag = native_tag;
    pf_envelope_insert(side->receives ? &mailbox->receives : &mailbox->sends, &e->envelope);
    return e;
}

/* The other side of `side` is there: it takes it. */
void pf_ledger_take_entry(struct pf_ledger_side *side, struct pf_envelope_queue *queue,
                          struct pf_ledger_entry *other)
{
    pf_envelope_remove(queue, &other->envelope);
    if (other->side)
        other->side->open = NULL;
    side->took = other;
    side->native_tag = other->native_tag;
}

/* The call has failed: the other side is in its queue again. */
void pf_ledger_give_back(struct pf_ledger_side *side)
{
    struct pf_ledger_entry *e = side->took;
    pf_envelope_insert(side->receives ? &side->mailbox->sends : &side->mailbox->receives, &e->envelope);
    if (e->side) {
        e->side->open = e;
        e->side->known = false;
    }
    side->took = NULL;
}

int pf_ledger_take_tag(struct pf_ledger_mailbox *mailbox)
{
    if (mailbox->free_count)
        return mailbox->free_tags[--mailbox->free_count];
    if (mailbox->next_tag == (1 << 23) - 1) /* the least upper bound of the implementations */
        pf_die("more than %d messages to one rank are under way at once: too many for -agree follow",
               mailbox->next_tag);
    return mailbox->next_tag++;
}

void pf_ledger_free_tag(struct pf_ledger_mailbox *mailbox, int tag)
{
    PF_ARRAY_ROOM(mailbox->free_tags, mailbox->free_capacity, mailbox->free_count + 1);
    mailbox->free_tags[mailbox->free_count++] = tag;
}

/* ---- the plain mode ---- */

/* The send has met the receive (NULL: a matched probe). */
static void meet(const struct pf_ledger_entry *send, const struct pf_ledger_entry *receive)
{
    if (send->note)
        pf_upcalls.met(send->note, receive ? receive->note : NULL);
}

/* Messages of one source and tag are equivalent, unless one is watched: a receive that was posted before this
 * one and is not over has an earlier one. `certain` becomes false where it is unknown which. */
static struct pf_ledger_entry *own_send(struct pf_ledger_mailbox *mailbox, struct pf_ledger_entry *send,
                                        const struct pf_ledger_entry *receive, int source, int tag,
                                        bool *certain)
{
    struct pf_envelope *at = pf_envelope_find(&mailbox->receives, source, tag);
    for (; at && at != &receive->envelope; at = at->next) {
        const struct pf_ledger_entry *e = pf_ledger_entry_of(at);
        bool wild = !e->resolved && (at->source < 0 || at->tag < 0);
        int from = e->resolved ? e->found_source : at->source, with = e->resolved ? e->found_tag : at->tag;
        if ((from >= 0 && from != source) || (with >= 0 && with != tag))
            continue;
        struct pf_envelope *next = wild ? NULL : send->envelope.next;
        while (next && (next->source != source || next->tag != tag))
            next = next->next;
        *certain = next != NULL;
        if (!next)
            break;
        send = pf_ledger_entry_of(next);
    }
    return send;
}

/* A receive of a message from this source with this tag is over. */
static void consume(struct pf_ledger_mailbox *mailbox, const struct pf_ledger_entry *receive, int source,
                    int tag)
{
    struct pf_ledger_entry *send = pf_ledger_find_send(mailbox, source, tag);
    bool certain = true;
    if (!send)
        return;
    if (receive && receive->note)
        send = own_send(mailbox, send, receive, source, tag, &certain);
    meet(send, certain ? receive : NULL);
    if (!certain)
        pf_upcalls.met(NULL, receive->note);
    pf_ledger_remove(&mailbox->sends, send);
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

/* Removes what is over from the queues. With `finally` also the receives that the implementation must have
 * matched by now, or will match: they name their sources. */
static void settle(struct pf_ledger_mailbox *mailbox, bool finally)
{
    struct blockers blockers = {0};
    struct pf_ledger_entry *next;
    for (struct pf_ledger_entry *e = pf_ledger_entry_of(mailbox->receives.all.first); e && !blockers.all;
         e = next) {
        next = pf_ledger_entry_of(e->envelope.next);
        if (e->resolved) {
            if (!finally && blocks(&blockers, e->found_source))
                continue;
            consume(mailbox, e, e->found_source, e->found_tag);
            pf_ledger_remove(&mailbox->receives, e);
            mailbox->resolved--;
        } else if (finally) {
            struct pf_ledger_entry *send = pf_ledger_find_send(mailbox, e->envelope.source, e->envelope.tag);
            if (!send)
                continue;
            meet(send, e);
            pf_ledger_remove(&mailbox->sends, send);
            pf_ledger_remove(&mailbox->receives, e);
        } else if (e->envelope.tag == MPI_ANY_TAG) {
            add_blocker(&blockers, e->envelope.source);
        }
    }
    mailbox->settle_at = 2 * mailbox->resolved > SETTLE_AT ? 2 * mailbox->resolved : SETTLE_AT;
}

static void resolve(struct pf_ledger_mailbox *mailbox, struct pf_ledger_entry *e, int source, int tag)
{
    if (mailbox->any_tag == 0 || !e->envelope.prev) {
        consume(mailbox, e, source, tag);
        pf_ledger_remove(&mailbox->receives, e);
        return;
    }
    e->resolved = true;
    e->found_source = source;
    e->found_tag = tag;
    if (++mailbox->resolved >= mailbox->settle_at)
        settle(mailbox, false);
}

/* A plain receive is over, or has been cancelled: then its status has no source. */
void pf_ledger_plain_received(struct pf_ledger_mailbox *mailbox, struct pf_ledger_entry *e, int source,
                              int tag)
{
    e->side = NULL;
    mailbox->held -= (e->envelope.source == MPI_ANY_SOURCE) + e->held;
    mailbox->any_tag -= e->envelope.tag == MPI_ANY_TAG;
    if (source < 0)
        pf_ledger_remove(&mailbox->receives, e);
    else
        resolve(mailbox, e, source, tag);
}

void pf_ledger_probed(struct pf_ledger_mailbox *mailbox, int source, int tag)
{
    if (mailbox->any_tag == 0) {
        consume(mailbox, NULL, source, tag);
        return;
    }
    struct pf_ledger_entry *e = pf_pool_get(&entries);
    *e = (struct pf_ledger_entry){.envelope = {.order = mailbox->order++, .source = source, .tag = tag},
                                  .native_tag = PF_LEDGER_PLAIN};
    pf_envelope_insert(&mailbox->receives, &e->envelope);
    resolve(mailbox, e, source, tag);
}

/* ---- mailboxes ---- */

static struct pf_ledger_mailbox *mailboxes_new(int size, bool switched)
{
    struct pf_ledger_mailbox *mailboxes = pf_calloc((size_t)size, sizeof *mailboxes);
    for (int i = 0; i < size; i++) {
        mailboxes[i].settle_at = SETTLE_AT;
        mailboxes[i].exact = switched;
    }
    return mailboxes;
}

struct pf_ledger_mailbox *pf_ledger_mailbox_of(struct pf_ledger_mailbox **mailboxes, int size,
                                               int destination, bool switched)
{
    if (destination < 0 || destination >= size)
        return NULL;
    if (!*mailboxes)
        *mailboxes = mailboxes_new(size, switched);
    struct pf_ledger_mailbox *mailbox = &(*mailboxes)[destination];
    if (PF_UNLIKELY(switched && !mailbox->exact && mailbox->held == 0)) {
        settle(mailbox, true);
        mailbox->exact = true;
    }
    return mailbox;
}

void pf_ledger_unreceived(struct pf_ledger_mailbox *mailboxes, int size,
                          void (*report)(const struct pf_ledger_entry *send, int destination, void *data),
                          void *data)
{
    for (int i = 0; mailboxes && i < size; i++) {
        if (!mailboxes[i].exact)
            settle(&mailboxes[i], true);
        for (struct pf_envelope *e = mailboxes[i].sends.all.first; e; e = e->next)
            report(pf_ledger_entry_of(e), i, data);
    }
}

void pf_ledger_free(struct pf_ledger_mailbox *mailboxes, int size)
{
    for (int i = 0; mailboxes && i < size; i++) {
        pf_envelope_queue_clear(&mailboxes[i].sends, entry_release);
        pf_envelope_queue_clear(&mailboxes[i].receives, entry_release);
        free(mailboxes[i].free_tags);
    }
    free(mailboxes);
}
