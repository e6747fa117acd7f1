/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of the network interface that a message passes. */
#include "lowlevel/nic/nic.h"

#include <math.h>

#include "base/config.h"
#include "lowlevel/nic/channel.h"
#include "lowlevel/nic/e2e.h"
#include "lowlevel/nic/interface.h"
#include "lowlevel/nic/levels.h"
#include "lowlevel/nic/order.h"
#include "lowlevel/nic/window.h"

bool pf_nic_keeps(size_t payload)
{
    return payload <= pf_config.nic_early_send;
}

bool pf_nic_in_command(size_t payload, bool matching, bool is_volatile)
{
    return payload <= (is_volatile ? pf_nic_volatile_max() : pf_config.nic_inline_max) +
                          (matching ? 0 : PF_NIC_MATCH_BITS);
}

static size_t inline_bytes(const struct pf_nic_message *m)
{
    return pf_config.nic_inline_max + (m->matching ? 0 : PF_NIC_MATCH_BITS);
}

double pf_nic_command_date(struct pf_nic *nic)
{
    struct pf_bus_step step = {.kind = PF_BUS_COMMAND, .bytes = pf_config.nic_command_bytes};
    pf_bus()->command(&nic->bus, &step);
    return step.end;
}

double pf_nic_event_date(struct pf_nic *nic, double date)
{
    struct pf_bus_step step = {.kind = PF_BUS_EVENT, .bytes = pf_config.nic_event_bytes, .start = date};
    pf_bus()->event(&nic->bus, &step);
    return step.end;
}

/* Between ranks of one host, past the NIC. */
static bool is_in_memory(const struct pf_nic_message *m)
{
    return pf_config.nic_loopback_memory && m->src == m->dst;
}

/* A read by the NIC crosses PCIe twice; the wire starts when the first packet is there. */
static double read_payload(struct pf_nic_message *m, double date)
{
    const struct pf_bus_ops *bus = pf_bus();
    struct pf_bus_step request = {.kind = PF_BUS_READ_REQUEST, .transfer = &m->transfer, .start = date};
    bus->read_request(&m->src->bus, &request);
    struct pf_bus_step read = {
        .kind = PF_BUS_READ, .bytes = m->payload, .transfer = &m->transfer, .start = request.end};
    bus->read(&m->src->bus, &read);
    m->read_start = read.start;
    return read.end;
}

/* The stream has left: its read of memory is over. */
static void call_read(struct pf_nic_message *m)
{
    struct pf_bus_step read = {.kind = PF_BUS_READ,
                               .bytes = m->payload,
                               .transfer = &m->transfer,
                               .start = m->read_start,
                               .end = pf_engine_now()};
    pf_bus()->read_done(&m->src->bus, &read);
}

/* Without payload there is nothing to write, but what was written before is there first. */
static double nothing_to_write(const struct pf_nic_message *m)
{
    double now = pf_engine_now(), before = m->dst->bus.last_write;
    bool has_event = m->kind == PF_NIC_PUT || m->kind == PF_NIC_REPLY; /* behind earlier ones */
    return has_event && before > now ? before : now;
}

static double write_payload(struct pf_nic_message *m)
{
    if (is_in_memory(m))
        return pf_engine_now();
    if (m->accepted == 0)
        return nothing_to_write(m);
    struct pf_bus_step write = {
        .kind = PF_BUS_PAYLOAD_WRITE, .bytes = m->accepted, .transfer = &m->transfer, .start = m->match_date};
    pf_bus()->write(&m->dst->bus, &write);
    return write.end;
}

/* The processor's part: the payload, if it comes with the command, and the command. */
static double give_command(struct pf_nic_message *m)
{
    const struct pf_bus_ops *bus = pf_bus();
    size_t inside = inline_bytes(m);
    double date = 0.0;
    if (is_in_memory(m))
        return pf_engine_now();
    if (m->kind == PF_NIC_PUT && !m->transfer.streams && m->payload > inside) {
        struct pf_bus_step pio = {.kind = PF_BUS_PIO, .bytes = m->payload - inside, .transfer = &m->transfer};
        bus->pio(&m->src->bus, &pio);
        date = pio.end;
    }
    struct pf_bus_step command = {.kind = PF_BUS_COMMAND,
                                  .bytes = pf_config.nic_command_bytes,
                                  .transfer = &m->transfer,
                                  .start = date};
    bus->command(&m->src->bus, &command);
    return command.end;
}

/* When the message may leave, if its turn on the sending side is at `turn`. */
static double process(struct pf_nic_message *m, double turn)
{
    if (is_in_memory(m))
        return m->read_start = turn;
    double date = turn + pf_config.nic_tx_time;
    if (m->kind == PF_NIC_PUT && m->payload > pf_config.nic_handshake_min)
        date += pf_config.nic_handshake_time;
    switch (m->kind) {
    case PF_NIC_PUT:
        return m->transfer.streams ? read_payload(m, date) : date + pf_config.nic_put_time;
    case PF_NIC_GET:
        return date + pf_config.nic_get_time;
    case PF_NIC_REPLY:
        return m->payload ? read_payload(m, date) : date + pf_config.nic_response_time;
    case PF_NIC_ACK:
        return date + pf_config.nic_response_time;
    }
    return date;
}

static double wire_bytes(const struct pf_nic_message *m)
{
    size_t bytes = m->kind == PF_NIC_ACK ? pf_config.nic_ack_bytes : pf_config.nic_header_bytes;
    if (m->kind == PF_NIC_PUT || m->kind == PF_NIC_REPLY) {
        bytes += m->payload;
        if (m->payload)
            bytes += (m->payload - 1) / pf_config.nic_pcie_packet * pf_config.nic_packet_overhead;
    }
    return (double)bytes;
}

/* In memory, as many as the loopback moves while this level moves the message: networks know one rate of it.
 */
static double loopback_bytes(const struct pf_nic_message *m)
{
    const struct pf_nic_level *level = pf_nic_level_of(m->payload);
    double later = level->latency - pf_config.nic_loopback_latency;
    return fmax(0, (wire_bytes(m) / level->bandwidth + later) * pf_config.nic_loopback_bw);
}

static void matched(struct pf_event *event);
static void tail_done(struct pf_event *event);

static struct pf_nic_message *of_transfer(struct pf_transfer *t)
{
    return pf_container_of(t, struct pf_nic_message, transfer);
}

/* When a header that comes now has been through the receiving side's stages; engines match in order of
 * arrival, so that nothing overtakes. */
static double receive(struct pf_nic *nic, int vn)
{
    double date = pf_take_turn(&nic->rx_free[vn], 0.0, pf_config.nic_rx_gap);
    if (!(vn & PF_VN_RESPONSE)) {
        double *engine_free = &nic->engines_free[nic->next_engine];
        if (++nic->next_engine == pf_config.nic_match_engines)
            nic->next_engine = 0;
        if (*engine_free > date)
            date = *engine_free;
        *engine_free = date + pf_config.nic_match_gap;
    }
    return date + pf_config.nic_rx_time;
}

static void take_header(struct pf_nic_message *m)
{
    const struct pf_transfer *t = &m->transfer;
    if (pf_config.nic_e2e && !pf_e2e_header(m))
        return;
    if (m->taken)
        return; /* sent again: its tail is all that was missing */
    m->taken = true;
    pf_event_init(&m->event, matched);
    pf_engine_post_in(&m->dst->rx_fifos[t->vn], &m->event, receive(m->dst, t->vn));
}

/* What a transfer brings about has taken its way since it entered the network. */
static void travelled(struct pf_transfer *t)
{
    if (__builtin_expect(pf_chain_on, 0))
        pf_network_travelled(t);
}

static void source_done(struct pf_transfer *t)
{
    struct pf_nic_message *m = of_transfer(t);
    travelled(t);
    if (!t->streams)
        return;
    m->left_date = pf_engine_now();
    pf_nic_channel_left(m);
    call_read(m);
    if (!m->source_read)
        m->client->sent(m);
    m->source_read = true;
}

static void take_tail(struct pf_nic_message *m)
{
    if (pf_config.nic_e2e && !pf_e2e_tail(m))
        return; /* refused, or known already */
    if (m->window)
        pf_window_leave(m, pf_engine_now()); /* no one acknowledges it */
    if (!m->transfer.streams)
        return; /* the header was all; matching completes it */
    pf_event_init(&m->tail, tail_done);
    pf_engine_post(&m->tail, pf_engine_now() + pf_config.nic_rx_time);
}

/* Those that were there before their turn and have it now. */
static void take_early(struct pf_nic_channel *channel)
{
    struct pf_nic_message *m;
    while ((m = pf_order_next(channel))) {
        bool with_tail = m->held_tail;
        take_header(m);
        if (with_tail)
            take_tail(m);
    }
}

static void header_arrived(struct pf_transfer *t)
{
    struct pf_nic_message *m = of_transfer(t);
    struct pf_nic_channel *channel = m->channel;
    travelled(t);
    if (!pf_order_header(m))
        return;
    take_header(m);
    if (__builtin_expect(channel->early != NULL, 0))
        take_early(channel);
}

static void tail_arrived(struct pf_transfer *t)
{
    struct pf_nic_message *m = of_transfer(t);
    travelled(t);
    if (pf_order_tail(m))
        take_tail(m);
}

static void transfer_lost(struct pf_transfer *t)
{
    struct pf_nic_message *m = of_transfer(t);
    struct pf_nic_channel *channel = m->channel;
    pf_order_lost(m);
    if (m->leaving)
        m->left_date = pf_engine_now();
    pf_nic_channel_left(m);
    if (pf_config.nic_e2e) {
        pf_e2e_lost(m);
    } else {
        pf_engine_cancel(&m->event); /* its header may be in the matching engine */
        if (m->window)
            pf_window_leave(m, pf_engine_now());
        m->client->vanished(m);
    }
    if (channel->early)
        take_early(channel);
}

static void finish(struct pf_nic_message *m)
{
    m->done_date = write_payload(m);
    if (__builtin_expect(pf_chain_on, 0))
        pf_chain_drop(&m->transfer.path);
    m->client->complete(m);
}

static void matched(struct pf_event *event)
{
    struct pf_nic_message *m = pf_container_of(event, struct pf_nic_message, event);
    m->accepted = 0;
    m->match_date = pf_engine_now();
    m->client->match(m);
    if (!m->transfer.streams)
        finish(m);
}

/* Posted after the matching of the same message, and for a date that is not before it. */
static void tail_done(struct pf_event *event)
{
    struct pf_nic_message *m = pf_container_of(event, struct pf_nic_message, tail);
    if (pf_event_pending(&m->event)) {
        pf_engine_post(&m->tail, m->event.date);
        return;
    }
    finish(m);
}

static void processed(struct pf_event *event)
{
    pf_nic_channel_ready(pf_container_of(event, struct pf_nic_message, event));
}

static void prepare(struct pf_nic_message *m)
{
    struct pf_transfer *t = &m->transfer;
    int response = m->kind == PF_NIC_REPLY || m->kind == PF_NIC_ACK ? PF_VN_RESPONSE : 0;
    t->src = m->src->node;
    t->dst = m->dst->node;
    t->vn = (uint8_t)(response | (m->service ? PF_VN_SERVICE : 0));
    t->streams = (m->kind == PF_NIC_PUT && !m->in_command) || (m->kind == PF_NIC_REPLY && m->payload);
    t->bytes = is_in_memory(m) && *pf_config.nic_loopback_levels ? loopback_bytes(m) : wire_bytes(m);
    t->first = header_arrived;
    t->sent = source_done;
    t->last = tail_arrived;
    t->lost = transfer_lost;
    t->path = NULL;
    m->losses = 0;
    m->taken = false;
    m->source_read = false;
    m->leaving = false;
    m->window = NULL;
}

static void enter(struct pf_nic_message *m, double date)
{
    double turn = pf_take_turn(&m->src->tx_free[m->transfer.vn], date, pf_config.nic_tx_gap);
    pf_event_init(&m->event, processed);
    m->ready_date = process(m, turn);
    pf_nic_channel_enter(m, &m->src->tx_fifos[m->kind]);
}

static void go_on(struct pf_nic_message *m)
{
    enter(m, m->wait_date);
}

static void schedule(struct pf_nic_message *m, double date)
{
    if (pf_config.nic_max_in_flight > 0 && m->kind != PF_NIC_ACK) {
        m->wait_date = date;
        if (!pf_window_enter(m, go_on))
            return;
    }
    enter(m, date);
}

void pf_nic_submit(struct pf_nic_message *m, double date)
{
    prepare(m);
    schedule(m, date);
}

void pf_nic_command(struct pf_nic_message *m, bool free_command)
{
    prepare(m);
    schedule(m, free_command ? pf_engine_now() : give_command(m));
}
