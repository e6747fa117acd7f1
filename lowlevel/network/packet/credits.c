/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits of virtual channels. They are counted when somebody looks: only a packet that waits for them makes
 * an event of their return.
 */
#include "lowlevel/network/packet/state.h"

static void claim(struct pf_packet_sim *sim, struct packet_channel *channel, double now)
{
    while (channel->first && is_due(channel->first->date, now)) {
        struct packet_credit *credit = channel->first;
        channel->bytes += credit->bytes;
        channel->first = credit->next;
        pf_pool_put(&sim->credits, credit);
    }
}

/* When credits on their way will make `bytes`. */
static double enough_at(const struct packet_channel *channel, uint32_t bytes)
{
    int64_t sum = channel->bytes;
    for (const struct packet_credit *credit = channel->first; credit; credit = credit->next) {
        sum += credit->bytes;
        if (sum >= bytes)
            return credit->date;
    }
    return INFINITY;
}

int pf_packet_channel_choose(struct pf_packet_sim *sim, int32_t output, int virtual_network, int vc,
                             uint32_t bytes, double now, double *when)
{
    int per_class = sim->settings.channels, best = -1;
    int first = (virtual_network * sim->classes + vc) * per_class;
    struct packet_channel *channels = &sim->channel[(int64_t)output * sim->channels];
    for (int i = first; i < first + per_class; i++) {
        claim(sim, &channels[i], now);
        if (channels[i].bytes >= bytes && (best < 0 || channels[i].bytes > channels[best].bytes))
            best = i;
    }
    if (best >= 0)
        return best;
    *when = INFINITY;
    for (int i = first; i < first + per_class; i++) {
        double date = enough_at(&channels[i], bytes);
        channels[i].starved |= isinf(date);
        *when = earlier(*when, date);
    }
    return -1;
}

void pf_packet_channel_release(struct pf_packet_sim *sim, int32_t input, int channel, uint32_t bytes,
                               double date)
{
    int32_t output = sim->other[input];
    struct packet_channel *of = &sim->channel[(int64_t)output * sim->channels + channel];
    date += sim->fabric->ports[input].latency + sim->settings.credit_delay;
    if (of->first && of->last->date > date)
        date = of->last->date;
    struct packet_credit *credit = pf_pool_get(&sim->credits);
    *credit = (struct packet_credit){date, NULL, bytes};
    if (of->first)
        of->last->next = credit;
    else
        of->first = credit;
    of->last = credit;
    if (sim->routing->asks_again)
        pf_packet_events_post(&sim->events, date, true, (uintptr_t)sim->owner[output] << 3 | WHAT_ASK);
    if (!of->starved)
        return;
    of->starved = false;
    struct packet_output *o = &sim->outputs[output];
    o->next_try = earlier(o->next_try, date);
    pf_packet_wake(sim, sim->owner[output], date);
}

int64_t pf_packet_channel_taken(struct pf_packet_sim *sim, int32_t output, int vc)
{
    int per_class = sim->settings.channels;
    int64_t taken = 0;
    for (int i = 0; i < sim->channels; i++) {
        if (vc >= 0 && i / per_class % sim->classes != vc)
            continue;
        struct packet_channel *channel = &sim->channel[(int64_t)output * sim->channels + i];
        claim(sim, channel, sim->now);
        taken += sim->buffer[sim->other[output]] - channel->bytes;
    }
    return taken;
}

bool pf_packet_channel_is_full(struct pf_packet_sim *sim, int32_t output, int channel)
{
    struct packet_channel *of = &sim->channel[(int64_t)output * sim->channels + channel];
    claim(sim, of, INFINITY);
    return of->bytes == sim->buffer[sim->other[output]];
}
