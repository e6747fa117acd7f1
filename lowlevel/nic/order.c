/* SPDX-License-Identifier: BSD-3-Clause */
/* Restores the order of headers that came by different networks. */
#include "lowlevel/nic/order.h"

#include "base/pool.h"

/* A turn that has come too early: of a message that waits, or of one that was lost (m is NULL). */
struct pf_nic_early {
    struct pf_nic_early *next; /* with a later turn */
    uint64_t turn;
    struct pf_nic_message *m;
};
static struct pf_pool earlies = PF_POOL(struct pf_nic_early);

static void keep(struct pf_nic_channel *channel, uint64_t turn, struct pf_nic_message *m)
{
    struct pf_nic_early **link = &channel->early, *early = pf_pool_get(&earlies);
    while (*link && (*link)->turn < turn)
        link = &(*link)->next;
    *early = (struct pf_nic_early){*link, turn, m};
    *link = early;
}

/* Everything before it has come, or has been lost. In a channel that was not mixed, losses may have come in
 * any order: those are counted, and what is left keeps its order by itself. */
static bool has_turn(const struct pf_nic_channel *channel, uint64_t turn)
{
    return turn <= channel->arrived;
}

bool pf_order_hold(struct pf_nic_message *m)
{
    if (has_turn(m->channel, m->turn))
        return false;
    m->held = true;
    m->held_tail = false;
    keep(m->channel, m->turn, m);
    return true;
}

void pf_order_lost(struct pf_nic_message *m)
{
    struct pf_nic_channel *channel = m->channel;
    if (!m->under_way)
        return;
    m->under_way = false;
    if (m->held) {
        struct pf_nic_early *early = channel->early;
        while (early->m != m)
            early = early->next;
        early->m = NULL;
        m->held = false;
    } else if (!channel->mixed || has_turn(channel, m->turn)) {
        channel->arrived++;
    } else {
        keep(channel, m->turn, NULL);
    }
}

struct pf_nic_message *pf_order_next(struct pf_nic_channel *channel)
{
    struct pf_nic_message *m = NULL;
    while (!m && channel->early && has_turn(channel, channel->early->turn)) {
        struct pf_nic_early *early = channel->early;
        channel->early = early->next;
        channel->arrived++;
        m = early->m;
        pf_pool_put(&earlies, early);
    }
    if (m)
        m->under_way = m->held = false;
    return m;
}
