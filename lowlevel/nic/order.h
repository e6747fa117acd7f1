/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/nic/channel.h"

/*
 * The headers of a channel are processed in the order in which its messages entered the network, also when
 * they take different networks. Each network keeps that order by itself; a message that is there before an
 * earlier one of another network waits at the target's interface until that has come or is lost. So only
 * the date of a message depends on its network: the message that waits pays.
 *
 * With one network nothing ever waits, and all that this costs is two counters.
 */

/* A message enters the network of its transfer. */
static inline void pf_order_enter(struct pf_nic_channel *channel, struct pf_nic_message *m)
{
    bool alone = channel->entered == channel->arrived;
    channel->mixed = !alone && (channel->mixed || channel->newest_network != m->transfer.network);
    channel->newest_network = m->transfer.network;
    m->turn = channel->entered++;
    m->under_way = true;
    m->held = false;
}

/* The slow path of pf_order_header: false when it has to wait. */
bool pf_order_hold(struct pf_nic_message *m);

/* Its header is at the target: may it be processed now? When not, pf_order_next() says when. */
static inline bool pf_order_header(struct pf_nic_message *m)
{
    if (__builtin_expect(m->channel->mixed, 0) && pf_order_hold(m))
        return false;
    m->channel->arrived++;
    m->under_way = false;
    return true;
}

/* Its last byte is at the target: the same question. */
static inline bool pf_order_tail(struct pf_nic_message *m)
{
    return __builtin_expect(!m->held, 1) || (m->held_tail = true, false);
}

/* The network has lost it, maybe after its header. */
void pf_order_lost(struct pf_nic_message *m);

/* After a header or a loss: the next message of the channel that need not wait any longer, NULL without one.
 */
struct pf_nic_message *pf_order_next(struct pf_nic_channel *channel);
