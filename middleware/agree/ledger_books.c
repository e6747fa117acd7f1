/* SPDX-License-Identifier: BSD-3-Clause */
/* The books of the ledger: entries, native tags, and what is over in the plain mode (p2p/ledger.c explains).
 */
#include "middleware/agree/ledger_books.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/pool.h"
#include "middleware/core/call.h"

/* Resolved receives that wait in the books before somebody looks again whether they can go. */
#define SETTLE_AT 64

bool pf_ledger_on;

int pf_ledger_first_model;
static bool switched;

void pf_ledger_begin(int model)
{
    pf_ledger_first_model = model;
}

void pf_ledger_switched(int model)
{
    switched |= model != pf_ledger_first_model;
}

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
    struct pf_ledger_mailbox *box = side->box;
    struct pf_ledger_entry *e = pf_pool_get(&entries);
    *e = (struct pf_ledger_entry){.envelope = {.order = box->order++, .source = source, .tag = tag},
                                  .side = side,
                                  .native_tag = native_tag,
                                  .sender = r->self.rank,
                                  .fn = r->call.fn,
                                  .model = (int8_t)model,
                                  .site = r->call.site,
                                  .note = pf_ledger_note(r, side, source)};
    side->open = e;
    side->native_tag = native_tag;
    pf_envelope_insert(side->receives ? &box->receives : &box->sends, &e->envelope);
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

/* Nothing came of it: the other side is in the books again. */
void pf_ledger_give_back(struct pf_ledger_side *side)
{
    struct pf_ledger_entry *e = side->took;
    pf_envelope_insert(side->receives ? &side->box->sends : &side->box->receives, &e->envelope);
    if (e->side) {
        e->side->open = e;
        e->side->known = false;
    }
    side->took = NULL;
}

int pf_ledger_take_tag(struct pf_ledger_mailbox *box)
{
    if (box->free_count)
        return box->free_tags[--box->free_count];
    if (box->next_tag == (1 << 23) - 1) /* the least upper bound of the implementations */
        pf_die("more than %d messages to one rank are under way at once: too many for -agree follow",
               box->next_tag);
    return box->next_tag++;
}

void pf_ledger_free_tag(struct pf_ledger_mailbox *box, int tag)
{
    if (box->free_count == box->free_capacity) {
        box->free_capacity = box->free_capacity ? 2 * box->free_capacity : 16;
        box->free_tags = pf_realloc(box->free_tags, (size_t)box->free_capacity * sizeof *box->free_tags);
    }
    box->free_tags[box->free_count++] = tag;
}

/* ---- the plain mode ---- */

/* The send has met the receive (NULL: a matched probe). */
static void meet(const struct pf_ledger_entry *send, const struct pf_ledger_entry *receive)
{
    if (send->note)
        pf_upcalls.met(send->note, receive ? receive->note : NULL);
}

/* Messages of one source and tag are one as good as the other, unless somebody is watched: a receive that was
 * posted before this one and is not over has an earlier one. `certain` becomes false where it cannot be said
 * which. */
static struct pf_ledger_entry *own_send(struct pf_ledger_mailbox *box, struct pf_ledger_entry *send,
                                        const struct pf_ledger_entry *receive, int source, int tag,
                                        bool *certain)
{
    struct pf_envelope *at = pf_envelope_find(&box->receives, source, tag);
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
static void consume(struct pf_ledger_mailbox *box, const struct pf_ledger_entry *receive, int source, int tag)
{
    struct pf_ledger_entry *send = pf_ledger_find_send(box, source, tag);
    bool certain = true;
    if (!send)
        return;
    if (receive && receive->note)
        send = own_send(box, send, receive, source, tag, &certain);
    meet(send, certain ? receive : NULL);
    if (!certain)
        pf_upcalls.met(NULL, receive->note);
    pf_ledger_remove(&box->sends, send);
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
            consume(box, e, e->found_source, e->found_tag);
            pf_ledger_remove(&box->receives, e);
            box->resolved--;
        } else if (finally) {
            struct pf_ledger_entry *send = pf_ledger_find_send(box, e->envelope.source, e->envelope.tag);
            if (!send)
                continue;
            meet(send, e);
            pf_ledger_remove(&box->sends, send);
            pf_ledger_remove(&box->receives, e);
        } else if (e->envelope.tag == MPI_ANY_TAG) {
            add_blocker(&blockers, e->envelope.source);
        }
    }
    box->settle_at = 2 * box->resolved > SETTLE_AT ? 2 * box->resolved : SETTLE_AT;
}

static void resolve(struct pf_ledger_mailbox *box, struct pf_ledger_entry *e, int source, int tag)
{
    if (box->any_tag == 0 || !e->envelope.prev) {
        consume(box, e, source, tag);
        pf_ledger_remove(&box->receives, e);
        return;
    }
    e->resolved = true;
    e->found_source = source;
    e->found_tag = tag;
    if (++box->resolved >= box->settle_at)
        settle(box, false);
}

/* A plain receive is over, or has been cancelled: then its status has no source. */
void pf_ledger_plain_received(struct pf_ledger_mailbox *box, struct pf_ledger_entry *e, int source, int tag)
{
    e->side = NULL;
    box->held -= (e->envelope.source == MPI_ANY_SOURCE) + e->held;
    box->any_tag -= e->envelope.tag == MPI_ANY_TAG;
    if (source < 0)
        pf_ledger_remove(&box->receives, e);
    else
        resolve(box, e, source, tag);
}

void pf_ledger_probed(struct pf_ledger_mailbox *box, int source, int tag)
{
    if (box->any_tag == 0) {
        consume(box, NULL, source, tag);
        return;
    }
    struct pf_ledger_entry *e = pf_pool_get(&entries);
    *e = (struct pf_ledger_entry){.envelope = {.order = box->order++, .source = source, .tag = tag},
                                  .native_tag = PF_LEDGER_PLAIN};
    pf_envelope_insert(&box->receives, &e->envelope);
    resolve(box, e, source, tag);
}

/* ---- boxes ---- */

static struct pf_ledger_mailbox *boxes_new(int size)
{
    struct pf_ledger_mailbox *boxes = pf_calloc((size_t)size, sizeof *boxes);
    for (int i = 0; i < size; i++) {
        boxes[i].settle_at = SETTLE_AT;
        boxes[i].exact = switched;
    }
    return boxes;
}

struct pf_ledger_mailbox *pf_ledger_box_of(struct pf_ledger_mailbox **boxes, int size, int destination)
{
    if (destination < 0 || destination >= size)
        return NULL;
    if (!*boxes)
        *boxes = boxes_new(size);
    struct pf_ledger_mailbox *box = &(*boxes)[destination];
    if (PF_UNLIKELY(switched && !box->exact && box->held == 0)) {
        settle(box, true);
        box->exact = true;
    }
    return box;
}

void pf_ledger_unreceived(struct pf_ledger_mailbox *boxes, int size,
                          void (*tell)(const struct pf_ledger_entry *send, int destination, void *data),
                          void *data)
{
    for (int i = 0; boxes && i < size; i++) {
        if (!boxes[i].exact)
            settle(&boxes[i], true);
        for (struct pf_envelope *e = boxes[i].sends.all.first; e; e = e->next)
            tell(pf_ledger_entry_of(e), i, data);
    }
}

void pf_ledger_free(struct pf_ledger_mailbox *boxes, int size)
{
    for (int i = 0; boxes && i < size; i++) {
        pf_envelope_queue_clear(&boxes[i].sends, entry_release);
        pf_envelope_queue_clear(&boxes[i].receives, entry_release);
        free(boxes[i].free_tags);
    }
    free(boxes);
}
