/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Would the run end if no message was buffered, and if all members of a collective waited for each other? A
 * program that needs one of both is unsafe (MPI 3.1 sections 3.5 and 5.14).
 *
 * What each rank posts and waits for is played again in another world, in which a send ends when its receive
 * has been posted. There a rank goes on as soon as what it waits for is there; until then its events are
 * kept. The ledger knows which send has met which receive. A receive from any source, or after a probe for
 * any, could have met another send there: it does not wait, and a send that it has met can also meet another
 * one of this kind that has been posted and whose own send has not. No rank waits for
 * what calls that return the first ready request have completed. At the end, ranks that wait for each other
 * have done so only in theory.
 */
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/pool.h"
#include "middleware/check/internal.h"
#include "middleware/core/job_state.h"

/* So many events are kept at most. */
#define EVENT_LIMIT (1 << 21)

struct pf_check_note {
    int references;
    int rank;
    struct pf_check_note *other; /* what it has met, as long as that is kept */
    struct pf_check_signature signature;
    struct pf_check_place place;
    bool receives, any; /* any: it could have met something else */
    bool posted, done;  /* in the other world; done: no rank need wait for it there */
    bool open;          /* posted, any, and what it has met is not posted */
};

struct pf_check_meeting {
    int references, size, entered;
    struct pf_rank *waiting;         /* chained by next_waiting */
    struct pf_check_event *to_enter; /* while look() works: chained by next */
};

enum kind { POST, AWAIT, ENTER, MEET };

struct pf_check_event {
    enum kind kind;
    int rank;
    union {
        struct pf_check_note *note;
        struct pf_check_meeting *meeting;
    };
    struct pf_check_place place;
    struct pf_check_event *next;
};

static struct pf_pool notes = PF_POOL(struct pf_check_note);
static struct pf_pool meetings = PF_POOL(struct pf_check_meeting);
static struct pf_rank *ready; /* may be able to go on, chained by next_ready */
static int kept;
static bool off;

void pf_check_note_release(struct pf_check_note *note)
{
    if (!note || --note->references > 0)
        return;
    if (note->other)
        note->other->other = NULL;
    if (note->open)
        pf_job_state.ranks[note->rank].check->open_count--;
    pf_pool_put(&notes, note);
}

void pf_check_meeting_release(struct pf_check_meeting *meeting)
{
    if (meeting && --meeting->references == 0)
        pf_pool_put(&meetings, meeting);
}

static void make_ready(struct pf_rank *r)
{
    struct pf_check *check = r->check;
    if (!check || check->is_ready)
        return;
    check->is_ready = true;
    check->next_ready = ready;
    ready = r;
}

static void settled(struct pf_check_note *note)
{
    note->done = true;
    make_ready(&pf_job_state.ranks[note->rank]);
}

static void wake_all(struct pf_check_meeting *meeting)
{
    for (struct pf_rank *r = meeting->waiting, *next; r; r = next) {
        next = r->check->next_waiting;
        r->check->is_waiting = false;
        make_ready(r);
    }
    meeting->waiting = NULL;
}

static void wait_for(struct pf_rank *r, struct pf_check_meeting *meeting)
{
    struct pf_check *check = r->check;
    if (check->is_waiting)
        return;
    check->is_waiting = true;
    check->next_waiting = meeting->waiting;
    meeting->waiting = r;
}

static void release(const struct pf_check_event *e)
{
    if (e->kind == POST || e->kind == AWAIT)
        pf_check_note_release(e->note);
    else
        pf_check_meeting_release(e->meeting);
}

/* Whether sends can meet this receive from any source instead of their own. */
static void set_open(struct pf_check_note *receive)
{
    struct pf_check *check = pf_job_state.ranks[receive->rank].check;
    bool open = receive->any && receive->posted && !(receive->other && receive->other->posted);
    check->open_count += open - receive->open;
    if (open && !receive->open && check->open_count == 1)
        for (int i = 0; i < pf_job_state.size; i++)
            if (pf_job_state.ranks[i].check && pf_job_state.ranks[i].check->event_count > 0)
                make_ready(&pf_job_state.ranks[i]);
    receive->open = open;
}

static bool is_done(const struct pf_check_note *note)
{
    const struct pf_check_note *other = note->other;
    return note->done || (other && other->any && pf_job_state.ranks[other->rank].check->open_count > 0);
}

/* The rank goes past the event, if it can. */
static bool pass(struct pf_rank *r, const struct pf_check_event *e)
{
    switch (e->kind) {
    case POST:
        e->note->posted = true;
        if (e->note->other)
            settled(e->note->other);
        if (e->note->any)
            set_open(e->note);
        else if (e->note->other && e->note->other->any)
            set_open(e->note->other);
        break;
    case AWAIT:
        if (!is_done(e->note))
            return false;
        break;
    case ENTER:
        if (++e->meeting->entered == e->meeting->size)
            wake_all(e->meeting);
        break;
    case MEET:
        if (e->meeting->entered < e->meeting->size) {
            wait_for(r, e->meeting);
            return false;
        }
        break;
    }
    release(e);
    return true;
}

static struct pf_check_event *first_of(const struct pf_check *check)
{
    return check->event_count ? &check->events[check->first_event] : NULL;
}

static void go_on(void)
{
    while (ready) {
        struct pf_rank *r = ready;
        struct pf_check *check = r->check;
        ready = check->next_ready;
        check->is_ready = false;
        while (check->event_count && pass(r, first_of(check))) {
            check->first_event++;
            check->event_count--;
            kept--;
        }
    }
}

static void keep(struct pf_check *check, const struct pf_check_event *e)
{
    int end = check->first_event + check->event_count;
    if (end == check->event_capacity && check->first_event > check->event_capacity / 2) {
        memmove(check->events, first_of(check), (size_t)check->event_count * sizeof *check->events);
        check->first_event = 0;
        end = check->event_count;
    }
    PF_ARRAY_ROOM(check->events, check->event_capacity, end + 1);
    if (check->event_count == 0)
        check->first_event = end = 0;
    check->events[end] = *e;
    check->event_count++;
    kept++;
}

static void give_up(void)
{
    off = true;
    for (int i = 0; i < pf_job_state.size; i++) {
        struct pf_check *check = pf_job_state.ranks[i].check;
        for (; check && check->event_count; check->first_event++, check->event_count--)
            release(first_of(check));
    }
}

/* Whether the rank can go on some day: it waits for one that can, or for a message without a partner. */
static bool can_go_on(const struct pf_check *check)
{
    const struct pf_check_event *e = first_of(check);
    if (e->kind == AWAIT)
        return !e->note->other || !pf_job_state.ranks[e->note->other->rank].check->stuck;
    for (const struct pf_check_event *enter = e->meeting->to_enter; enter; enter = enter->next)
        if (pf_job_state.ranks[enter->rank].check->stuck)
            return false;
    return true;
}

static void find_stuck(void)
{
    for (int i = 0; i < pf_job_state.size; i++) {
        struct pf_check *check = pf_job_state.ranks[i].check;
        if (!check)
            continue;
        check->stuck = check->event_count > 0;
        for (int j = 0; j < check->event_count; j++) {
            struct pf_check_event *e = first_of(check) + j;
            if (e->kind != ENTER)
                continue;
            e->next = e->meeting->to_enter;
            e->meeting->to_enter = e;
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < pf_job_state.size; i++) {
            struct pf_check *check = pf_job_state.ranks[i].check;
            if (!check || !check->stuck || !can_go_on(check))
                continue;
            check->stuck = false;
            changed = true;
        }
    }
}

static void report(const struct pf_rank *r)
{
    const struct pf_check_event *e = first_of(r->check), *enter;
    int other = -1;
    if (e->kind == AWAIT && !e->note->receives)
        other = e->note->other->rank;
    for (enter = e->kind == MEET ? e->meeting->to_enter : NULL; enter; enter = enter->next)
        if (pf_job_state.ranks[enter->rank].check->stuck)
            other = enter->rank;
    if (other < 0)
        return;
    const struct pf_check_event *there = first_of(pf_job_state.ranks[other].check);
    struct pf_check_place place = e->kind == AWAIT ? e->note->place : e->place;
    pf_check_found(PF_CHECK_UNSAFE, r, "%s ends only %s: rank %d %s only after %s",
                   pf_check_place_text(place.fn, place.site),
                   e->kind == AWAIT ? "because the message is buffered"
                                    : "because it does not wait for all members",
                   other, e->kind == AWAIT ? "receives it" : "enters it",
                   pf_check_place_text(there->place.fn, there->place.site));
}

static void look(void)
{
    find_stuck();
    for (int i = 0; i < pf_job_state.size; i++) {
        const struct pf_rank *r = &pf_job_state.ranks[i];
        if (r->check && r->check->stuck)
            report(r);
    }
    give_up();
}

void pf_check_waits_end(void)
{
    if (!off)
        look();
}

static void happens(struct pf_rank *r, struct pf_check_event e)
{
    struct pf_check *check = r->check;
    e.rank = r->self.rank;
    if (off) {
        release(&e);
        return;
    }
    if (check->event_count > 0 || !pass(r, &e))
        keep(check, &e);
    go_on();
    if (kept >= EVENT_LIMIT) {
        pf_warn(
            "PARFOCAL_CHECK: some ranks are so many calls ahead of others that unsafe sends are no longer "
            "looked for");
        look();
    }
}

void pf_check_await(struct pf_check_call *call, struct pf_check_note **note,
                    struct pf_check_meeting **meeting)
{
    struct pf_check_place place = {call->fn, call->site};
    if (*note)
        happens(call->rank, (struct pf_check_event){.kind = AWAIT, .note = *note, .place = place});
    if (*meeting)
        happens(call->rank, (struct pf_check_event){.kind = MEET, .meeting = *meeting, .place = place});
    *note = NULL;
    *meeting = NULL;
}

struct pf_check_meeting *pf_check_meet(struct pf_check_call *call, struct pf_check_meeting *meeting, int size)
{
    if (!meeting) {
        meeting = pf_pool_get(&meetings);
        *meeting = (struct pf_check_meeting){.references = 1, .size = size};
    }
    meeting->references += 2;
    call->meeting = meeting;
    happens(call->rank,
            (struct pf_check_event){.kind = ENTER, .meeting = meeting, .place = {call->fn, call->site}});
    return meeting;
}

/* A persistent request that starts: its own datatype. */
static void from_recipe(struct pf_rank *r, const struct pf_ledger_side *side, struct pf_check_note *note)
{
    const struct pf_request *request =
        (const struct pf_request *)(const void *)((const char *)side - offsetof(struct pf_request, side));
    struct pf_check_record *record = pf_check_find(r, request);
    if (!record || record->kind != PF_KIND_REQUEST || !request->persistent) {
        note->done = note->signature.unknown = true;
        return;
    }
    const struct pf_persistent *recipe = request->persistent;
    note->signature = pf_check_signature_of(r, recipe->count, recipe->datatype);
    note->done = note->done || recipe->fn == PF_FN_Bsend_init;
    pf_check_note_release(record->note);
    record->note = note;
    note->references++;
}

struct pf_check_note *pf_check_posted(struct pf_rank *r, const struct pf_ledger_side *side, int source)
{
    struct pf_check_call *call = r->check->call;
    if (!call) { /* a call by a PMPI_ name, and perhaps others that were not seen */
        give_up();
        return NULL;
    }
    struct pf_check_note *note = pf_pool_get(&notes);
    *note = (struct pf_check_note){.references = 2,
                                   .rank = r->self.rank,
                                   .receives = side->receives,
                                   .any = side->receives && (source < 0 || r->check->probes),
                                   .signature = call->signatures[side->receives],
                                   .place = {call->fn, call->site}};
    note->done = note->any || call->fn == PF_FN_Bsend || call->fn == PF_FN_Ibsend;
    if (call->fn == PF_FN_Start || call->fn == PF_FN_Startall) {
        from_recipe(r, side, note);
    } else {
        pf_check_note_release(call->notes[side->receives]);
        call->notes[side->receives] = note;
        note->references++;
    }
    happens(r, (struct pf_check_event){.kind = POST, .note = note, .place = note->place});
    return note;
}

void pf_check_met(struct pf_check_note *send, struct pf_check_note *receive)
{
    const pf_self_t *self = receive ? NULL : pf_self();
    struct pf_check_call *probe = self ? self->mpi->check->call : NULL;
    if (probe)
        probe->signatures[1] = send->signature;
    if (!send) {
        if (receive)
            settled(receive);
        go_on();
        return;
    }
    if (!receive || receive->posted)
        settled(send);
    if (receive) {
        const char *difference = pf_check_signatures_differ(send->signature, receive->signature);
        if (difference)
            pf_check_found(PF_CHECK_SIGNATURE, &pf_job_state.ranks[receive->rank],
                           "%s receives what rank %d has sent by %s: %s",
                           pf_check_place_text(receive->place.fn, receive->place.site), send->rank,
                           pf_check_place_text(send->place.fn, send->place.site), difference);
        send->other = receive;
        receive->other = send;
        if (send->posted)
            settled(receive);
        if (receive->any)
            set_open(receive);
        make_ready(&pf_job_state.ranks[send->rank]);
    }
    go_on();
}
