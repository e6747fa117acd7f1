/* SPDX-License-Identifier: BSD-3-Clause */
/* A node: messages become packets one after the other, and packets messages. */
#include "lowlevel/network/packet/state.h"

static struct packet_source *source_of(struct pf_packet_sim *sim, int32_t node, int virtual_network)
{
    return &sim->sources[(int64_t)node * sim->settings.virtual_networks + virtual_network];
}

static void append(struct packet_source *source, struct pf_packet_message *m)
{
    m->next = NULL;
    if (source->first)
        source->last->next = m;
    else
        source->first = m;
    source->last = m;
}

/* A message that is lost is the caller's again when nothing of it is left: packets, or its place at the
 * source.
 */
static void end_if_lost(struct pf_packet_sim *sim, struct pf_packet_message *m, double now)
{
    if (m->under_way > 0 || m->unsent > 0.0)
        return;
    sim->counts.messages_under_way--;
    m->ops->lost(m, now);
}

void pf_packet_drop(struct pf_packet_sim *sim, struct pf_packet *p, double now)
{
    struct pf_packet_message *m = p->message;
    m->is_lost = true;
    m->under_way--;
    sim->counts.dropped++;
    pf_pool_put(&sim->packets, p);
    end_if_lost(sim, m, now);
}

/* The rest of what is lost is not sent. */
static void skip_lost(struct pf_packet_sim *sim, struct packet_source *source, bool cut, double now)
{
    struct pf_packet_message *m;
    while ((m = source->first) && (m->is_lost || cut)) {
        source->first = m->next;
        m->is_lost = true;
        m->unsent = 0.0;
        end_if_lost(sim, m, now);
    }
}

/* What a node sends at once: a packet, or a flit of one. */
struct piece {
    double payload;
    uint32_t bytes;
    bool is_head, is_tail;
};

static struct piece next_piece(const struct pf_packet_sim *sim, const struct pf_packet_message *m)
{
    const struct pf_packet_settings *s = &sim->settings;
    double left = earlier(m->unsent, s->packet_bytes), sent;
    if (__builtin_expect(s->flit_bytes == 0, 1))
        return (struct piece){left, (uint32_t)ceil(left) + s->header_bytes, true, true};
    sent = fmod(m->bytes - m->unsent, s->packet_bytes);
    left = earlier(m->unsent, s->packet_bytes - sent);
    double payload = earlier(left, s->flit_bytes);
    return (struct piece){payload, (uint32_t)ceil(payload), sent == 0.0, payload == left};
}

static void send_piece(struct pf_packet_sim *sim, struct pf_packet_message *m, const struct piece *piece,
                       int32_t output, int channel, double start, int shares)
{
    const struct packet_output *o = &sim->outputs[output];
    struct pf_packet *p = pf_pool_get(&sim->packets);
    *p = (struct pf_packet){.message = m,
                            .bytes = piece->bytes & (PACKET_BYTES_LIMIT - 1),
                            .is_first = m->unsent == m->bytes,
                            .is_head = piece->is_head,
                            .is_tail = piece->is_tail};
    pf_routing_start(&p->path, m->source, m->destination, m->id);
    if (sim->settings.looks_ahead && piece->is_head)
        pf_packet_begin(sim, pf_fabric_router_of(sim->fabric, m->source), p);
    m->unsent -= piece->payload;
    m->under_way++;
    m->id += piece->is_tail;
    sim->counts.packets++;
    pf_packet_launch(sim, p, output, channel, start, shares);
    if (m->unsent <= 0.0 && m->streams) {
        double date = shares > 1 ? p->ready + shares * piece->bytes * o->byte_time : o->link_free;
        m->under_way++; /* until then it is not the caller's */
        pf_packet_events_post(&sim->events, date, false, (uintptr_t)m | WHAT_SENT);
    }
}

/* The source's first message has sent a packet: the next one is another one's. */
static void turn(struct packet_source *source)
{
    struct pf_packet_message *m = source->first;
    source->first = m->next;
    source->destination = m->destination;
    if (m->unsent > 0.0)
        append(source, m);
}

/* A message that is one packet passes what the link is taken by, unless that has the same way. */
static bool pass(struct pf_packet_sim *sim, struct packet_source *source, struct pf_packet_message *m,
                 double now)
{
    int32_t output = sim->vertex[sim->fabric->routers + m->source].first_port;
    struct packet_output *o = &sim->outputs[output];
    int first = m->virtual_network * sim->classes * sim->settings.channels;
    struct piece piece = next_piece(sim, m);
    double time = piece.bytes * o->byte_time;
    if (m->bytes >= sim->settings.packet_bytes || is_due(o->free_at, now) || !o->is_passable ||
        time > o->free_at - now || !sim->fabric->up[output] ||
        (sim->base[o->channel] == first && source->destination == m->destination))
        return false;
    int channel = pf_packet_channel_choose_other(sim, output, first, (int)o->channel, piece.bytes, now);
    if (channel < 0)
        return false;
    double start = later(now, sim->passing[output].output);
    sim->passing[output].output = start + 2.0 * time;
    send_piece(sim, m, &piece, output, channel, start, 2);
    return true;
}

void pf_packet_sim_send(struct pf_packet_sim *sim, struct pf_packet_message *m, double date)
{
    struct packet_source *source = source_of(sim, m->source, m->virtual_network);
    m->start = date;
    m->is_lost = false;
    m->waited_at = -1;
    m->waited = 1e-12; /* less may be an error of rounding */
    m->unsent = m->bytes;
    m->under_way = 0;
    m->id = sim->next_id;
    sim->next_id += (uint64_t)(m->bytes / sim->settings.packet_bytes) + 1;
    sim->counts.messages_under_way++;
    if (sim->settings.alternates && pass(sim, source, m, date))
        return;
    append(source, m);
    pf_packet_wake(sim, sim->fabric->routers + m->source, date);
}

/* With stages: the channel for a packet, or the one that its head has taken. */
static int choose_in_turn(struct pf_packet_sim *sim, struct packet_head *head, int32_t output, int first,
                          const struct piece *piece, double now, double *when)
{
    int channel = head->channel;
    if (piece->is_head)
        channel = pf_packet_stages_choose(sim, head, output, first, piece->bytes, now, when);
    else if (!pf_packet_channel_takes(sim, output, channel, piece->bytes, now, when))
        return -1;
    if (channel < 0)
        return -1;
    head->next = (int16_t)(channel - first + 1);
    head->channel = (int16_t)channel;
    return channel;
}

/* The virtual networks take turns, and in each of them the messages. */
static bool send_one(struct pf_packet_sim *sim, int32_t node, int32_t output, double now, double *when)
{
    struct packet_output *o = &sim->outputs[output];
    int count = sim->settings.virtual_networks;
    for (int i = 0; i < count; i++) {
        int virtual_network = (o->turn + i) % count;
        struct packet_source *source = source_of(sim, node, virtual_network);
        skip_lost(sim, source, !sim->fabric->up[output], now);
        if (!source->first)
            continue;
        double date = INFINITY;
        int first = virtual_network * sim->classes * sim->settings.channels;
        struct piece piece = next_piece(sim, source->first);
        int channel = sim->heads ? choose_in_turn(sim, &sim->heads[sim->queue_count + node], output, first,
                                                  &piece, now, &date)
                                 : pf_packet_channel_choose_new(sim, output, first, piece.bytes, now, &date);
        if (channel >= 0) {
            send_piece(sim, source->first, &piece, output, channel, later(now, o->free_at), 1);
            if (piece.is_tail)
                turn(source);
            o->turn = virtual_network + 1;
            return true;
        }
        *when = earlier(*when, date);
    }
    return false;
}

static bool has_messages(struct pf_packet_sim *sim, int32_t node)
{
    for (int i = 0; i < sim->settings.virtual_networks; i++)
        if (source_of(sim, node, i)->first)
            return true;
    return false;
}

void pf_packet_inject(struct pf_packet_sim *sim, int32_t vertex, double now)
{
    int32_t node = vertex - sim->fabric->routers, output = sim->vertex[vertex].first_port;
    double when = INFINITY;
    while (is_due(sim->outputs[output].free_at, now) && send_one(sim, node, output, now, &when))
        ;
    if (!is_due(sim->outputs[output].free_at, now) && has_messages(sim, node))
        when = sim->outputs[output].free_at;
    if (!isinf(when))
        pf_packet_wake(sim, vertex, when);
}

void pf_packet_head_arrives(struct pf_packet_sim *sim, struct pf_packet *p, double now)
{
    if (!p->message->is_lost && !pf_packet_is_cut(sim, sim->inputs[p->port].output, p->ready))
        p->message->ops->first(p->message, now);
    pf_packet_events_post(&sim->events, p->tail, false, (uintptr_t)p | WHAT_TAIL);
}

void pf_packet_tail_arrives(struct pf_packet_sim *sim, struct pf_packet *p, double now)
{
    struct pf_packet_message *m = p->message;
    if (pf_packet_is_cut(sim, sim->inputs[p->port].output, p->ready)) {
        pf_packet_drop(sim, p, now);
        return;
    }
    pf_pool_put(&sim->packets, p);
    sim->counts.arrived++;
    m->under_way--;
    if (m->is_lost) {
        end_if_lost(sim, m, now);
    } else if (m->under_way == 0 && m->unsent <= 0.0) {
        sim->counts.messages_under_way--;
        m->ops->last(m, now);
    }
}

void pf_packet_sent(struct pf_packet_sim *sim, struct pf_packet_message *m, double now)
{
    m->under_way--;
    if (m->is_lost)
        end_if_lost(sim, m, now);
    else
        m->ops->sent(m, now);
}
