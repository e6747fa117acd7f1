/* SPDX-License-Identifier: BSD-3-Clause */
/* Acknowledges, counts and repeats messages between two NICs. */
#include "lowlevel/nic/e2e.h"

#include "base/config.h"
#include "base/pool.h"
#include "lowlevel/nic/channel.h"
#include "lowlevel/nic/entries.h"

/* A message that has been delivered, but whose source does not know: all that is sent again is its bytes. */
static struct pf_pool ghosts = PF_POOL(struct pf_nic_message);

static void time_out(struct pf_event *event);

/* To be sent again, in the order of sequence numbers. */
static void add_missing(struct pf_nic_message *m)
{
    struct pf_nic_channel *channel = m->channel;
    struct pf_nic_message **link = &channel->missing;
    while (*link && (*link)->sequence < m->sequence)
        link = &(*link)->next;
    m->next = *link;
    *link = m;
    double date = m->left_date + pf_config.nic_retry_timeout;
    channel->timer.fn = time_out;
    if (!pf_event_pending(&channel->timer) || date < channel->timer.date)
        pf_engine_post(&channel->timer, date);
}

static void give_up(struct pf_nic_message *m)
{
    pf_entries_release(m, pf_engine_now());
    if (m->ghost) {
        pf_pool_put(&ghosts, m);
        return;
    }
    pf_engine_cancel(&m->event);
    pf_engine_cancel(&m->tail);
    m->client->lost(m);
}

/*
 * The first of them is overdue: the source sends all again. It drops one whose tries are used up when the
 * target has received or skipped everything before it; the header of the next one makes the target skip
 * it.
 */
static void time_out(struct pf_event *event)
{
    struct pf_nic_channel *channel = pf_container_of(event, struct pf_nic_channel, timer);
    struct pf_nic_message *m = channel->missing, *next, **kept = &channel->missing;
    *kept = NULL;
    for (; m; m = next) {
        next = m->next;
        if (m->losses <= pf_config.nic_retries) {
            pf_nic_channel_insert(m);
            continue;
        }
        if (m->sequence == channel->expected)
            channel->expected++;
        if (m->sequence < channel->expected) {
            give_up(m);
            continue;
        }
        m->next = NULL;
        *kept = m;
        kept = &m->next;
    }
    if (channel->missing)
        pf_engine_post(&channel->timer, pf_engine_now() + pf_config.nic_retry_timeout);
    pf_nic_channel_advance(channel);
}

/* Sends the acknowledgement; false when it is lost. */
static bool acknowledge(struct pf_nic_message *m)
{
    double date =
        pf_config.nic_quick_acks
            ? pf_engine_now()
            : pf_network_of(&m->transfer)->acknowledge(&m->transfer, (double)pf_config.nic_e2e_ack_bytes);
    if (date < 0.0)
        return false;
    pf_entries_release(m, date);
    return true;
}

/* The message goes on to its client; in its place remains what the source will send again. */
static void leave_ghost(struct pf_nic_message *m)
{
    struct pf_nic_message *ghost = pf_pool_get(&ghosts);
    *ghost = *m;
    ghost->ghost = true;
    ghost->losses++;
    pf_event_init(&ghost->event, NULL);
    pf_event_init(&ghost->tail, NULL);
    pf_event_init(&ghost->transfer.event, NULL);
    ghost->queue_count = NULL;
    m->entry = NULL;
    m->window = NULL;
    add_missing(ghost);
}

bool pf_e2e_header(struct pf_nic_message *m)
{
    struct pf_nic_channel *channel = m->channel;
    bool next = m->sequence == channel->expected;
    if (next)
        channel->expected++;
    /* With several streams at once one may be cut when the headers of others have followed its own: then the
     * rest of it is no repetition. */
    m->in_order = next || (m->taken && !m->ghost);
    return m->in_order;
}

bool pf_e2e_tail(struct pf_nic_message *m)
{
    if (m->in_order) {
        if (!acknowledge(m))
            leave_ghost(m);
        return true;
    }
    bool gap = m->sequence >= m->channel->expected;
    if (!gap && acknowledge(m)) {
        pf_pool_put(&ghosts, m);
        return false;
    }
    if (!gap)
        m->losses++;
    add_missing(m);
    return false;
}

void pf_e2e_lost(struct pf_nic_message *m)
{
    if (m->taken && !m->ghost && m->sequence + 1 == m->channel->expected)
        m->channel->expected--; /* its header was there, but the rest is not */
    m->losses++;
    add_missing(m);
}
