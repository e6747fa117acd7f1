/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits of virtual channels. They are counted on demand: only a packet that waits for them makes an event
 * of their return.
 */
#include "lowlevel/network/packet/state.h"

static void forget_first(struct pf_packet_sim *sim, struct packet_channel *channel)
{
    struct packet_credit *last = channel->last, *first;
    if (!last) {
        channel->date = INFINITY;
        channel->returned = 0;
        return;
    }
    first = last->next;
    channel->date = first->date;
    channel->returned = first->bytes;
    last->next = first->next;
    if (first == last)
        channel->last = NULL;
    pf_pool_put(&sim->credits, first);
}

static inline void claim(struct pf_packet_sim *sim, struct packet_channel *channel, double now)
{
    while (is_due(channel->date, now) && channel->returned > 0) {
        channel->bytes += channel->returned;
        forget_first(sim, channel);
    }
}

/* When credits on their way will make `bytes`. */
static double enough_at(const struct packet_channel *channel, uint32_t bytes)
{
    int64_t sum = channel->bytes + channel->returned;
    const struct packet_credit *credit = channel->last;
    if (sum >= bytes || !credit)
        return sum >= bytes ? channel->date : INFINITY;
    do {
        credit = credit->next;
        sum += credit->bytes;
        if (sum >= bytes)
            return credit->date;
    } while (credit != channel->last);
    return INFINITY;
}

static inline int choose(struct pf_packet_sim *sim, int32_t output, int first, int end, uint32_t bytes,
                         double now, double *when)
{
    int best = -1;
    struct packet_channel *channels = &sim->channel[(int64_t)output * sim->channels];
    for (int i = first; i < end; i++) {
        claim(sim, &channels[i], now);
        if (channels[i].bytes >= bytes && (best < 0 || channels[i].bytes > channels[best].bytes))
            best = i;
    }
    if (best >= 0)
        return best;
    *when = INFINITY;
    for (int i = first; i < end; i++) {
        double date = enough_at(&channels[i], bytes);
        channels[i].starved |= isinf(date);
        *when = earlier(*when, date);
    }
    return -1;
}

int pf_packet_channel_choose(struct pf_packet_sim *sim, int32_t output, int first, uint32_t bytes, double now,
                             double *when)
{
    return choose(sim, output, first, first + sim->settings.channels, bytes, now, when);
}

int pf_packet_channel_choose_other(struct pf_packet_sim *sim, int32_t output, int first, int but,
                                   uint32_t bytes, double now)
{
    struct packet_channel *channels = &sim->channel[(int64_t)output * sim->channels];
    int best = -1;
    for (int i = first; i < first + sim->settings.channels; i++) {
        claim(sim, &channels[i], now);
        if (i != but && channels[i].bytes >= bytes && (best < 0 || channels[i].bytes > channels[best].bytes))
            best = i;
    }
    return best;
}

int pf_packet_channel_choose_new(struct pf_packet_sim *sim, int32_t output, int first, uint32_t bytes,
                                 double now, double *when)
{
    return choose(sim, output, first, first + pf_packet_new_channels(sim), bytes, now, when);
}

bool pf_packet_channel_takes(struct pf_packet_sim *sim, int32_t output, int channel, uint32_t bytes,
                             double now, double *when)
{
    struct packet_channel *of = &sim->channel[(int64_t)output * sim->channels + channel];
    claim(sim, of, now);
    if (of->bytes >= bytes)
        return true;
    *when = enough_at(of, bytes);
    of->starved |= isinf(*when);
    return false;
}

static void append(struct pf_packet_sim *sim, struct packet_channel *channel, uint32_t bytes, double date)
{
    if (channel->returned == 0) {
        channel->date = date;
        channel->returned = bytes;
        return;
    }
    struct packet_credit *credit = pf_pool_get(&sim->credits), *last = channel->last;
    *credit = (struct packet_credit){date, last ? last->next : credit, bytes};
    if (last)
        last->next = credit;
    channel->last = credit;
}

void pf_packet_channel_release(struct pf_packet_sim *sim, int32_t input, int channel, uint32_t bytes,
                               double date)
{
    const struct packet_input *in = &sim->inputs[input];
    int32_t output = in->output;
    struct packet_channel *of = &sim->channel[(int64_t)output * sim->channels + channel];
    date += in->credit_time;
    if (of->returned > 0)
        date = later(date, of->last ? of->last->date : of->date);
    append(sim, of, bytes, date);
    if (sim->routing->asks_again)
        pf_packet_events_post(&sim->events, date, true,
                              (uintptr_t)sim->outputs[output].owner << 3 | WHAT_ASK);
    if (!of->starved)
        return;
    of->starved = false;
    sim->next_try[output] = earlier(sim->next_try[output], date);
    pf_packet_wake(sim, sim->outputs[output].owner, date);
}

int64_t pf_packet_channel_taken(struct pf_packet_sim *sim, int32_t output, int vc)
{
    int each = sim->settings.channels, step = vc < 0 ? each : each * sim->classes;
    int64_t full = sim->inputs[sim->outputs[output].input].buffer, taken = 0;
    struct packet_channel *channels = &sim->channel[(int64_t)output * sim->channels];
    for (int first = vc < 0 ? 0 : vc * each; first < sim->channels; first += step)
        for (int i = first; i < first + each; i++) {
            claim(sim, &channels[i], sim->now);
            taken += full - channels[i].bytes;
        }
    return taken;
}

bool pf_packet_channel_is_full(struct pf_packet_sim *sim, int32_t output, int channel)
{
    struct packet_channel *of = &sim->channel[(int64_t)output * sim->channels + channel];
    claim(sim, of, INFINITY);
    return of->bytes == sim->inputs[sim->outputs[output].input].buffer;
}
