/* SPDX-License-Identifier: BSD-3-Clause */
/* A link, from the output that a packet leaves by to the input that it comes to. */
#include "lowlevel/network/packet/state.h"

bool pf_packet_is_cut(const struct pf_packet_sim *sim, int32_t output, double sent)
{
    return (sim->fabric->down || sim->has_cuts) &&
           (!sim->fabric->up[output] || sim->outputs[output].down_at >= sent);
}

/* A flit that a faster crossbar has brought between two cycles of the link waits for the next one. */
static double next_slot(const struct pf_packet_sim *sim, double date)
{
    const double rounding = 1e-6;
    return sim->slot > 0.0 ? later(sim->slot * ceil(date / sim->slot - rounding), date) : date;
}

/* What is behind it at its node is of the same message. */
static void note_wait(const struct pf_packet_sim *sim, const struct pf_packet *p, int32_t output,
                      double leave)
{
    struct pf_packet_message *m = p->message;
    double waits = is_at_router(sim, output) ? leave - p->ready : p->is_first ? leave - m->start : 0.0;
    if (waits > m->waited) {
        m->waited = waits;
        m->waited_at = output;
    }
}

void pf_packet_launch(struct pf_packet_sim *sim, struct pf_packet *p, int32_t output, int channel,
                      double start, int shares)
{
    struct packet_output *o = &sim->outputs[output];
    int32_t input = o->input;
    double time = p->bytes * o->byte_time;
    double leave = shares > 1 ? start : next_slot(sim, later(start, o->link_free)), head = leave + o->latency;
    if (__builtin_expect(sim->statistics != NULL, 0))
        pf_packet_statistics_leaves(sim, output, channel, p->bytes,
                                    is_at_router(sim, output) ? p->ready : p->message->start, leave);
    if (__builtin_expect(sim->settings.notes_waits, 0))
        note_wait(sim, p, output, leave);
    if (start >= o->free_at) {
        o->channel = (uint32_t)channel & (CHANNELS_LIMIT - 1);
        o->is_passable = !is_short(sim, p);
    }
    o->free_at = later(start, o->free_at) + time / sim->settings.crossbar_speedup;
    o->link_free = later(leave, o->link_free) + time;
    o->packets++;
    o->bytes += p->bytes;
    credits_of(sim, output)->room[channel].taken += p->bytes;
    sim->counts.hops++;
    p->channel = (uint32_t)channel & (CHANNELS_LIMIT - 1);
    p->port = input;
    p->ready = leave;
    if (time <= 0.0) /* nothing waits on a link of any rate: the rest follows as it comes in */
        time = later(p->tail - leave, 0.0);
    p->tail = head + shares * time;
    if (is_at_router(sim, input)) {
        double date = head + sim->router_latency;
        p->tail += sim->router_latency;
        if (__builtin_expect(sim->settings.flit_bytes > 0, 0)) {
            date = pf_packet_stages_arrival(sim, p, input, date);
            p->tail = date + time;
        }
        date -= p->is_head ? sim->lead : 0.0;
        pf_packet_events_post(&sim->events, date, false, (uintptr_t)p | WHAT_PACKET);
        return;
    }
    pf_packet_channel_release(sim, input, channel, p->bytes, head); /* a node takes what comes as it comes */
    if (p->is_first && p->message->streams) {
        pf_packet_events_post(&sim->events, head, false, (uintptr_t)p | WHAT_HEAD);
    } else {
        pf_packet_events_post(&sim->events, p->tail, false, (uintptr_t)p | WHAT_TAIL);
    }
}
