/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network that another process simulates. Its events and ours are merged by one event of the engine, the
 * clock: it is where the first of these is
 *   - a report of the peer whose date has come,
 *   - the peer's next step, whatever that is: it may go on until something of ours is next,
 *   - messages that the peer does not know of yet.
 * So there is one question and one answer for each date at which anything happens, with all messages that
 * entered meanwhile in it. The place of the peer's step has a turn besides its date (engine/engine.h): a peer
 * that is built on our engine runs its events in the order that they would have in this process.
 */
#include "base/config.h"
#include "base/memory.h"
#include "lowlevel/network/external/peer.h"
#include "lowlevel/network/external/reports.h"
#include "lowlevel/network/network.h"
#include "lowlevel/platform/platform.h"

#include <math.h>
#include <uthash.h>

/* Questions at one date that bring nothing: the peer does not get on. */
enum { MOST_IN_VAIN = 1000000 };

/* A message that the peer has; its id is its index and, above, how often that was used before. */
struct parcel {
    struct pf_transfer *transfer; /* NULL: free */
    uint32_t uses, next_free;
    bool first_reported, sent_reported, end_reported, has_first, has_sent;
    double wants_ack;     /* B, 0: none */
    double reported_date; /* of the latest report */
};
static struct parcel *parcels;
static uint32_t parcel_count, parcel_room, free_parcel; /* the first free one from 1, 0: none */

static struct pf_event clock_event;
static struct pf_engine_place next_step = {INFINITY, 0};
static struct pf_engine_place first_unsent = {INFINITY, 0};
static bool is_inside; /* the peer waits in the middle of a step for our answer to its reports */
static double last_date, peer_date;
static uint64_t report_count, in_vain;
static bool has_lost; /* acknowledgements are asked for, as not every message gets one */
static bool is_delivering;

/* The acknowledgement that comes with `last`, during that upcall. */
static struct {
    const struct pf_transfer *of;
    double bytes, date;
} acknowledged;

static struct waiter {
    int node, vn;
    void (*credit)(void *arg);
    void *arg;
    struct waiter *next;
} * waiters;
static int64_t *credits; /* of [node * PF_VN_COUNT + virtual network] */
static uint32_t nodes;

static void ring(struct pf_event *event);

static void meet(void)
{
    if (clock_event.fn)
        return;
    clock_event.fn = ring;
    pf_external_meet();
    nodes = (uint32_t)pf_platform_node_count();
    if (!pf_external_peer.credits)
        return;
    credits = pf_calloc((size_t)nodes * PF_VN_COUNT, sizeof *credits);
    for (size_t i = 0; i < (size_t)nodes * PF_VN_COUNT; i++)
        credits[i] = pf_external_peer.credits;
}

/* ---- Messages by their ids. */
static uint64_t id_of(uint32_t index)
{
    return (uint64_t)parcels[index].uses << 32 | index;
}

static uint32_t new_parcel(void)
{
    if (free_parcel) {
        uint32_t index = free_parcel - 1;
        free_parcel = parcels[index].next_free;
        return index;
    }
    PF_ARRAY_ROOM(parcels, parcel_room, parcel_count + 1);
    parcels[parcel_count].uses = 0;
    return parcel_count++;
}

static void free_up(struct parcel *p)
{
    p->transfer->state = NULL;
    p->transfer = NULL;
    p->uses++;
    p->next_free = free_parcel;
    free_parcel = (uint32_t)(p - parcels) + 1;
}

static bool is_under_way(uint64_t id)
{
    uint32_t index = (uint32_t)id;
    return index < parcel_count && parcels[index].transfer && id_of(index) == id;
}

/* ---- The clock. */
static void place_clock(void)
{
    const struct pf_peer_report *report = pf_peer_report_first();
    struct pf_engine_place place = report ? (struct pf_engine_place){report->date, 0} : next_step;
    if (pf_engine_is_before(next_step, place))
        place = next_step;
    if (pf_engine_is_before(first_unsent, place))
        place = first_unsent;
    if (isinf(place.date))
        pf_engine_cancel(&clock_event);
    else
        pf_engine_post_at(&clock_event, place);
}

/* ---- Reports of the peer. */
static void hear_of_message(const struct pf_wire_message *m, struct pf_peer_report *report)
{
    if (!is_under_way(m->id))
        pf_external_blame("a %s of message 0x%llx, which is not under way", pf_wire_name(m->type),
                          (unsigned long long)m->id);
    struct parcel *p = &parcels[(uint32_t)m->id];
    bool is_first = m->type == PF_EXTERNAL_FIRST, is_sent = m->type == PF_EXTERNAL_SENT;
    if ((is_first && p->first_reported) || (is_sent && p->sent_reported) || p->end_reported)
        pf_external_blame("%s of message 0x%llx, %s", pf_wire_name(m->type), (unsigned long long)m->id,
                          p->end_reported ? "whose end it has reported" : "a second time");
    if (p->reported_date > m->date)
        pf_external_blame("%s of message 0x%llx at %.17g s, before its last report at %.17g s",
                          pf_wire_name(m->type), (unsigned long long)m->id, m->date, p->reported_date);
    p->reported_date = m->date;
    p->first_reported |= is_first;
    p->sent_reported |= is_sent;
    p->end_reported = !is_first && !is_sent;
    const char *at = m->body;
    if (m->type == PF_EXTERNAL_LAST) {
        pf_external_expect(m, PF_EXTERNAL_LAST_BODY);
        report->acknowledged = pf_external_get_f64(&at);
        if (p->wants_ack > 0.0 && !(report->acknowledged >= m->date || report->acknowledged < 0.0))
            pf_external_blame("LAST of message 0x%llx is of %.17g s, its acknowledgement of %.17g s",
                              (unsigned long long)m->id, m->date, report->acknowledged);
    } else {
        pf_external_expect(m, PF_EXTERNAL_TURN_BODY);
    }
    report->turn = pf_external_get_u64(&at);
    report->id = m->id;
}

static void hear_of_credit(const struct pf_wire_message *m, struct pf_peer_report *report)
{
    const char *at = m->body;
    pf_external_expect(m, PF_EXTERNAL_CREDIT_BODY);
    uint32_t node = pf_external_get_u32(&at), vn = pf_external_get_u32(&at);
    report->count = pf_external_get_u32(&at);
    report->id = (uint64_t)node * PF_VN_COUNT + vn;
    if (!credits || node >= nodes || vn >= PF_VN_COUNT)
        pf_external_blame("CREDIT for node %u, virtual network %u, of which there is none", node, vn);
}

/* The end of an answer. */
static void hear_advanced(const struct pf_wire_message *m, struct pf_engine_place limit)
{
    const char *at = m->body;
    double now = pf_engine_now();
    pf_external_expect(m, PF_EXTERNAL_ADVANCED_BODY);
    peer_date = m->date;
    next_step.date = pf_external_get_f64(&at);
    next_step.turn = pf_external_get_u64(&at);
    uint64_t turn = pf_external_get_u64(&at), flags = pf_external_get_u64(&at);
    is_inside = flags == 1;
    if (flags > 1)
        pf_external_blame("ADVANCED has the flags 0x%llx, of which some are unknown",
                          (unsigned long long)flags);
    if (m->date < now || m->date > fmax(limit.date, now))
        pf_external_blame("it has advanced to %.17g s, and may from %.17g to %.17g s", m->date, now,
                          limit.date);
    if (!(next_step.date >= m->date))
        pf_external_blame("it has advanced to %.17g s, and its next step is at %.17g s", m->date,
                          next_step.date);
    uint64_t mine = pf_engine_next_turn();
    if (turn && (turn < mine || turn - mine > UINT64_MAX / 4))
        pf_external_blame("its turn %llu does not follow %llu", (unsigned long long)turn,
                          (unsigned long long)mine);
    if (turn)
        pf_engine_set_next_turn(turn);
    /* Or both sides would end up writing, and neither reading. */
    if (pf_wire_has_more(&pf_external_peer.wire))
        pf_external_blame("it goes on behind ADVANCED, and no question is open");
}

static void hear_report(const struct pf_wire_message *m)
{
    struct pf_peer_report report = {.date = m->date, .number = report_count++, .type = m->type};
    if (m->date < pf_engine_now())
        pf_external_blame("a %s of %.17g s, and it is %.17g s", pf_wire_name(m->type), m->date,
                          pf_engine_now());
    switch (m->type) {
    case PF_EXTERNAL_FIRST:
    case PF_EXTERNAL_SENT:
    case PF_EXTERNAL_LAST:
    case PF_EXTERNAL_LOST:
        hear_of_message(m, &report);
        break;
    case PF_EXTERNAL_CREDIT:
        hear_of_credit(m, &report);
        break;
    default:
        pf_external_blame("a %s, type %u, where what happens until ADVANCED should be", pf_wire_name(m->type),
                          m->type);
    }
    pf_peer_report_add(&report);
}

/* One question, for what comes before `limit`, and its answer. */
static void exchange(struct pf_engine_place limit)
{
    struct pf_wire_message m;
    uint64_t before = report_count;
    double now = pf_engine_now();
    char *at = pf_wire_put(&pf_external_peer.wire, PF_EXTERNAL_ADVANCE, 0, now, PF_EXTERNAL_ADVANCE_BODY);
    pf_external_put_f64(&at, limit.date);
    pf_external_put_u64(&at, limit.turn);
    pf_external_put_u64(&at, pf_engine_next_turn());
    pf_external_say();
    first_unsent.date = INFINITY;
    for (;;) {
        pf_external_hear(&m);
        if (m.type == PF_EXTERNAL_ADVANCED)
            break;
        hear_report(&m);
    }
    hear_advanced(&m, limit);
    if (report_count != before || now > last_date)
        in_vain = 0;
    else if (++in_vain > MOST_IN_VAIN)
        pf_external_blame("it does not get beyond %.17g s", now);
    last_date = now;
}

/* ---- Reports take effect. */
static void give_credit(const struct pf_peer_report *report)
{
    credits[report->id] += (int64_t)report->count;
    struct waiter **link = &waiters;
    while (*link && credits[report->id] > 0) {
        struct waiter *w = *link;
        if ((uint64_t)w->node * PF_VN_COUNT + (uint64_t)w->vn != report->id) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        void (*credit)(void *) = w->credit;
        void *arg = w->arg;
        free(w);
        credit(arg); /* may wait again, at the end of the list */
    }
}

static void call_first(uint32_t index)
{
    struct pf_transfer *t = parcels[index].transfer;
    parcels[index].has_first = true;
    t->first(t);
}

static void call_sent(uint32_t index)
{
    struct pf_transfer *t = parcels[index].transfer;
    bool known = parcels[index].has_sent;
    parcels[index].has_sent = true;
    if (!known)
        t->sent(t);
}

/* A peer need report no more than this: it implies FIRST and SENT. */
static void call_last(uint32_t index, const struct pf_peer_report *report)
{
    call_sent(index);
    if (!parcels[index].has_first)
        call_first(index);
    struct pf_transfer *t = parcels[index].transfer;
    acknowledged.of = parcels[index].wants_ack > 0.0 ? t : NULL;
    acknowledged.bytes = parcels[index].wants_ack;
    acknowledged.date = report->acknowledged;
    free_up(&parcels[index]);
    t->last(t);
    acknowledged.of = NULL;
}

static void call_lost(uint32_t index)
{
    struct pf_transfer *t = parcels[index].transfer;
    has_lost = true;
    free_up(&parcels[index]);
    t->failed = true;
    t->lost(t);
}

static void deliver(const struct pf_peer_report *report)
{
    uint64_t turn = pf_engine_next_turn();
    uint32_t index = (uint32_t)report->id;
    if (report->type != PF_EXTERNAL_CREDIT && !is_under_way(report->id))
        return; /* cancelled */
    if (report->turn)
        pf_engine_set_next_turn(report->turn);
    switch (report->type) {
    case PF_EXTERNAL_FIRST:
        call_first(index);
        break;
    case PF_EXTERNAL_SENT:
        call_sent(index);
        break;
    case PF_EXTERNAL_LAST:
        call_last(index, report);
        break;
    case PF_EXTERNAL_LOST:
        call_lost(index);
        break;
    default:
        give_credit(report);
    }
    if (report->turn)
        pf_engine_set_next_turn(turn);
}

static bool deliver_due(void)
{
    const struct pf_peer_report *first;
    bool any = false;
    is_delivering = true;
    while ((first = pf_peer_report_first()) && first->date <= pf_engine_now()) {
        struct pf_peer_report report = *first;
        pf_peer_report_drop_first();
        deliver(&report);
        any = true;
    }
    is_delivering = false;
    return any;
}

static void ring(struct pf_event *event)
{
    if (!deliver_due())
        exchange(pf_engine_horizon());
    /* A step that waits for us goes on at once: to us it is one event. */
    while (is_inside && !(pf_peer_report_first() && pf_peer_report_first()->date > pf_engine_now())) {
        deliver_due();
        exchange(pf_engine_horizon());
    }
    place_clock();
    if (!pf_peer_report_first() && peer_date > pf_engine_state.date)
        pf_engine_state.date = peer_date; /* of the last event, as if that had run here */
}

/* ---- The network. */
static bool goes_by_peer(int src, int dst)
{
    return src != dst || pf_external_peer.flags & PF_EXTERNAL_LOOPBACK;
}

static bool external_can_inject(int src, int dst, int vn, double bytes, void (*credit)(void *arg), void *arg)
{
    meet();
    if (!credits || !goes_by_peer(src, dst) || credits[(size_t)src * PF_VN_COUNT + (size_t)vn] > 0)
        return true;
    struct waiter **link = &waiters, *w = pf_malloc(sizeof *w);
    while (*link)
        link = &(*link)->next;
    *w = (struct waiter){src, vn, credit, arg, NULL};
    *link = w;
    return false;
}

/* The acknowledgement between the NICs is priced together with the message, where every message has one. */
static double ack_bytes(void)
{
    bool each = pf_config.nic_e2e && !pf_config.nic_quick_acks && !has_lost && pf_config.net_loss <= 0.0 &&
                !*pf_config.net_fail;
    return each && pf_external_peer.flags & PF_EXTERNAL_ACKS ? (double)pf_config.nic_e2e_ack_bytes : 0.0;
}

static void say_inject(const struct pf_transfer *t, uint32_t index, uint64_t turn)
{
    char *at = pf_wire_put(&pf_external_peer.wire, PF_EXTERNAL_INJECT, id_of(index), pf_engine_now(),
                           PF_EXTERNAL_INJECT_BODY);
    pf_external_put_u32(&at, (uint32_t)t->src);
    pf_external_put_u32(&at, (uint32_t)t->dst);
    pf_external_put_f64(&at, t->bytes);
    pf_external_put_f64(&at, parcels[index].wants_ack);
    pf_external_put_u64(&at, turn);
    pf_external_put_u32(&at, (uint32_t)t->src_process);
    pf_external_put_u32(&at, (uint32_t)t->dst_process);
    pf_external_put_u32(&at, t->vn | (uint32_t)t->kind << 8 | (uint32_t)t->streams << 16);
    pf_external_put_u32(&at, 0);
}

/* In this process each message that enters a network, also the loopback, posts the network's clock again: at
 * the same date it rings after earlier events. */
static void take_new_turn(void)
{
    if (is_inside)
        return; /* it will be set when the step is over */
    if (!isinf(first_unsent.date))
        exchange((struct pf_engine_place){pf_engine_now(), 0}); /* where would it be? */
    if (!isinf(next_step.date)) {
        next_step.turn = pf_engine_next_turn();
        pf_engine_set_next_turn(next_step.turn + 1);
    }
    if (!is_delivering)
        place_clock();
}

static void external_inject(struct pf_transfer *t)
{
    meet();
    t->failed = false;
    t->state = NULL;
    t->routes = PF_CHAIN_OF_EXTERNAL;
    if (!goes_by_peer(t->src, t->dst)) {
        pf_network_flow.inject(t);
        take_new_turn();
        return;
    }
    double at_once = t->src == t->dst ? pf_external_peer.loopback_at_once : pf_external_peer.at_once;
    uint64_t turn = pf_engine_next_turn();
    uint32_t index = new_parcel();
    struct parcel *p = &parcels[index];
    *p = (struct parcel){.transfer = t,
                         .uses = p->uses,
                         .has_sent = !t->streams || t->bytes <= at_once,
                         .wants_ack = ack_bytes()};
    p->sent_reported = p->has_sent;
    bool sent = p->has_sent;
    t->state = (void *)(uintptr_t)(index + 1);
    say_inject(t, index, turn);
    pf_engine_set_next_turn(turn + PF_EXTERNAL_TURNS_AT_ONCE);
    if (credits)
        credits[(size_t)t->src * PF_VN_COUNT + t->vn]--;
    if (isinf(first_unsent.date))
        first_unsent = (struct pf_engine_place){pf_engine_now() + pf_external_peer.lookahead,
                                                pf_external_peer.lookahead > 0.0 ? 0 : turn};
    if (!is_delivering)
        place_clock();
    if (sent)
        t->sent(t);
}

static void external_cancel(struct pf_transfer *t)
{
    if (!goes_by_peer(t->src, t->dst)) {
        pf_network_flow.cancel(t);
        return;
    }
    if (!t->state)
        return;
    uint32_t index = (uint32_t)(uintptr_t)t->state - 1;
    pf_wire_put(&pf_external_peer.wire, PF_EXTERNAL_CANCEL, id_of(index), pf_engine_now(), 0);
    free_up(&parcels[index]);
}

static bool external_failed(const struct pf_transfer *t)
{
    return t->failed;
}

/* A question whose answer is needed now. */
static void ask(uint16_t answer, struct pf_wire_message *m)
{
    pf_external_say();
    pf_external_hear(m);
    if (m->type != answer)
        pf_external_blame("a %s, type %u, where %s should be", pf_wire_name(m->type), m->type,
                          pf_wire_name(answer));
}

/* The peer's answers, which do not change. */
struct route {
    uint64_t pair;
    struct pf_route_info info;
    UT_hash_handle hh;
};

static const struct pf_route_info *ask_route(int src, int dst)
{
    static struct route *routes;
    uint64_t pair = (uint64_t)(uint32_t)src << 32 | (uint32_t)dst;
    struct route *r;
    struct pf_wire_message m;
    HASH_FIND(hh, routes, &pair, sizeof pair, r);
    if (r)
        return &r->info;
    char *put =
        pf_wire_put(&pf_external_peer.wire, PF_EXTERNAL_ROUTE, 0, pf_engine_now(), PF_EXTERNAL_ROUTE_BODY);
    pf_external_put_u32(&put, (uint32_t)src);
    pf_external_put_u32(&put, (uint32_t)dst);
    ask(PF_EXTERNAL_ROUTE_INFO, &m);
    pf_external_expect(&m, PF_EXTERNAL_ROUTE_INFO_BODY);
    const char *at = m.body;
    r = pf_calloc(1, sizeof *r);
    r->pair = pair;
    r->info.latency = pf_external_get_f64(&at);
    r->info.bandwidth = pf_external_get_f64(&at);
    r->info.hops = (int)pf_external_get_u32(&at);
    if (!(r->info.latency >= 0.0 && isfinite(r->info.latency) && r->info.bandwidth > 0.0))
        pf_external_blame("a route of %g s and %g B/s", r->info.latency, r->info.bandwidth);
    HASH_ADD(hh, routes, pair, sizeof pair, r);
    return &r->info;
}

static void external_route_info(int src, int dst, struct pf_route_info *info)
{
    meet();
    if (goes_by_peer(src, dst))
        *info = *ask_route(src, dst);
    else
        pf_network_flow.route_info(src, dst, info);
}

static double ask_acknowledge(const struct pf_transfer *t, double bytes)
{
    struct pf_wire_message m;
    char *at = pf_wire_put(&pf_external_peer.wire, PF_EXTERNAL_ACKNOWLEDGE, 0, pf_engine_now(),
                           PF_EXTERNAL_ACKNOWLEDGE_BODY);
    pf_external_put_u32(&at, (uint32_t)t->src);
    pf_external_put_u32(&at, (uint32_t)t->dst);
    pf_external_put_f64(&at, bytes);
    ask(PF_EXTERNAL_ACKNOWLEDGED, &m);
    pf_external_expect(&m, 0);
    if (m.date >= 0.0 && m.date < pf_engine_now())
        pf_external_blame("an acknowledgement of %.17g s, and it is %.17g s", m.date, pf_engine_now());
    return m.date;
}

static double external_acknowledge(const struct pf_transfer *t, double bytes)
{
    if (!goes_by_peer(t->src, t->dst))
        return pf_network_flow.acknowledge(t, bytes);
    if (acknowledged.of == t && acknowledged.bytes == bytes)
        return acknowledged.date;
    if (pf_external_peer.flags & PF_EXTERNAL_ACKS)
        return ask_acknowledge(t, bytes);
    const struct pf_route_info *back = ask_route(t->dst, t->src);
    return pf_engine_now() + back->latency + bytes / back->bandwidth;
}

const struct pf_network_ops pf_network_external = {
    .size = sizeof(struct pf_network_ops),
    .name = "external",
    .can_inject = external_can_inject,
    .inject = external_inject,
    .cancel = external_cancel,
    .failed = external_failed,
    .route_info = external_route_info,
    .next_event = pf_network_no_event, /* the clock above knows turns, which dates alone do not have */
    .advance_to = pf_network_no_advance,
    .acknowledge = external_acknowledge,
};
