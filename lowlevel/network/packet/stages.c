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
    sim->channel_free = pf_calloc(ports * (size_t)sim->channels, sizeof *sim->channel_free);
    for (size_t i = 0; i < heads; i++)
        sim->heads[i] = (struct packet_head){.output = -1, .channel = -1};
    if (cycles[PF_PACKET_STAGES - 1] == 0)
        return;
    sim->router_latency = sim->lead = pf_packet_stages_pass(sim, 0.0, PF_PACKET_STAGES);
    sim->behind_turn =
        sim->lead - pf_packet_stages_pass(sim, 0.0, PF_PACKET_STAGES - 1) + sim->settings.cycle;
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

/* The next free channel in turn. The turns of a queue begin again at another output. */
static void take_channel(struct pf_packet_sim *sim, struct packet_head *head, int32_t output, int first,
                         double now, double *when)
{
    int count = choice_at(sim, output, &first), start = head->output == output ? head->next : 0;
    *when = INFINITY;
    for (int i = 0; i < count; i++) {
        int channel = first + (start + i) % count;
        double *free_at = free_of(sim, output, channel);
        *when = earlier(*when, *free_at);
        if (!is_due(*free_at, now))
            continue;
        *free_at = INFINITY;
        head->channel = (int16_t)channel;
        head->output = output;
        return;
    }
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
    if (head->channel < 0)
        take_channel(sim, head, output, first, now, when);
    if (head->channel < 0 || !pf_packet_channel_takes(sim, output, head->channel, bytes, now, when))
        return -1;
    return head->channel;
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
