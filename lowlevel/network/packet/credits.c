/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits of virtual channels. They are counted when somebody looks: only a packet that waits for them makes
 * an event of their return.
 */
#include "lowlevel/network/packet/state.h"

static void claim(struct pf_packet_sim *sim, struct packet_lane *lane, double now)
{
    while (lane->first && is_due(lane->first->date, now)) {
        struct packet_credit *credit = lane->first;
        lane->bytes += credit->bytes;
        lane->first = credit->next;
        pf_pool_put(&sim->credits, credit);
    }
}

/* When credits on their way will make `bytes`. */
static double enough_at(const struct packet_lane *lane, uint32_t bytes)
{
    int64_t sum = lane->bytes;
    for (const struct packet_credit *credit = lane->first; credit; credit = credit->next) {
        sum += credit->bytes;
        if (sum >= bytes)
            return credit->date;
    }
    return INFINITY;
}

int pf_packet_lane_choose(struct pf_packet_sim *sim, int32_t output, int virtual_network, int vc,
                          uint32_t bytes, double now, double *when)
{
    int channels = sim->settings.channels, best = -1;
    int first = (virtual_network * sim->classes + vc) * channels;
    struct packet_lane *lanes = &sim->lane[(int64_t)output * sim->lanes];
    for (int i = first; i < first + channels; i++) {
        claim(sim, &lanes[i], now);
        if (lanes[i].bytes >= bytes && (best < 0 || lanes[i].bytes > lanes[best].bytes))
            best = i;
    }
    if (best >= 0)
        return best;
    *when = INFINITY;
    for (int i = first; i < first + channels; i++) {
        double date = enough_at(&lanes[i], bytes);
        lanes[i].starved |= isinf(date);
        *when = fmin(*when, date);
    }
    return -1;
}

void pf_packet_lane_release(struct pf_packet_sim *sim, int32_t input, int lane, uint32_t bytes, double date)
{
    int32_t output = sim->other[input];
    struct packet_lane *l = &sim->lane[(int64_t)output * sim->lanes + lane];
    date += sim->fabric->ports[input].latency + sim->settings.credit_delay;
    if (l->first && l->last->date > date)
        date = l->last->date;
    struct packet_credit *credit = pf_pool_get(&sim->credits);
    *credit = (struct packet_credit){date, NULL, bytes};
    if (l->first)
        l->last->next = credit;
    else
        l->first = credit;
    l->last = credit;
    if (sim->routing->asks_again)
        pf_packet_events_post(&sim->events, date, true, (uintptr_t)sim->owner[output] << 3 | WHAT_ASK);
    if (!l->starved)
        return;
    l->starved = false;
    struct packet_output *o = &sim->outputs[output];
    o->next_try = fmin(o->next_try, date);
    pf_packet_wake(sim, sim->owner[output], date);
}

int64_t pf_packet_lane_taken(struct pf_packet_sim *sim, int32_t output, int vc)
{
    int channels = sim->settings.channels;
    int64_t taken = 0;
    for (int i = 0; i < sim->lanes; i++) {
        if (vc >= 0 && i / channels % sim->classes != vc)
            continue;
        struct packet_lane *lane = &sim->lane[(int64_t)output * sim->lanes + i];
        claim(sim, lane, sim->now);
        taken += sim->buffer[sim->other[output]] - lane->bytes;
    }
    return taken;
}

bool pf_packet_lane_is_full(struct pf_packet_sim *sim, int32_t output, int lane)
{
    struct packet_lane *l = &sim->lane[(int64_t)output * sim->lanes + lane];
    claim(sim, l, INFINITY);
    return l->bytes == sim->buffer[sim->other[output]];
}
