/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the messages that wait for their acknowledgement, and the queue for room in it. */
#include "lowlevel/nic/entries.h"

#include "base/config.h"
#include "lowlevel/nic/channel.h"
#include "lowlevel/nic/window.h"

static bool has_room(struct pf_entries *table)
{
    if (table->held + (long)pf_dates_count(&table->acks) < pf_config.nic_e2e_entries)
        return true;
    return pf_dates_pass(&table->acks, pf_engine_now()) &&
           table->held + (long)pf_dates_count(&table->acks) < pf_config.nic_e2e_entries;
}

/* Those that wait are called when the next entry is free. */
static void arm(struct pf_entries *table)
{
    if (!table->waiting)
        return;
    if (has_room(table))
        pf_engine_post(&table->event, pf_engine_now());
    else if (pf_dates_count(&table->acks) > 0)
        pf_engine_post(&table->event, pf_dates_first(&table->acks));
}

static void entry_is_free(struct pf_event *event)
{
    struct pf_entries *table = pf_container_of(event, struct pf_entries, event);
    while (table->waiting && has_room(table)) {
        struct pf_nic_channel *channel = table->waiting;
        table->waiting = channel->next_waiting;
        channel->awaiting_entry = false;
        table->go(channel);
    }
    arm(table);
}

bool pf_entries_may_enter(struct pf_entries *table, struct pf_nic_channel *channel,
                          void (*go)(struct pf_nic_channel *channel))
{
    if (has_room(table))
        return true;
    channel->awaiting_entry = true;
    channel->next_waiting = NULL;
    if (table->waiting)
        table->last_waiting->next_waiting = channel;
    else
        table->waiting = channel;
    table->last_waiting = channel;
    table->event.fn = entry_is_free;
    table->go = go;
    arm(table);
    return false;
}

void pf_entries_enter(struct pf_entries *table, struct pf_nic_message *m)
{
    table->held++;
    m->entry = table;
}

void pf_entries_release(struct pf_nic_message *m, double date)
{
    struct pf_entries *table = m->entry;
    m->entry = NULL;
    table->held--;
    pf_dates_pass(&table->acks, pf_engine_now()); /* so that they stay as few as what is in flight */
    pf_dates_add(&table->acks, date);
    if (m->window)
        pf_window_leave(m, date);
    if (table->waiting)
        arm(table);
}
