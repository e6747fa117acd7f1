/* SPDX-License-Identifier: BSD-3-Clause */
/* Brings messages of a channel into the network in the order of their commands. */
#include "lowlevel/nic/channel.h"

#include "base/config.h"
#include "base/pairs.h"
#include "base/pool.h"
#include "lowlevel/nic/interface.h"
#include "lowlevel/nic/order.h"

/* By source and virtual network, and destination. */
static struct pf_pairs channels;
static struct pf_pool pool = PF_POOL(struct pf_nic_channel);

static struct pf_nic_channel *channel_of(int src, int dst, int vn)
{
    void **place =
        pf_pairs_get(&channels, (uint64_t)(uint32_t)src * PF_VN_COUNT + (unsigned int)vn, (uint32_t)dst);
    if (!*place) {
        struct pf_nic_channel *channel = pf_pool_get(&pool);
        *channel = (struct pf_nic_channel){.entries = &pf_nic_get(src)->entries};
        *place = channel;
    }
    return *place;
}

/* As many streams as may are on their way out. */
static bool is_full(const struct pf_nic_channel *channel)
{
    return pf_config.nic_streams > 0 && channel->leaving >= pf_config.nic_streams;
}

/* Something will advance the channel later, whatever becomes ready before. */
static bool is_blocked(const struct pf_nic_channel *channel)
{
    return channel->first && (is_full(channel) || channel->awaiting_credit || channel->awaiting_entry);
}

void pf_nic_channel_enter(struct pf_nic_message *m, struct pf_event_fifo *fifo)
{
    struct pf_nic_channel *channel = channel_of(pf_nic_node(m->src), pf_nic_node(m->dst), m->transfer.vn);
    m->channel = channel;
    m->sequence = channel->next_sequence++;
    m->ready = false;
    m->next = NULL;
    if (!is_blocked(channel))
        pf_engine_post_in(fifo, &m->event, m->ready_date);
    if (channel->last)
        channel->last->next = m;
    else
        channel->first = m;
    channel->last = m;
}

static void credit_returned(void *arg)
{
    struct pf_nic_channel *channel = arg;
    channel->awaiting_credit = false;
    pf_nic_channel_advance(channel);
}

/* The first message of the channel. One that came while the channel was blocked has no event yet. */
static bool is_ready(struct pf_nic_message *m)
{
    if (!m->ready && !pf_event_pending(&m->event)) {
        if (m->ready_date > pf_engine_now())
            pf_engine_post(&m->event, m->ready_date);
        else
            m->ready = true;
    }
    return m->ready;
}

/* Whether a message may enter the network now; if not, the channel is called when it is worth asking again.
 */
static bool may_enter(struct pf_nic_channel *channel, struct pf_nic_message *m)
{
    const struct pf_transfer *t = &m->transfer;
    if (is_full(channel) || channel->awaiting_credit || !is_ready(m))
        return false;
    /* One that is sent again has its entry: it must not wait for the others, which may wait for it. */
    if (pf_config.nic_e2e && !m->entry &&
        (channel->awaiting_entry || !pf_entries_may_enter(channel->entries, channel, pf_nic_channel_advance)))
        return false;
    if (pf_network_of(t)->can_inject(t->src, t->dst, t->vn, t->bytes, credit_returned, channel))
        return true;
    channel->awaiting_credit = true;
    return false;
}

/* The message enters the network: its place in the command queue is free, and so is its payload. */
static void call_entered(struct pf_nic_message *m)
{
    if (m->queue_count) {
        --*m->queue_count;
        m->queue_count = NULL;
        m->queue_moved(m);
    }
    if (m->transfer.streams)
        return;
    m->left_date = pf_engine_now();
    if (!m->source_read)
        m->client->buffered(m);
    m->source_read = true;
}

void pf_nic_channel_advance(struct pf_nic_channel *channel)
{
    struct pf_nic_message *m;
    if (channel->advancing)
        return; /* `sent` came in inject(): the loop below goes on */
    channel->advancing = true;
    while ((m = channel->first) && may_enter(channel, m)) {
        channel->first = m->next;
        if (!channel->first)
            channel->last = NULL;
        m->leaving = m->transfer.streams;
        channel->leaving += m->leaving;
        if (pf_config.nic_e2e && !m->entry)
            pf_entries_enter(channel->entries, m);
        call_entered(m);
        pf_order_enter(channel, m);
        pf_network_inject(&m->transfer);
    }
    channel->advancing = false;
}

void pf_nic_channel_ready(struct pf_nic_message *m)
{
    m->ready = true;
    pf_nic_channel_advance(m->channel);
}

void pf_nic_channel_insert(struct pf_nic_message *m)
{
    struct pf_nic_channel *channel = m->channel;
    struct pf_nic_message **link = &channel->first;
    while (*link && (*link)->sequence < m->sequence)
        link = &(*link)->next;
    m->ready = true;
    m->next = *link;
    *link = m;
    if (!m->next)
        channel->last = m;
}

void pf_nic_channel_left(struct pf_nic_message *m)
{
    struct pf_nic_channel *channel = m->channel;
    if (!m->leaving)
        return;
    m->leaving = false;
    channel->leaving--;
    pf_nic_channel_advance(channel);
}
