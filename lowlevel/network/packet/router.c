/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A router: packets that have arrived wait at the head of an input queue for an output of the crossbar, a
 * channel behind it, and their turn. One that finds all of that free goes on at once, without an event of its
 * own.
 */
#include "lowlevel/network/packet/state.h"

/* ---- What the routing says. */
static bool ask(struct pf_packet_sim *sim, int32_t router, struct pf_packet *p, struct pf_packet_hop *hop)
{
    struct packet_view view;
    struct pf_packet_load load = pf_packet_view(sim, router, &view);
    return sim->routing->ops->next(sim->routing, router, &load, &p->path, hop);
}

/* The first question about a packet in a router. */
static bool choose_hop(struct pf_packet_sim *sim, int32_t input, struct pf_packet *p,
                       struct pf_packet_hop *hop)
{
    const struct packet_input *in = &sim->inputs[input];
    if (!is_at_router(sim, in->output) && !sim->settings.looks_ahead)
        pf_packet_begin(sim, in->owner, p);
    return ask(sim, in->owner, p, hop);
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
/* The queue at an input waits for the output from now on, or (by -1) does not any more. */
static inline void mark(struct pf_packet_sim *sim, int32_t input, int channel, int32_t output, int by)
{
    struct packet_output *o = &sim->outputs[output];
    struct packet_vertex *v = &sim->vertex[o->owner];
    int bit = (input - v->first_port) * sim->channels + channel, port = output - v->first_port;
    o->wants[bit / 64] ^= UINT64_C(1) << bit % 64;
    o->waiting += by;
    sim->inputs[input].waiting += by;
    if (o->waiting == 0)
        sim->next_try[output] = INFINITY;
    if (o->waiting == (by > 0))
        v->active[port / 64] ^= UINT64_C(1) << port % 64;
}

/* The number of a queue in its input port, which takes turns with the others. */
static inline int32_t turn_of(const struct pf_packet_sim *sim, int32_t router, int channel,
                              int32_t output_port)
{
    return sim->settings.output_queues ? channel * sim->vertex[router].ports + output_port : channel;
}

static inline struct packet_head *head_of(struct pf_packet_sim *sim, const struct packet_queue *queue)
{
    return &sim->heads[queue - sim->queues];
}

/* The channel behind the output for the head of a queue, or -1 and when to look again. */
static inline int choose_channel(struct pf_packet_sim *sim, const struct packet_queue *queue, int32_t output,
                                 int first, uint32_t bytes, double now, double *when)
{
    if (__builtin_expect(sim->heads != NULL, 0))
        return pf_packet_stages_choose(sim, head_of(sim, queue), output, first, bytes, now, when);
    return pf_packet_channel_choose(sim, output, first, bytes, now, when);
}

/* A packet that was at the head of its queue goes at a date: all that it needs is free, or shared. */
static void commit(struct pf_packet_sim *sim, int32_t input, struct pf_packet *p,
                   const struct pf_packet_hop *hop, int channel, double start, int shares)
{
    struct packet_input *in = &sim->inputs[input];
    int32_t first = sim->vertex[in->owner].first_port, output = first + hop->port;
    struct packet_output *o = &sim->outputs[output];
    int from = (int)p->channel;
    double byte_time = earlier(o->byte_time, in->byte_time);
    if (start >= in->free_at) {
        in->channel = (uint8_t)from;
        in->is_passable = !is_short(sim, p);
    }
    in->free_at = later(start, in->free_at) + p->bytes * byte_time / sim->settings.crossbar_speedup;
    in->turn = turn_of(sim, in->owner, from, hop->port) + 1;
    o->turn = input - first + 1;
    o->wait += start - p->ready;
    note_queue(sim, input, from, -(int64_t)p->bytes, start);
    pf_packet_channel_release(sim, input, from, p->bytes,
                              sim->heads ? pf_packet_stages_credit(sim, input, start) : start);
    if (!sim->settings.output_queues)
        pf_routing_take(hop, &p->path);
    pf_packet_launch(sim, p, output, channel, start, shares);
    if (__builtin_expect(sim->heads != NULL, 0))
        pf_packet_stages_leave(sim, head_of(sim, queue_of(sim, input, from, hop->port)), output, channel,
                               class_of(sim, from, hop->vc), in->free_at, p->is_tail);
}

/* When all that a packet needs is free, which is now or by an error of rounding later. */
static inline double start_of(const struct pf_packet_sim *sim, const struct packet_input *in, int32_t output,
                              const struct pf_packet *p, double now)
{
    return later(later(now, p->ready), later(in->free_at, sim->outputs[output].free_at));
}

/* The head of a queue, a short message, asks for ports of which one is taken by a part of a long one in
 * another channel: it may pass that. */
static bool pass(struct pf_packet_sim *sim, int32_t input, struct pf_packet *p,
                 const struct pf_packet_hop *hop, double now)
{
    struct packet_input *in = &sim->inputs[input];
    int32_t output = sim->vertex[in->owner].first_port + hop->port;
    struct packet_output *o = &sim->outputs[output];
    struct packet_passing *at_input = &sim->passing[input], *at_output = &sim->passing[output];
    int shares = 2 + o->waiting;
    double time = p->bytes * later(o->byte_time, in->byte_time), start = later(now, p->tail - shares * time);
    bool in_free = is_due(in->free_at, start), out_free = is_due(o->free_at, start);
    if ((in_free && (out_free || in->waiting > 0)) || (out_free && o->waiting > 0) ||
        (!in_free && (!in->is_passable || in->channel == p->channel || time > in->free_at - start)) ||
        (!out_free && (!o->is_passable || time > o->free_at - start)))
        return false;
    int channel = pf_packet_channel_choose_other(sim, output, class_of(sim, (int)p->channel, hop->vc),
                                                 out_free ? -1 : (int)o->channel, p->bytes, now);
    if (channel < 0)
        return false;
    start = later(start, later(in_free ? now : at_input->input, out_free ? now : at_output->output));
    at_input->input = at_output->output = start + shares * time;
    p->ready = earlier(p->ready, start); /* it comes in no faster than it goes out */
    commit(sim, input, p, hop, channel, start, shares);
    return true;
}

/* The head of a queue asks for its output. True: it has gone, and the queue's head is another one. */
static bool join(struct pf_packet_sim *sim, int32_t input, struct packet_queue *queue, struct pf_packet *p,
                 const struct pf_packet_hop *hop, double now)
{
    struct packet_input *in = &sim->inputs[input];
    int32_t output = sim->vertex[in->owner].first_port + hop->port;
    struct packet_output *o = &sim->outputs[output];
    double time = p->bytes * o->byte_time;
    if (time > 0.0)
        p->ready = later(p->ready, p->tail - time); /* a faster link must not run dry */
    if (__builtin_expect(sim->heads != NULL, 0))
        p->ready = later(p->ready, head_of(sim, queue)->free_at);
    double date = later(p->ready, later(in->free_at, o->free_at)), when;
    if (in->waiting == 0 && o->waiting == 0 && is_due(date, now) && !sim->settings.rounds) {
        int channel =
            choose_channel(sim, queue, output, class_of(sim, (int)p->channel, hop->vc), p->bytes, now, &when);
        if (channel >= 0) {
            commit(sim, input, p, hop, channel, start_of(sim, in, output, p, now), 1);
            return true;
        }
        date = when;
    } else if (sim->settings.alternates && is_short(sim, p) && pass(sim, input, p, hop, now)) {
        return true;
    }
    queue->ready = p->ready;
    queue->bytes = p->bytes;
    queue->hop = *hop;
    mark(sim, input, (int)p->channel, output, 1);
    o->waiting_bytes += p->bytes;
    double try = earlier(sim->next_try[output], later(date, now));
    sim->next_try[output] = try;
    if (!isinf(try))
        pf_packet_wake(sim, in->owner, try);
    return false;
}

/* It does not wait any more. */
static inline void leave(struct pf_packet_sim *sim, int32_t input, int channel, int32_t output,
                         const struct packet_queue *queue)
{
    if (__builtin_expect(sim->heads != NULL, 0))
        pf_packet_stages_give_back(sim, head_of(sim, queue));
    sim->outputs[output].waiting_bytes -= queue->bytes;
    mark(sim, input, channel, output, -1);
}

static void refuse(struct pf_packet_sim *sim, int32_t input, struct pf_packet *p, double now)
{
    note_queue(sim, input, (int)p->channel, -(int64_t)p->bytes, now);
    pf_packet_channel_release(sim, input, (int)p->channel, p->bytes, now);
    pf_packet_drop(sim, p, now);
}

/* A packet is at the head of its queue, where it has not been before. With one queue for all outputs it is
 * routed only now. False: it is gone, by an output or because it has no way. */
static bool is_staying(struct pf_packet_sim *sim, int32_t input, struct packet_queue *queue,
                       struct pf_packet *p, double now)
{
    struct pf_packet_hop hop = {.port = p->port, .vc = p->path.vc};
    if (!p->is_head) {
        hop = queue->hop; /* after its head */
    } else if (!sim->settings.output_queues && !choose_hop(sim, input, p, &hop)) {
        refuse(sim, input, p, now);
        return false;
    }
    return !join(sim, input, queue, p, &hop, now);
}

/* The first one has gone: those behind it come to the head, until one stays. */
static void next_heads(struct pf_packet_sim *sim, int32_t input, struct packet_queue *queue, double now)
{
    for (struct pf_packet *p = queue->first, *next; p; p = next) {
        next = p->next;
        if (is_staying(sim, input, queue, p, now))
            break;
        queue->first = next;
    }
}

/* It comes to the end of a queue. That of an input where nothing waits is empty, and remains untouched when
 * the packet can go on at once. */
static void enter(struct pf_packet_sim *sim, int32_t input, struct packet_queue *queue, struct pf_packet *p,
                  double now)
{
    if (sim->inputs[input].waiting > 0 && queue->first) {
        p->next = NULL;
        queue->last->next = p;
        queue->last = p;
    } else if (is_staying(sim, input, queue, p, now)) {
        p->next = NULL;
        queue->first = queue->last = p;
    }
}

/* Where the credits of a queue's packets go to: soon needed when one may leave. */
static inline void fetch_credits(const struct pf_packet_sim *sim, int32_t input)
{
    __builtin_prefetch(credits_of(sim, sim->inputs[input].output), 1);
}

void pf_packet_arrive(struct pf_packet_sim *sim, struct pf_packet *p, double now)
{
    int32_t input = p->port;
    bool routed = sim->settings.output_queues;
    fetch_credits(sim, input);
    if (!routed)
        __builtin_prefetch(queue_of(sim, input, (int)p->channel, 0), 1);
    note_queue(sim, input, (int)p->channel, p->bytes, now);
    if (pf_packet_is_cut(sim, sim->inputs[input].output, p->ready) ||
        (routed && !choose_queue(sim, input, p))) {
        refuse(sim, input, p, now);
        return;
    }
    p->ready = p->is_head && sim->lead > 0.0 ? pf_packet_stages_pass(sim, now, PF_PACKET_STAGES) : now;
    enter(sim, input, queue_of(sim, input, (int)p->channel, routed ? p->port : 0), p, now);
}

/* ---- Allocation: outputs choose among what waits for them, inputs among the outputs that chose them. */
struct choice {
    int32_t input;
    int channel;   /* of the input */
    int to;        /* of the output */
    uint64_t rank; /* among the queues of an input, or by age; the least is best */
};

/* Whether a head can go now, and if not, when to look again. */
static inline bool can_go(struct pf_packet_sim *sim, int32_t output, int32_t port, struct choice *c,
                          double now, double *again)
{
    const struct packet_queue *queue = queue_of(sim, c->input, c->channel, port);
    double date = later(queue->ready, sim->inputs[c->input].free_at);
    if (is_due(date, now)) {
        c->to = choose_channel(sim, queue, output, class_of(sim, c->channel, queue->hop.vc), queue->bytes,
                               now, &date);
        if (c->to >= 0)
            return true;
    }
    *again = earlier(*again, date);
    return false;
}

/* How late a queue's turn is at its input; or which packet it has. */
static uint64_t rank_of(struct pf_packet_sim *sim, int32_t router, int32_t input, int channel,
                        int32_t output_port)
{
    if (sim->settings.arbitration == PF_PACKET_AGE)
        return queue_of(sim, input, channel, output_port)->first->path.id;
    int32_t rank = turn_of(sim, router, channel, output_port) - sim->inputs[input].turn;
    return (uint64_t)(rank < 0 ? rank + sim->channels * width_of(sim, &sim->vertex[router]) : rank);
}

/* The best of the waiting queues of an output. Round robin: of the first input port that has one. */
static bool choose(struct pf_packet_sim *sim, int32_t router, int32_t output, double now, struct choice *best)
{
    const struct packet_vertex *v = &sim->vertex[router];
    const struct packet_output *o = &sim->outputs[output];
    bool round_robin = sim->settings.arbitration == PF_PACKET_ROUND_ROBIN;
    int words = words_of(sim, v), start = o->turn < v->ports ? o->turn * sim->channels : 0;
    double again = INFINITY;
    for (int i = 0, word = start / 64; i <= words; i++, word = word + 1 < words ? word + 1 : 0) {
        uint64_t bits = o->wants[word];
        if (i == 0)
            bits &= ~UINT64_C(0) << start % 64;
        if (i == words)
            bits &= ~(~UINT64_C(0) << start % 64);
        for (; bits; bits &= bits - 1) {
            uint32_t bit = (uint32_t)word * 64 + (uint32_t)__builtin_ctzll(bits);
            int32_t port = (int32_t)((bit * sim->channels_inverse) >> 32);
            struct choice c = {.input = v->first_port + port, .channel = (int)bit - port * sim->channels};
            if (round_robin && best->input >= 0 && c.input != best->input)
                return true;
            if (!can_go(sim, output, output - v->first_port, &c, now, &again))
                continue;
            c.rank = rank_of(sim, router, c.input, c.channel, output - v->first_port);
            if (best->input < 0 || c.rank < best->rank)
                *best = c;
        }
    }
    if (best->input < 0)
        sim->next_try[output] = again;
    return best->input >= 0;
}

/* Whether an input that has an offer prefers another one. */
static bool prefers(struct pf_packet_sim *sim, int32_t router, const struct choice *c, int32_t output)
{
    const struct packet_input *in = &sim->inputs[c->input];
    int32_t first = sim->vertex[router].first_port;
    if (sim->settings.rounds && sim->settings.arbitration == PF_PACKET_ROUND_ROBIN) {
        int32_t ports = sim->vertex[router].ports, from = in->next_output;
        return (output - first - from + ports) % ports < (in->offered_by - first - from + ports) % ports;
    }
    return c->rank < rank_of(sim, router, c->input, in->offer, in->offered_by - first);
}

/* Whether an output makes an offer now; if not, next_try says when it should look again. */
static bool offers(struct pf_packet_sim *sim, int32_t router, int32_t output, double now, struct choice *c)
{
    const struct pf_fabric *f = sim->fabric;
    double free_at = f->down && !f->up[output] ? INFINITY : sim->outputs[output].free_at;
    if (is_due(free_at, now))
        return choose(sim, router, output, now, c);
    sim->next_try[output] = free_at;
    return false;
}

/* An input takes an offer, or keeps the one that it has: then false. */
static bool takes(struct pf_packet_sim *sim, int32_t router, int32_t output, const struct choice *c)
{
    struct packet_input *in = &sim->inputs[c->input];
    bool is_first = in->offer < 0;
    if (!is_first && !prefers(sim, router, c, output))
        return false;
    __builtin_prefetch(queue_of(sim, c->input, c->channel, output - sim->vertex[router].first_port)->first,
                       1);
    fetch_credits(sim, c->input);
    in->offer = c->channel;
    in->offered_by = output;
    in->offered_channel = (int16_t)c->to;
    return is_first;
}

/* One round: how many inputs have an offer. *next: when outputs without one may have one. */
static int make_offers(struct pf_packet_sim *sim, int32_t router, double now, double *next)
{
    const struct packet_vertex *v = &sim->vertex[router];
    int count = 0, words = (v->ports + 63) / 64;
    *next = INFINITY;
    for (int word = 0; word < words; word++) {
        for (uint64_t active = v->active[word]; active; active &= active - 1) {
            int32_t output = v->first_port + word * 64 + __builtin_ctzll(active);
            struct choice c = {.input = -1};
            if (sim->settings.channel_turns && is_due(sim->next_try[output], now))
                pf_packet_stages_allocate(sim, router, output, now);
            if (!is_due(sim->next_try[output], now) || !offers(sim, router, output, now, &c))
                *next = earlier(*next, sim->next_try[output]);
            else if (takes(sim, router, output, &c))
                sim->touched[count++] = c.input;
        }
    }
    return count;
}

static void accept(struct pf_packet_sim *sim, int32_t router, int32_t input, double now)
{
    const struct packet_vertex *v = &sim->vertex[router];
    struct packet_input *in = &sim->inputs[input];
    int32_t output = in->offered_by;
    int channel = in->offer;
    struct packet_queue *queue = queue_of(sim, input, channel, output - v->first_port);
    struct pf_packet *p = queue->first;
    struct pf_packet_hop hop = queue->hop;
    in->offer = -1;
    in->next_output = (output - v->first_port + 1) % v->ports;
    leave(sim, input, channel, output, queue);
    queue->first = p->next;
    commit(sim, input, p, &hop, in->offered_channel, start_of(sim, in, output, p, now), 1);
    next_heads(sim, input, queue, now);
}

/* Adaptive routing: what waits is asked again, as another way may be better now. */
static void ask_again(struct pf_packet_sim *sim, int32_t router, int32_t output, double now)
{
    const struct packet_vertex *v = &sim->vertex[router];
    struct packet_output *o = &sim->outputs[output];
    int words = words_of(sim, v);
    for (int word = 0; word < words && o->waiting > 0; word++) {
        for (uint64_t bits = o->wants[word]; bits; bits &= bits - 1) {
            int bit = word * 64 + __builtin_ctzll(bits), channel = bit % sim->channels;
            int32_t input = v->first_port + bit / sim->channels;
            struct packet_queue *queue = queue_of(sim, input, channel, 0);
            struct pf_packet *p = queue->first;
            struct pf_packet_hop hop;
            if (!p->is_head)
                continue;
            o->waiting_bytes -= queue->bytes; /* it does not wait for itself */
            bool has_way = ask(sim, router, p, &hop);
            o->waiting_bytes += queue->bytes;
            if (has_way && hop.port == queue->hop.port && hop.vc == queue->hop.vc)
                continue;
            leave(sim, input, channel, output, queue);
            if (has_way && !join(sim, input, queue, p, &hop, now))
                continue;
            queue->first = p->next;
            if (!has_way)
                refuse(sim, input, p, now);
            next_heads(sim, input, queue, now);
        }
    }
}

static void ask_all_again(struct pf_packet_sim *sim, int32_t router, double now)
{
    const struct packet_vertex *v = &sim->vertex[router];
    int words = (v->ports + 63) / 64;
    for (int word = 0; word < words; word++)
        for (uint64_t active = v->active[word]; active; active &= active - 1)
            ask_again(sim, router, v->first_port + word * 64 + __builtin_ctzll(active), now);
}

/* When an output may look again. */
static double next_of(const struct pf_packet_sim *sim, int32_t router)
{
    const struct packet_vertex *v = &sim->vertex[router];
    double next = INFINITY;
    int words = (v->ports + 63) / 64;
    for (int word = 0; word < words; word++)
        for (uint64_t active = v->active[word]; active; active &= active - 1)
            next = earlier(next, sim->next_try[v->first_port + word * 64 + __builtin_ctzll(active)]);
    return next;
}

void pf_packet_allocate(struct pf_packet_sim *sim, int32_t router, double now)
{
    double next;
    int count, round = 0;
    if (sim->routing->asks_again)
        ask_all_again(sim, router, now);
    while ((count = make_offers(sim, router, now, &next)) > 0) {
        for (int i = 0; i < count; i++)
            accept(sim, router, sim->touched[i], now);
        if (++round == sim->settings.rounds)
            break;
    }
    if (count > 0) { /* no more rounds in this cycle */
        next = later(next_of(sim, router), now + sim->settings.cycle);
        sim->vertex[router].wake = INFINITY; /* what heads of queues have asked for meanwhile */
    }
    if (!isinf(next))
        pf_packet_wake(sim, router, next);
}

/* The link has gone: what waits for it looks for another way. */
void pf_packet_reroute(struct pf_packet_sim *sim, int32_t output, double now)
{
    struct packet_output *o = &sim->outputs[output];
    const struct packet_vertex *v = &sim->vertex[o->owner];
    int places = v->ports * sim->channels;
    for (int bit = 0; bit < places && o->waiting > 0; bit++) {
        if (!(o->wants[bit / 64] >> bit % 64 & 1))
            continue;
        int32_t input = v->first_port + bit / sim->channels;
        int channel = bit % sim->channels;
        struct packet_queue *queue = queue_of(sim, input, channel, output - v->first_port);
        struct pf_packet *p = queue->first;
        leave(sim, input, channel, output, queue);
        if (!sim->settings.output_queues) {
            next_heads(sim, input, queue, now);
            continue;
        }
        queue->first = NULL;
        for (struct pf_packet *next; p; p = next) {
            next = p->next;
            p->path.hops--; /* by the output that it does not take */
            if (!choose_queue(sim, input, p))
                refuse(sim, input, p, now);
            else
                enter(sim, input, queue_of(sim, input, (int)p->channel, p->port), p, now);
        }
    }
}
