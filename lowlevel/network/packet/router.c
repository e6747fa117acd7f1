/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A router: packets that have arrived wait at the head of an input queue for an output of the crossbar, a
 * channel behind it, and their turn. One that finds all of that free goes on at once, without an event of its
 * own.
 */
#include "lowlevel/network/packet/state.h"

/* ---- What the routing may look at. */
struct view {
    struct pf_packet_sim *sim;
    int32_t first_port;
};

static int64_t queued(void *of, int32_t port, int vc)
{
    struct view *view = of;
    int32_t output = view->first_port + port;
    return pf_packet_channel_taken(view->sim, output, vc) + view->sim->outputs[output].waiting_bytes;
}

static bool ask(struct pf_packet_sim *sim, int32_t router, struct pf_packet *p, struct pf_packet_hop *hop)
{
    struct view view = {sim, sim->fabric->first_port[router]};
    struct pf_packet_load load = {sizeof load, queued, &view};
    return sim->routing->ops->next(sim->routing, router, &load, &p->path, hop);
}

/* The first question about a packet in a router. */
static bool choose_hop(struct pf_packet_sim *sim, int32_t input, struct pf_packet *p,
                       struct pf_packet_hop *hop)
{
    int32_t router = sim->owner[input];
    if (!is_router(sim, sim->owner[sim->other[input]])) {
        struct view view = {sim, sim->fabric->first_port[router]};
        struct pf_packet_load load = {sizeof load, queued, &view};
        sim->routing->ops->begin(sim->routing, &load, &p->path);
    }
    return ask(sim, router, p, hop);
}

/* With a queue per output the packet is routed when it arrives, for good. */
static bool choose_queue(struct pf_packet_sim *sim, int32_t input, struct pf_packet *p)
{
    struct pf_packet_hop hop;
    if (!choose_hop(sim, input, p, &hop))
        return false;
    pf_routing_take(&hop, &p->path);
    p->port = hop.port;
    return true;
}

/* ---- Queues. */
static struct packet_queue *queue_of(struct pf_packet_sim *sim, int32_t input, int channel, int output_port)
{
    int32_t v = sim->owner[input];
    int width = width_of(sim, v);
    int64_t place = (int64_t)(input - sim->fabric->first_port[v]) * sim->channels + channel;
    return &sim->queues[sim->first_queue[v] + place * width + (width > 1 ? output_port : 0)];
}

static uint64_t *wants_of(struct pf_packet_sim *sim, int32_t output)
{
    int32_t v = sim->owner[output];
    return &sim->wants[sim->first_word[v] +
                       (int64_t)(output - sim->fabric->first_port[v]) * words_of(sim, v)];
}

static void mark(struct pf_packet_sim *sim, int32_t input, int channel, int32_t output, int by)
{
    int32_t v = sim->owner[input], first = sim->fabric->first_port[v];
    int bit = (input - first) * sim->channels + channel, port = output - first;
    struct packet_output *o = &sim->outputs[output];
    wants_of(sim, output)[bit / 64] ^= UINT64_C(1) << bit % 64;
    o->waiting += by;
    sim->inputs[input].waiting += by;
    if (o->waiting == 0)
        o->next_try = INFINITY;
    if (o->waiting == (by > 0))
        sim->active[sim->first_active[v] + port / 64] ^= UINT64_C(1) << port % 64;
}

/* The number of a queue in its input port, which takes turns with the others. */
static int32_t turn_of(const struct pf_packet_sim *sim, int32_t router, int channel, int output_port)
{
    return sim->settings.output_queues ? channel * ports_of(sim, router) + output_port : channel;
}

static void next_head(struct pf_packet_sim *sim, int32_t input, struct packet_queue *queue, double now);

/* The packet at the head of its queue goes; all that it needs is free. */
static void commit(struct pf_packet_sim *sim, int32_t input, struct packet_queue *queue, int channel,
                   double now)
{
    struct pf_packet *p = queue->first;
    int32_t router = sim->owner[input], first = sim->fabric->first_port[router];
    int32_t output = first + queue->hop.port;
    struct packet_input *in = &sim->inputs[input];
    struct packet_output *o = &sim->outputs[output];
    int from = (int)p->channel;
    double start = later(later(now, p->ready), later(in->free_at, o->free_at));
    double byte_time = earlier(sim->byte_time[output], sim->byte_time[sim->other[input]]);
    in->free_at = start + p->bytes * byte_time / sim->settings.crossbar_speedup;
    in->turn = turn_of(sim, router, from, queue->hop.port) + 1;
    o->turn = input - first + 1;
    o->wait += start - p->ready;
    note_queue(sim, input, from, -(int64_t)p->bytes, start);
    pf_packet_channel_release(sim, input, from, p->bytes, start);
    if (!sim->settings.output_queues)
        pf_routing_take(&queue->hop, &p->path);
    queue->first = p->next;
    pf_packet_launch(sim, p, output, channel, start);
    if (queue->first)
        next_head(sim, input, queue, now);
}

/* The head of a queue asks for its output. */
static void join(struct pf_packet_sim *sim, int32_t input, struct packet_queue *queue, double now)
{
    struct pf_packet *p = queue->first;
    int32_t router = sim->owner[input], output = sim->fabric->first_port[router] + queue->hop.port;
    struct packet_input *in = &sim->inputs[input];
    struct packet_output *o = &sim->outputs[output];
    double time = p->bytes * sim->byte_time[output];
    if (time > 0.0)
        p->ready = later(p->ready, p->tail - time); /* a faster cable must not run dry */
    double date = later(p->ready, later(in->free_at, o->free_at)), when;
    if (in->waiting == 0 && o->waiting == 0 && is_due(date, now) && !sim->settings.rounds) {
        int channel = pf_packet_channel_choose(sim, output, p->message->virtual_network, queue->hop.vc,
                                               p->bytes, now, &when);
        if (channel >= 0) {
            commit(sim, input, queue, channel, now);
            return;
        }
        date = when;
    }
    mark(sim, input, (int)p->channel, output, 1);
    o->waiting_bytes += p->bytes;
    o->next_try = earlier(o->next_try, later(date, now));
    if (!isinf(o->next_try))
        pf_packet_wake(sim, router, o->next_try);
}

/* It does not wait any more. */
static void leave(struct pf_packet_sim *sim, int32_t input, int channel, int32_t output,
                  struct packet_queue *queue)
{
    sim->outputs[output].waiting_bytes -= queue->first->bytes;
    mark(sim, input, channel, output, -1);
}

static void refuse(struct pf_packet_sim *sim, int32_t input, struct pf_packet *p, double now)
{
    note_queue(sim, input, (int)p->channel, -(int64_t)p->bytes, now);
    pf_packet_channel_release(sim, input, (int)p->channel, p->bytes, now);
    pf_packet_drop(sim, p, now);
}

/* Another packet is at the head of its queue. With one queue for all outputs it is routed only now. */
static void next_head(struct pf_packet_sim *sim, int32_t input, struct packet_queue *queue, double now)
{
    struct pf_packet *p;
    if (sim->settings.output_queues) {
        queue->hop = (struct pf_packet_hop){.port = queue->first->port, .vc = queue->first->path.vc};
        join(sim, input, queue, now);
        return;
    }
    while ((p = queue->first) && !choose_hop(sim, input, p, &queue->hop)) {
        queue->first = p->next;
        refuse(sim, input, p, now);
    }
    if (p)
        join(sim, input, queue, now);
}

static void append(struct packet_queue *queue, struct pf_packet *p)
{
    p->next = NULL;
    if (queue->first)
        queue->last->next = p;
    else
        queue->first = p;
    queue->last = p;
}

void pf_packet_arrive(struct pf_packet_sim *sim, struct pf_packet *p, double now)
{
    int32_t input = p->port;
    bool routed = sim->settings.output_queues;
    note_queue(sim, input, (int)p->channel, p->bytes, now);
    if (pf_packet_is_cut(sim, sim->other[input], p->ready) || (routed && !choose_queue(sim, input, p))) {
        refuse(sim, input, p, now);
        return;
    }
    p->ready = now;
    struct packet_queue *queue = queue_of(sim, input, (int)p->channel, routed ? p->port : 0);
    bool is_head = !queue->first;
    append(queue, p);
    if (is_head)
        next_head(sim, input, queue, now);
}

/* ---- Allocation: outputs choose among what waits for them, inputs among the outputs that chose them. */
struct choice {
    int32_t input;
    int channel; /* of the input */
    int to;      /* of the output */
    int32_t rank;
    uint64_t age;
};

/* Whether a head can go now, and if not, when to look again. */
static bool can_go(struct pf_packet_sim *sim, int32_t output, struct choice *c, double now, double *again)
{
    int32_t first = sim->fabric->first_port[sim->owner[output]];
    const struct packet_queue *queue = queue_of(sim, c->input, c->channel, output - first);
    const struct pf_packet *p = queue->first;
    double date = later(p->ready, sim->inputs[c->input].free_at);
    if (is_due(date, now)) {
        c->age = p->path.id;
        c->to = pf_packet_channel_choose(sim, output, p->message->virtual_network, queue->hop.vc, p->bytes,
                                         now, &date);
        if (c->to >= 0)
            return true;
    }
    *again = earlier(*again, date);
    return false;
}

/* How late a queue's turn is at its input. */
static int32_t rank_of(const struct pf_packet_sim *sim, int32_t input, int channel, int output_port)
{
    int32_t router = sim->owner[input];
    int32_t all = sim->channels * (sim->settings.output_queues ? ports_of(sim, router) : 1);
    int32_t rank = turn_of(sim, router, channel, output_port) - sim->inputs[input].turn;
    return rank < 0 ? rank + all : rank;
}

static bool is_better(const struct pf_packet_sim *sim, const struct choice *a, const struct choice *b)
{
    if (sim->settings.arbitration == PF_PACKET_AGE)
        return a->age < b->age;
    return a->rank < b->rank; /* of one input port */
}

/* The best of the waiting queues of an output. Round robin: of the first input port that has one. */
static bool choose(struct pf_packet_sim *sim, int32_t output, double now, struct choice *best)
{
    struct packet_output *o = &sim->outputs[output];
    int32_t v = sim->owner[output], first = sim->fabric->first_port[v];
    int words = words_of(sim, v), start = o->turn < ports_of(sim, v) ? o->turn * sim->channels : 0;
    const uint64_t *wants = wants_of(sim, output);
    double again = INFINITY;
    best->input = -1;
    for (int i = 0; i <= words; i++) {
        int word = (start / 64 + i) % words;
        uint64_t bits = wants[word];
        if (i == 0)
            bits &= ~UINT64_C(0) << start % 64;
        if (i == words)
            bits &= ~(~UINT64_C(0) << start % 64);
        for (; bits; bits &= bits - 1) {
            int bit = word * 64 + __builtin_ctzll(bits);
            struct choice c = {.input = first + bit / sim->channels, .channel = bit % sim->channels};
            bool round_robin = sim->settings.arbitration == PF_PACKET_ROUND_ROBIN;
            if (round_robin && best->input >= 0 && c.input != best->input)
                return true;
            if (!can_go(sim, output, &c, now, &again))
                continue;
            c.rank = rank_of(sim, c.input, c.channel, output - first);
            if (best->input < 0 || is_better(sim, &c, best))
                *best = c;
        }
    }
    if (best->input < 0)
        o->next_try = again;
    return best->input >= 0;
}

/* Whether an input that has an offer prefers another one. */
static bool prefers(struct pf_packet_sim *sim, const struct choice *c, int32_t output)
{
    const struct packet_input *in = &sim->inputs[c->input];
    int32_t router = sim->owner[output], first = sim->fabric->first_port[router];
    if (sim->settings.rounds && sim->settings.arbitration == PF_PACKET_ROUND_ROBIN) {
        int32_t ports = ports_of(sim, router), from = in->next_output;
        return (output - first - from + ports) % ports < (in->offered_by - first - from + ports) % ports;
    }
    const struct packet_queue *queue = queue_of(sim, c->input, in->offer, in->offered_by - first);
    struct choice old = {.rank = rank_of(sim, c->input, in->offer, in->offered_by - first),
                         .age = queue->first->path.id};
    return is_better(sim, c, &old);
}

/* One round: how many inputs have an offer. */
static int make_offers(struct pf_packet_sim *sim, int32_t router, double now)
{
    int32_t first = sim->fabric->first_port[router];
    int count = 0, words = (ports_of(sim, router) + 63) / 64;
    for (int word = 0; word < words; word++) {
        uint64_t active = sim->active[sim->first_active[router] + word];
        for (; active; active &= active - 1) {
            int32_t port = word * 64 + __builtin_ctzll(active), output = first + port;
            struct packet_output *o = &sim->outputs[output];
            struct choice c = {0};
            if (!is_due(o->next_try, now))
                continue;
            if (!is_due(o->free_at, now) || !sim->fabric->up[output]) {
                o->next_try = sim->fabric->up[output] ? o->free_at : INFINITY;
                continue;
            }
            if (!choose(sim, output, now, &c))
                continue;
            struct packet_input *in = &sim->inputs[c.input];
            if (in->offer < 0)
                sim->touched[count++] = c.input;
            else if (!prefers(sim, &c, output))
                continue;
            in->offer = c.channel;
            in->offered_by = output;
            in->offered_channel = c.to;
        }
    }
    return count;
}

static void accept(struct pf_packet_sim *sim, int32_t input, double now)
{
    struct packet_input *in = &sim->inputs[input];
    int32_t output = in->offered_by, first = sim->fabric->first_port[sim->owner[input]];
    int channel = in->offer;
    struct packet_queue *queue = queue_of(sim, input, channel, output - first);
    in->offer = -1;
    in->next_output = (output - first + 1) % ports_of(sim, sim->owner[input]);
    leave(sim, input, channel, output, queue);
    commit(sim, input, queue, in->offered_channel, now);
}

/* Adaptive routing: what waits is asked again, as another way may be better now. */
static void ask_again(struct pf_packet_sim *sim, int32_t output, double now)
{
    int32_t router = sim->owner[output], first = sim->fabric->first_port[router];
    struct packet_output *o = &sim->outputs[output];
    int words = words_of(sim, router);
    for (int word = 0; word < words && o->waiting > 0; word++) {
        for (uint64_t bits = wants_of(sim, output)[word]; bits; bits &= bits - 1) {
            int bit = word * 64 + __builtin_ctzll(bits);
            int32_t input = first + bit / sim->channels;
            struct packet_queue *queue = queue_of(sim, input, bit % sim->channels, 0);
            struct pf_packet_hop hop;
            o->waiting_bytes -= queue->first->bytes; /* it does not wait for itself */
            bool has_way = ask(sim, router, queue->first, &hop);
            o->waiting_bytes += queue->first->bytes;
            if (has_way && hop.port == queue->hop.port && hop.vc == queue->hop.vc)
                continue;
            leave(sim, input, bit % sim->channels, output, queue);
            if (has_way) {
                queue->hop = hop;
                join(sim, input, queue, now);
                continue;
            }
            struct pf_packet *p = queue->first;
            queue->first = p->next;
            refuse(sim, input, p, now);
            if (queue->first)
                next_head(sim, input, queue, now);
        }
    }
}

static void ask_all_again(struct pf_packet_sim *sim, int32_t router, double now)
{
    int32_t first = sim->fabric->first_port[router];
    int words = (ports_of(sim, router) + 63) / 64;
    for (int word = 0; word < words; word++)
        for (uint64_t active = sim->active[sim->first_active[router] + word]; active; active &= active - 1)
            ask_again(sim, first + word * 64 + __builtin_ctzll(active), now);
}

void pf_packet_allocate(struct pf_packet_sim *sim, int32_t router, double now)
{
    int count, round = 0;
    if (sim->routing->asks_again)
        ask_all_again(sim, router, now);
    while ((count = make_offers(sim, router, now)) > 0) {
        for (int i = 0; i < count; i++)
            accept(sim, sim->touched[i], now);
        if (++round == sim->settings.rounds)
            break;
    }
    int32_t first = sim->fabric->first_port[router];
    int words = (ports_of(sim, router) + 63) / 64;
    double next = INFINITY;
    for (int word = 0; word < words; word++)
        for (uint64_t active = sim->active[sim->first_active[router] + word]; active; active &= active - 1)
            next = earlier(next, sim->outputs[first + word * 64 + __builtin_ctzll(active)].next_try);
    if (round > 0 && round == sim->settings.rounds) {
        next = later(next, now + sim->settings.cycle);
        sim->wake[router] = INFINITY; /* what heads of queues have asked for meanwhile */
    }
    if (!isinf(next))
        pf_packet_wake(sim, router, next);
}

/* The cable has gone: what waits for it looks for another way. */
void pf_packet_reroute(struct pf_packet_sim *sim, int32_t output, double now)
{
    int32_t v = sim->owner[output], first = sim->fabric->first_port[v];
    struct packet_output *o = &sim->outputs[output];
    int places = ports_of(sim, v) * sim->channels;
    for (int bit = 0; bit < places && o->waiting > 0; bit++) {
        if (!(wants_of(sim, output)[bit / 64] >> bit % 64 & 1))
            continue;
        int32_t input = first + bit / sim->channels;
        struct packet_queue *queue = queue_of(sim, input, bit % sim->channels, output - first);
        struct pf_packet *p = queue->first;
        leave(sim, input, bit % sim->channels, output, queue);
        if (!sim->settings.output_queues) {
            next_head(sim, input, queue, now);
            continue;
        }
        queue->first = NULL;
        for (struct pf_packet *next; p; p = next) {
            next = p->next;
            if (!choose_queue(sim, input, p)) {
                refuse(sim, input, p, now);
                continue;
            }
            struct packet_queue *other = queue_of(sim, input, (int)p->channel, p->port);
            bool is_head = !other->first;
            append(other, p);
            if (is_head)
                next_head(sim, input, other, now);
        }
    }
}
