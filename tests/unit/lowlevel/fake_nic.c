/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/lowlevel/fake_nic.h"

#include <stdlib.h>

#include "lowlevel/platform/platform.h"
#include "lowlevel/trace/trace.h"

pf_self_t *fake_caller;
char fake_kinds[64];
size_t fake_payload[64];
int fake_count, fake_parks;

static const double clock;
struct pf_engine_state pf_engine_state = {.clock = &clock};
bool pf_chain_on;

static struct pf_nic_message *first, **last = &first;
static struct pf_waiter *parked;

void *sg_actor_self_get_data(void)
{
    return fake_caller;
}

static void append(struct pf_nic_message *m)
{
    static const char letters[] = {
        [PF_NIC_PUT] = 'P', [PF_NIC_GET] = 'G', [PF_NIC_REPLY] = 'R', [PF_NIC_ACK] = 'A'};
    if (fake_count < 63) {
        fake_payload[fake_count] = m->payload;
        fake_kinds[fake_count++] = letters[m->kind];
    }
    m->next = NULL;
    *last = m;
    last = &m->next;
}

void fake_forget(void)
{
    for (int i = 0; i < 64; i++)
        fake_kinds[i] = 0;
    fake_count = fake_parks = 0;
}

bool fake_carry_out(void)
{
    struct pf_nic_message *m = first;
    if (!m)
        return false;
    first = m->next;
    if (!first)
        last = &first;
    if (m->queue_count) {
        --*m->queue_count;
        m->queue_count = NULL;
        m->queue_moved(m);
    }
    m->client->match(m);
    if (m->payload > 0 && !m->in_command)
        m->client->sent(m);
    m->done_date = 0;
    m->client->complete(m);
    return true;
}

void fake_carry_out_all(void)
{
    while (fake_carry_out())
        ;
}

struct pf_nic *pf_nic_get(int node)
{
    (void)node;
    return NULL;
}

bool pf_nic_serves(int rank)
{
    (void)rank;
    return false;
}

double pf_nic_event_date(struct pf_nic *nic, double date)
{
    (void)nic;
    return date;
}

bool pf_nic_in_command(size_t payload, bool matching, bool is_volatile)
{
    (void)matching, (void)is_volatile;
    return payload <= 100;
}

void pf_nic_command(struct pf_nic_message *m, bool free_command)
{
    (void)free_command;
    append(m);
}

void pf_nic_submit(struct pf_nic_message *m, double date)
{
    (void)date;
    append(m);
}

void pf_trace_process(const pf_self_t *self)
{
    (void)self;
}

int pf_platform_node(sg_host_t host)
{
    (void)host;
    return 0;
}

void pf_engine_start(void)
{
}

double pf_engine_actor_now(void)
{
    return 0;
}

void pf_engine_post_in(struct pf_event_fifo *fifo, struct pf_event *event, double date)
{
    (void)fifo, (void)date;
    event->fn(event);
}

void pf_waiter_init(struct pf_waiter *waiter)
{
    *waiter = (struct pf_waiter){0};
}

void pf_waiter_park(struct pf_waiter *waiter)
{
    fake_parks++;
    parked = waiter;
    while (parked)
        if (!fake_carry_out())
            abort(); /* it would sleep for ever */
}

void pf_waiter_wake(struct pf_waiter *waiter)
{
    if (parked == waiter)
        parked = NULL;
}

struct pf_chain *pf_chain_copy(void)
{
    return NULL;
}

void pf_chain_free(struct pf_chain **path)
{
    *path = NULL;
}

void pf_chain_meet(pf_self_t *self, const struct pf_chain *path, double now)
{
    (void)self, (void)path, (void)now;
}
