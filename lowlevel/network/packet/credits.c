/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits of virtual channels. They are counted on demand: only a packet that waits for them makes an event
 * of their return.
 */
#include "lowlevel/network/packet/state.h"

static void forget_first(struct pf_packet_sim *sim, struct packet_credits *credits)
{
    struct packet_credit *last = credits->last, *first;
    if (!last) {
        credits->date = INFINITY;
        credits->returned = 0;
        return;
    }
    first = last->next;
    credits->date = first->date;
    credits->returned = first->bytes;
    credits->channel = first->channel;
    last->next = first->next;
    if (first == last)
        credits->last = NULL;
    pf_pool_put(&sim->later_credits, first);
}

static inline void claim(struct pf_packet_sim *sim, struct packet_credits *credits, double now)
{
    while (is_due(credits->date, now) && credits->returned > 0) {
        credits->room[credits->channel].taken -= credits->returned;
        forget_first(sim, credits);
    }
}

static inline int64_t room_of(const struct packet_credits *credits, int channel)
{
    return credits->buffer - credits->room[channel].taken;
}

/* When credits on their way will make `bytes`. */
static double enough_at(const struct packet_credits *credits, int channel, uint32_t bytes)
{
    int64_t sum = room_of(credits, channel);
    const struct packet_credit *credit = credits->last;
    if (credits->channel == (uint32_t)channel)
        sum += credits->returned;
    if (sum >= bytes)
        return credits->date;
    if (!credit)
        return INFINITY;
    do {
        credit = credit->next;
        sum += credit->channel == (uint32_t)channel ? credit->bytes : 0;
        if (sum >= bytes)
            return credit->date;
    } while (credit != credits->last);
    return INFINITY;
}

static inline int choose(struct pf_packet_sim *sim, int32_t output, int first, int end, uint32_t bytes,
                         double now, double *when)
{
    int best = -1;
    struct packet_credits *credits = credits_of(sim, output);
    claim(sim, credits, now);
    for (int i = first; i < end; i++)
        if (room_of(credits, i) >= bytes && (best < 0 || credits->room[i].taken < credits->room[best].taken))
            best = i;
    if (best >= 0)
        return best;
    *when = INFINITY;
    for (int i = first; i < end; i++) {
        double date = enough_at(credits, i, bytes);
        credits->room[i].starved |= isinf(date) != 0;
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
    struct packet_credits *credits = credits_of(sim, output);
    int best = -1;
    claim(sim, credits, now);
    for (int i = first; i < first + sim->settings.channels; i++)
        if (i != but && room_of(credits, i) >= bytes &&
            (best < 0 || credits->room[i].taken < credits->room[best].taken))
            best = i;
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
    struct packet_credits *credits = credits_of(sim, output);
    claim(sim, credits, now);
    if (room_of(credits, channel) >= bytes)
        return true;
    *when = enough_at(credits, channel, bytes);
    credits->room[channel].starved |= isinf(*when) != 0;
    return false;
}

/* Credits of one channel come back in the order in which they were given. Returns the date. */
static double append(struct pf_packet_sim *sim, struct packet_credits *credits, uint32_t channel,
                     uint32_t bytes, double date)
{
    struct packet_credit *last = credits->last, *before = last;
    if (credits->returned == 0) {
        credits->date = date;
        credits->returned = bytes;
        credits->channel = channel;
        return date;
    }
    if (credits->channel == channel)
        date = later(date, credits->date);
    for (struct packet_credit *c = last; c && date < last->date;) { /* most often it is the last one */
        c = c->next;
        if (c->channel == channel)
            date = later(date, c->date);
        if (c == last)
            break;
    }
    if (date < credits->date) { /* before the first one, which is another channel's */
        double first_date = credits->date;
        uint32_t first_bytes = credits->returned, first_channel = credits->channel;
        struct packet_credit *moved = pf_pool_get(&sim->later_credits);
        *moved = (struct packet_credit){first_date, last ? last->next : moved, first_bytes, first_channel};
        if (last)
            last->next = moved;
        else
            credits->last = moved;
        credits->date = date;
        credits->returned = bytes;
        credits->channel = channel;
        return date;
    }
    struct packet_credit *credit = pf_pool_get(&sim->later_credits);
    *credit = (struct packet_credit){date, credit, bytes, channel};
    if (last && date < last->date)
        while (before->next->date <= date)
            before = before->next;
    if (last) {
        credit->next = before->next;
        before->next = credit;
    }
    if (!last || date >= last->date)
        credits->last = credit;
    return date;
}

void pf_packet_channel_release(struct pf_packet_sim *sim, int32_t input, int channel, uint32_t bytes,
                               double date)
{
    const struct packet_input *in = &sim->inputs[input];
    int32_t output = in->output;
    struct packet_credits *credits = credits_of(sim, output);
    date = append(sim, credits, (uint32_t)channel, bytes, date + in->credit_time);
    if (sim->routing->asks_again)
        pf_packet_events_post(&sim->events, date, true,
                              (uintptr_t)sim->outputs[output].owner << 3 | WHAT_ASK);
    if (!credits->room[channel].starved)
        return;
    credits->room[channel].starved = false;
    sim->next_try[output] = earlier(sim->next_try[output], date);
    pf_packet_wake(sim, sim->outputs[output].owner, date);
}

int64_t pf_packet_channel_taken(struct pf_packet_sim *sim, int32_t output, int vc)
{
    int each = sim->settings.channels, step = vc < 0 ? each : each * sim->classes;
    int64_t taken = 0;
    struct packet_credits *credits = credits_of(sim, output);
    claim(sim, credits, sim->now);
    for (int first = vc < 0 ? 0 : vc * each; first < sim->channels; first += step)
        for (int i = first; i < first + each; i++)
            taken += credits->room[i].taken;
    return taken;
}

bool pf_packet_channel_is_full(struct pf_packet_sim *sim, int32_t output, int channel)
{
    struct packet_credits *credits = credits_of(sim, output);
    claim(sim, credits, INFINITY);
    return credits->room[channel].taken == 0;
}
