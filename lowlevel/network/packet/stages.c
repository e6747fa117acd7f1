/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routers in stages, as cycle-driven simulators have them: a queue works at one packet at a time, from its
 * routing to its last byte, and a packet gets its channel behind the output before it gets the crossbar.
 */
#include "base/memory.h"
#include "lowlevel/network/packet/state.h"

void pf_packet_stages_make(struct pf_packet_sim *sim)
{
    const int *cycles = sim->settings.stages;
    size_t ports = (size_t)sim->fabric->first_port[sim->vertices];
    size_t heads = (size_t)sim->queue_count + (size_t)sim->fabric->nodes;
    sim->heads = pf_calloc(heads, sizeof *sim->heads);
    sim->credit_sent = pf_calloc(ports, sizeof *sim->credit_sent);
    sim->channel_turn = pf_calloc(ports * (size_t)sim->channels, sizeof *sim->channel_turn);
    sim->channel_free = pf_calloc(ports * (size_t)sim->channels, sizeof *sim->channel_free);
    for (size_t i = 0; i < heads; i++)
        sim->heads[i] = (struct packet_head){.output = -1, .channel = -1};
    if (cycles[PF_PACKET_STAGES - 1] == 0)
        return;
    sim->router_latency = sim->lead = pf_packet_stages_pass(sim, 0.0, PF_PACKET_STAGES);
    sim->behind_turn =
        sim->lead - pf_packet_stages_pass(sim, 0.0, PF_PACKET_STAGES - 1) + sim->settings.cycle;
    /* A node, which has no stages, uses a credit in the cycle in which it comes. */
    sim->node_credit_delay =
        earlier(sim->node_credit_delay,
                later(2 * sim->settings.cycle * sim->settings.crossbar_speedup - sim->behind_turn, 0.0));
}

static double *free_of(struct pf_packet_sim *sim, int32_t output, int channel)
{
    return &sim->channel_free[(int64_t)output * sim->channels + channel];
}

double pf_packet_stages_pass(const struct pf_packet_sim *sim, double date, int stages)
{
    const double rounding = 1e-6;
    double step = sim->settings.cycle, cycle = step * sim->settings.crossbar_speedup;
    for (int i = 0; i < stages; i++) {
        int cycles = sim->settings.stages[i];
        if (cycles > 1)
            date = cycle * (floor(date / cycle + rounding) + cycles - 1);
        date += cycles > 0 ? step : 0;
    }
    return date;
}

double pf_packet_stages_credit(struct pf_packet_sim *sim, int32_t input, double date)
{
    const double rounding = 1e-6;
    if (sim->slot > 0.0) {
        date = later(sim->slot * floor(date / sim->slot + rounding), sim->credit_sent[input]);
        sim->credit_sent[input] = date + sim->slot;
    }
    return date;
}

/* What follows a head is neither routed nor given a channel, but stays behind it. */
double pf_packet_stages_arrival(struct pf_packet_sim *sim, const struct pf_packet *p, int32_t input,
                                double date)
{
    double *arrives = &sim->heads[(int64_t)input * sim->channels + p->channel].arrives;
    if (!p->is_head)
        date = later(date - pf_packet_stages_pass(sim, 0.0, 2), *arrives);
    *arrives = date;
    return date;
}

/* How many channels, and the first one, a packet of a class may have behind an output. */
static int choice_at(const struct pf_packet_sim *sim, int32_t output, int *first)
{
    if (!sim->settings.ends_in_any || is_at_router(sim, sim->outputs[output].input))
        return sim->settings.channels;
    *first = sim->base[*first];
    return sim->settings.channels * sim->classes;
}

/* Whether a queue waits for a channel behind the output. */
static bool asks(struct pf_packet_sim *sim, const struct packet_queue *queue, double now)
{
    return sim->heads[queue - sim->queues].channel < 0 && is_due(queue->ready, now);
}

/* To which of the queues that ask the channel offers itself, as its place in the output's `wants`; -1: to
 * none.
 */
static int offer(struct pf_packet_sim *sim, const struct packet_vertex *v, int32_t output, int channel,
                 double now)
{
    const struct packet_output *o = &sim->outputs[output];
    int places = v->ports * sim->channels, best = -1, least = places;
    if (!is_due(*free_of(sim, output, channel), now))
        return -1;
    for (int word = 0; word * 64 < places; word++)
        for (uint64_t bits = o->wants[word]; bits; bits &= bits - 1) {
            int place = word * 64 + __builtin_ctzll(bits), from = place % sim->channels;
            const struct packet_queue *queue =
                queue_of(sim, v->first_port + place / sim->channels, from, output - v->first_port);
            int first = class_of(sim, from, queue->hop.vc), count = choice_at(sim, output, &first);
            int rank =
                (place - sim->channel_turn[(int64_t)output * sim->channels + channel] + places) % places;
            if (channel >= first && channel < first + count && rank < least && asks(sim, queue, now)) {
                best = place;
                least = rank;
            }
        }
    return best;
}

/* The turns of a queue begin again at another output. */
static void take_offer(struct pf_packet_sim *sim, struct packet_head *head, int32_t output, int first,
                       int count, const int *offers, int place)
{
    int start = head->output == output ? head->next : 0;
    for (int i = 0; i < count; i++) {
        int channel = first + (start + i) % count;
        if (offers[channel] != place)
            continue;
        *free_of(sim, output, channel) = INFINITY;
        sim->channel_turn[(int64_t)output * sim->channels + channel] = place + 1;
        head->channel = (int16_t)channel;
        head->output = output;
        return;
    }
}

void pf_packet_stages_allocate(struct pf_packet_sim *sim, int32_t router, int32_t output, double now)
{
    const struct packet_vertex *v = &sim->vertex[router];
    const int channels = sim->channels;
    int offers[CHANNELS_LIMIT];
    for (int channel = 0; channel < channels; channel++)
        offers[channel] = offer(sim, v, output, channel, now);
    for (int channel = 0; channel < channels; channel++) {
        int place = offers[channel];
        if (place < 0)
            continue;
        const struct packet_queue *queue =
            queue_of(sim, v->first_port + place / channels, place % channels, output - v->first_port);
        int first = class_of(sim, place % channels, queue->hop.vc), count = choice_at(sim, output, &first);
        if (asks(sim, queue, now))
            take_offer(sim, &sim->heads[queue - sim->queues], output, first, count, offers, place);
    }
}

/* When a head that has no channel may get one. */
static double next_chance(struct pf_packet_sim *sim, int32_t output, int first, double now)
{
    int count = choice_at(sim, output, &first);
    double when = INFINITY;
    for (int i = 0; i < count; i++)
        when = earlier(when, later(*free_of(sim, output, first + i), now + sim->settings.cycle));
    return when;
}

/* Nodes take the next channel that has room. */
static int choose_at_node(struct pf_packet_sim *sim, const struct packet_head *head, int32_t output,
                          int first, uint32_t bytes, double now, double *when)
{
    int count = pf_packet_new_channels(sim);
    double date = INFINITY;
    *when = INFINITY;
    for (int i = 0; i < count; i++) {
        int channel = first + (head->next + i) % count;
        if (pf_packet_channel_takes(sim, output, channel, bytes, now, &date))
            return channel;
        *when = earlier(*when, date);
    }
    return -1;
}

int pf_packet_stages_choose(struct pf_packet_sim *sim, struct packet_head *head, int32_t output, int first,
                            uint32_t bytes, double now, double *when)
{
    if (!is_at_router(sim, output))
        return sim->settings.channel_turns
                   ? choose_at_node(sim, head, output, first, bytes, now, when)
                   : pf_packet_channel_choose_new(sim, output, first, bytes, now, when);
    if (!sim->settings.channel_turns)
        return pf_packet_channel_choose(sim, output, first, bytes, now, when);
    if (head->channel < 0) {
        *when = next_chance(sim, output, first, now);
        return -1;
    }
    return pf_packet_channel_takes(sim, output, head->channel, bytes, now, when) ? head->channel : -1;
}

void pf_packet_stages_leave(struct pf_packet_sim *sim, struct packet_head *head, int32_t output, int channel,
                            int first, double end, bool is_tail)
{
    head->output = output;
    if (!is_tail) {
        head->free_at = end;
        head->channel = (int16_t)channel;
        if (is_at_router(sim, output))
            *free_of(sim, output, channel) = INFINITY;
        return;
    }
    /* Behind its turn at the crossbar the next one's stages begin. */
    head->free_at = pf_packet_stages_pass(sim, end - sim->behind_turn, PF_PACKET_STAGES);
    choice_at(sim, output, &first);
    head->next = (int16_t)(channel - first + 1);
    head->channel = -1;
    if (is_at_router(sim, output))
        *free_of(sim, output, channel) = sim->outputs[output].free_at + sim->settings.cycle;
}

void pf_packet_stages_give_back(struct pf_packet_sim *sim, struct packet_head *head)
{
    if (head->channel < 0)
        return;
    *free_of(sim, head->output, head->channel) = sim->now;
    sim->next_try[head->output] = earlier(sim->next_try[head->output], sim->now); /* others wait for it */
    head->channel = -1;
}
