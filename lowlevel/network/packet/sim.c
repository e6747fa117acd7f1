/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator as a whole: its memory, its clock, its sums. */
#include "lowlevel/network/packet/state.h"

#include "base/memory.h"

const struct pf_packet_settings pf_packet_settings_plain = {
    .packet_bytes = 2048,
    .virtual_networks = 1,
    .channels = 1,
    .crossbar_speedup = 1.0,
    .arbitration = PF_PACKET_ROUND_ROBIN,
};

void pf_packet_sim_at(struct pf_packet_sim *sim, struct pf_packet_timer *timer, double date)
{
    pf_packet_events_post(&sim->events, fmax(date, sim->now), false, (uintptr_t)timer | WHAT_TIMER);
}

double pf_packet_sim_now(const struct pf_packet_sim *sim)
{
    return sim->now;
}

double pf_packet_sim_next(struct pf_packet_sim *sim)
{
    const struct pf_packet_event *first = pf_packet_events_first(&sim->events);
    return first ? first->date : -1.0;
}

static void vertex_acts(struct pf_packet_sim *sim, int32_t vertex, double now)
{
    if (is_router(sim, vertex))
        pf_packet_allocate(sim, vertex, now);
    else
        pf_packet_inject(sim, vertex, now);
}

static void execute(struct pf_packet_sim *sim, const struct pf_packet_event *event)
{
    void *of = (void *)(event->what & ~(uintptr_t)WHAT_MASK);
    int32_t vertex = (int32_t)(event->what >> 3);
    double now = event->date;
    switch (event->what & WHAT_MASK) {
    case WHAT_PACKET:
        pf_packet_arrive(sim, of, now);
        break;
    case WHAT_HEAD:
        pf_packet_head_arrives(sim, of, now);
        break;
    case WHAT_TAIL:
        pf_packet_tail_arrives(sim, of, now);
        break;
    case WHAT_SENT:
        pf_packet_sent(sim, of, now);
        break;
    case WHAT_TIMER:
        ((struct pf_packet_timer *)of)->ring(of, now);
        break;
    case WHAT_WAKE:
        if (now != sim->vertex[vertex].wake)
            break; /* it has been woken before, and asked again for what was left */
        sim->vertex[vertex].wake = INFINITY;
        vertex_acts(sim, vertex, now);
        break;
    case WHAT_ASK:
        vertex_acts(sim, vertex, now);
        break;
    }
}

/* Obsolete events must not keep a clock running. */
static void forget_events(struct pf_packet_sim *sim)
{
    const struct pf_packet_event *first;
    struct pf_packet_event event;
    while ((first = pf_packet_events_first(&sim->events)) && (first->what & WHAT_MASK) >= WHAT_WAKE &&
           pf_packet_events_take(&sim->events, INFINITY, &event))
        if ((event.what & WHAT_MASK) == WHAT_WAKE)
            sim->vertex[event.what >> 3].wake = INFINITY;
}

void pf_packet_sim_advance(struct pf_packet_sim *sim, double date)
{
    struct pf_packet_event event;
    while (pf_packet_events_take(&sim->events, date, &event)) {
        sim->now = event.date;
        sim->counts.events++;
        execute(sim, &event);
    }
    if (sim->now < date)
        sim->now = date;
    if (sim->counts.messages_under_way == 0)
        forget_events(sim);
}

void pf_packet_sim_port_changed(struct pf_packet_sim *sim, int32_t port, double date)
{
    struct packet_output *o = &sim->outputs[port];
    int32_t vertex = o->owner;
    pf_packet_sim_advance(sim, date);
    o->byte_time = 1.0 / sim->fabric->ports[port].rate;
    if (o->input >= 0)
        sim->inputs[o->input].byte_time = o->byte_time;
    if (!sim->fabric->up[port]) {
        o->down_at = date;
        sim->has_cuts = true;
        if (is_router(sim, vertex))
            pf_packet_reroute(sim, port, date);
    } else if (o->waiting > 0) {
        sim->next_try[port] = date;
    }
    pf_packet_wake(sim, vertex, date);
}

struct pf_packet_counts pf_packet_sim_counts(const struct pf_packet_sim *sim)
{
    return sim->counts;
}

struct pf_packet_load_counts pf_packet_sim_port_counts(const struct pf_packet_sim *sim, int32_t port)
{
    const struct packet_output *o = &sim->outputs[port];
    return (struct pf_packet_load_counts){o->packets, o->bytes, o->wait};
}

bool pf_packet_sim_is_clean(struct pf_packet_sim *sim)
{
    const struct pf_fabric *f = sim->fabric;
    if (sim->packets.in_use > 0 || sim->counts.packets != sim->counts.arrived + sim->counts.dropped)
        return false;
    for (int32_t port = 0; port < f->first_port[sim->vertices]; port++) {
        const struct packet_output *o = &sim->outputs[port];
        if (o->input < 0)
            continue;
        if (o->waiting != 0 || o->waiting_bytes != 0 || sim->inputs[port].waiting != 0)
            return false;
        for (int channel = 0; channel < sim->channels; channel++)
            if (!pf_packet_channel_is_full(sim, port, channel))
                return false;
    }
    return sim->later_credits.in_use == 0;
}

size_t pf_packet_sim_port_memory(const struct pf_packet_sim *sim)
{
    size_t most = 0;
    for (int32_t i = 0; i < sim->fabric->routers; i++) {
        const struct packet_vertex *v = &sim->vertex[i];
        size_t channels = (size_t)sim->channels;
        size_t bytes = sizeof(struct packet_input) + sizeof(struct packet_output) + sizeof *sim->next_try +
                       sizeof *sim->passing + (size_t)words_of(sim, v) * sizeof *sim->wants +
                       sim->credits_size + channels * (size_t)width_of(sim, v) * sizeof(struct packet_queue);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* ---- Making one. */

/* The fastest link that takes time: what a buffer must hold behind one that takes none. */
static double fastest(const struct pf_fabric *f)
{
    double rate = 0.0;
    for (int32_t port = 0; port < f->first_port[f->routers + f->nodes]; port++)
        if (!isinf(f->ports[port].rate))
            rate = fmax(rate, f->ports[port].rate);
    return rate;
}

/* So much that a link never waits for credits of a packet that goes on at once. */
static int64_t round_trip(const struct pf_packet_sim *sim, int32_t input, double most)
{
    const struct pf_fabric *f = sim->fabric;
    int32_t output = sim->inputs[input].output;
    double way =
        f->ports[output].latency + f->ports[input].latency + sim->router_latency + sim->settings.credit_delay;
    double rate = fmin(f->ports[output].rate, most);
    return (int64_t)ceil(rate * way) + 2 * (sim->settings.packet_bytes + sim->settings.header_bytes);
}

static void make_vertices(struct pf_packet_sim *sim)
{
    const struct pf_fabric *f = sim->fabric;
    int64_t queues = 0, words = 0, active = 0;
    sim->vertex = pf_calloc_lines((size_t)sim->vertices, sizeof *sim->vertex);
    for (int32_t i = 0; i < sim->vertices; i++) {
        struct packet_vertex *v = &sim->vertex[i];
        *v = (struct packet_vertex){.wake = INFINITY,
                                    .first_queue = queues,
                                    .first_port = f->first_port[i],
                                    .ports = f->first_port[i + 1] - f->first_port[i]};
        if (!is_router(sim, i))
            continue;
        queues += (int64_t)v->ports * sim->channels * width_of(sim, v);
        words += (int64_t)v->ports * words_of(sim, v);
        active += (v->ports + 63) / 64;
    }
    sim->queue_count = queues;
    sim->queues = pf_calloc((size_t)queues + 1, sizeof *sim->queues);
    sim->wants = pf_calloc((size_t)words + 1, sizeof *sim->wants);
    sim->active = pf_calloc((size_t)active + 1, sizeof *sim->active);
    sim->sources = pf_calloc((size_t)f->nodes * (size_t)sim->settings.virtual_networks, sizeof *sim->sources);
    for (int32_t i = 0, word = 0; i < f->routers; i++) {
        sim->vertex[i].active = &sim->active[word];
        word += (sim->vertex[i].ports + 63) / 64;
    }
}

static void make_port(struct pf_packet_sim *sim, int32_t port, int32_t owner, uint64_t *wants)
{
    const struct pf_fabric *f = sim->fabric;
    const struct pf_fabric_port *p = &f->ports[port];
    int32_t other = p->peer < 0 ? -1 : f->first_port[p->peer] + p->peer_port;
    sim->inputs[port] = (struct packet_input){
        .byte_time = other < 0 ? 0.0 : 1.0 / f->ports[other].rate,
        .credit_time =
            p->latency + (other < sim->router_ports ? sim->settings.credit_delay : sim->node_credit_delay),
        .owner = owner,
        .output = other,
        .offer = -1};
    sim->outputs[port] = (struct packet_output){.byte_time = 1.0 / p->rate,
                                                .latency = p->latency,
                                                .wants = wants,
                                                .owner = owner,
                                                .input = other,
                                                .down_at = -INFINITY};
    sim->next_try[port] = INFINITY;
}

static void make_ports(struct pf_packet_sim *sim)
{
    const struct pf_fabric *f = sim->fabric;
    size_t count = (size_t)f->first_port[sim->vertices];
    double most = fastest(f);
    uint64_t *wants = sim->wants;
    sim->router_ports = f->first_port[f->routers];
    sim->inputs = pf_calloc_lines(count, sizeof *sim->inputs);
    sim->outputs = pf_calloc_lines(count, sizeof *sim->outputs);
    sim->next_try = pf_calloc(count, sizeof *sim->next_try);
    sim->passing = pf_calloc(count, sizeof *sim->passing);
    sim->touched = pf_calloc(count, sizeof *sim->touched);
    sim->credits_size = sizeof(struct packet_credits) + (size_t)sim->channels * sizeof(struct packet_room);
    sim->credits_size = (sim->credits_size + 63) / 64 * 64;
    sim->credits = pf_calloc_lines(count, sim->credits_size);
    for (int32_t v = 0; v < sim->vertices; v++)
        for (int32_t port = f->first_port[v]; port < f->first_port[v + 1]; port++) {
            make_port(sim, port, v, wants);
            wants += is_router(sim, v) ? words_of(sim, &sim->vertex[v]) : 0;
        }
    for (size_t port = 0; port < count; port++) {
        struct packet_input *in = &sim->inputs[port];
        if (in->output < 0)
            continue;
        int64_t bytes = sim->settings.channel_buffer;
        in->buffer = bytes > 0 ? bytes : round_trip(sim, (int32_t)port, most);
        if (in->buffer > CREDITS_LIMIT)
            in->buffer = CREDITS_LIMIT;
        *credits_of(sim, in->output) = (struct packet_credits){.date = INFINITY, .buffer = in->buffer};
    }
}

static bool is_possible(const struct pf_packet_settings *s, const struct pf_routing *routing, char *error,
                        size_t error_size)
{
    uint64_t packet = (uint64_t)s->packet_bytes + s->header_bytes;
    int channels = s->virtual_networks * routing->classes * s->channels;
    if (s->packet_bytes < 1 || packet >= PACKET_BYTES_LIMIT)
        snprintf(error, error_size, "a packet has from 1 to %d bytes, not %llu", PACKET_BYTES_LIMIT - 1,
                 (unsigned long long)packet);
    else if (s->flit_bytes > 0 &&
             (!s->channel_turns || s->output_queues || s->virtual_networks > 1 || s->header_bytes > 0))
        snprintf(error, error_size,
                 "flits need channels in turn, a queue per channel, one virtual network and no headers");
    else if (s->flit_bytes > s->packet_bytes)
        snprintf(error, error_size, "a flit has at most the bytes of a packet");
    else if (s->flit_bytes > 0 && s->channel_buffer != 0 && s->channel_buffer < (int64_t)s->flit_bytes)
        snprintf(error, error_size, "the buffer of a virtual channel (%lld bytes) must hold a flit (%u)",
                 (long long)s->channel_buffer, s->flit_bytes);
    else if (s->flit_bytes == 0 && s->channel_buffer != 0 && s->channel_buffer < (int64_t)packet)
        snprintf(error, error_size, "the buffer of a virtual channel (%lld bytes) must hold a packet (%llu)",
                 (long long)s->channel_buffer, (unsigned long long)packet);
    else if (s->channels < 1 || s->virtual_networks < 1 || channels > CHANNELS_LIMIT)
        snprintf(error, error_size,
                 "a port has from 1 to %d virtual channels; %d virtual networks, %d classes of the routing "
                 "and %d channels make %d",
                 CHANNELS_LIMIT, s->virtual_networks, routing->classes, s->channels, channels);
    else if (s->rounds < 0 || (s->rounds > 0 && !(s->cycle > 0.0)))
        snprintf(error, error_size, "rounds of allocation need a cycle");
    else if (!(s->crossbar_speedup >= 1.0) || !(s->credit_delay >= 0.0))
        snprintf(error, error_size,
                 "the crossbar's speed-up must be at least 1, the credits' delay at least 0");
    else if (s->alternates && (s->rounds > 0 || s->flit_bytes > 0))
        snprintf(error, error_size,
                 "packets alternate where routers have neither rounds nor stages nor flits");
    else if ((s->channel_turns || s->stages[PF_PACKET_STAGES - 1] > 0) && s->rounds == 0)
        snprintf(error, error_size, "channels in turn and stages need rounds of allocation");
    else if (s->output_queues && routing->asks_again)
        snprintf(error, error_size, "a queue per output needs a routing that decides once; %s does not",
                 routing->ops->name);
    else
        return true;
    return false;
}

struct pf_packet_sim *pf_packet_sim_make(const struct pf_routing *routing,
                                         const struct pf_packet_settings *settings, char *error,
                                         size_t error_size)
{
    if (!is_possible(settings, routing, error, error_size))
        return NULL;
    struct pf_packet_sim *sim = pf_calloc(1, sizeof *sim);
    sim->routing = routing;
    sim->fabric = routing->fabric;
    sim->settings = *settings;
    sim->classes = routing->classes;
    sim->channels = settings->virtual_networks * sim->classes * settings->channels;
    sim->channels_inverse = (UINT64_C(1) << 32) / (uint64_t)sim->channels + 1;
    sim->vertices = sim->fabric->routers + sim->fabric->nodes;
    sim->packets = (struct pf_pool)PF_POOL(struct pf_packet);
    sim->later_credits = (struct pf_pool)PF_POOL(struct packet_credit);
    pf_packet_events_start(&sim->events);
    for (int channel = 0; channel < sim->channels; channel++)
        sim->base[channel] = (uint8_t)(channel - channel % (sim->classes * settings->channels));
    make_vertices(sim);
    if (settings->rounds > 0 && settings->crossbar_speedup > 1.0)
        sim->slot = settings->cycle * settings->crossbar_speedup;
    sim->router_latency = sim->fabric->router_latency;
    sim->node_credit_delay = settings->credit_delay;
    if (settings->channel_turns || settings->stages[PF_PACKET_STAGES - 1] > 0)
        pf_packet_stages_make(sim);
    make_ports(sim);
    return sim;
}

void pf_packet_sim_free(struct pf_packet_sim *sim)
{
    if (!sim)
        return;
    pf_packet_statistics_end(sim, sim->now);
    void *const blocks[] = {sim->inputs,  sim->outputs,     sim->next_try,    sim->credits,
                            sim->wants,   sim->vertex,      sim->active,      sim->queues,
                            sim->sources, sim->touched,     sim->heads,       sim->channel_free,
                            sim->passing, sim->credit_sent, sim->channel_turn};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        free(blocks[i]);
    pf_packet_events_end(&sim->events);
    pf_pool_drain(&sim->packets);
    pf_pool_drain(&sim->later_credits);
    free(sim);
}
