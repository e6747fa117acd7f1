/* SPDX-License-Identifier: BSD-3-Clause */
/* Which networks there are, and the clocks of those that have their own. */
#include "lowlevel/network/network.h"

#include <string.h>

#include "base/config.h"
#include "base/log.h"

/* A new one is a row here. */
static const struct pf_network_ops *const known[] = {&pf_network_flow, &pf_network_ideal, &pf_network_packet,
                                                     &pf_network_external, &pf_network_ends};
#define KNOWN ((int)(sizeof known / sizeof known[0]))
_Static_assert(sizeof known / sizeof known[0] <= (size_t)PF_NETWORK_LIMIT, "more networks than numbers");

/* The default one comes first, then the others in the order of the table. */
static const struct pf_network_ops *in_force[PF_NETWORK_LIMIT];
static const char *names[PF_NETWORK_LIMIT];

static struct clock {
    struct pf_event event;
    int number;
} clocks[PF_NETWORK_LIMIT];

double pf_network_plain_acknowledge(const struct pf_transfer *t, double bytes)
{
    struct pf_route_info way;
    pf_network_of(t)->route_info(t->dst, t->src, &way);
    return pf_engine_now() + way.latency + bytes / way.bandwidth;
}

static void look_up(void)
{
    pf_config_load();
    int count = 1;
    for (int i = 0; i < KNOWN; i++) {
        size_t length = strcspn(pf_config.net_model, ":"); /* an address may follow */
        bool configured =
            strlen(known[i]->name) == length && strncmp(known[i]->name, pf_config.net_model, length) == 0;
        int number = configured ? PF_NETWORK_DEFAULT : count++;
        names[number] = known[i]->name;
        in_force[number] = known[i];
    }
}

const struct pf_network_ops *pf_network_get(int number)
{
    if (!in_force[PF_NETWORK_DEFAULT])
        look_up();
    return number < PF_NETWORK_LIMIT ? in_force[number] : NULL;
}

void pf_network_replace(int number, const struct pf_network_ops *ops)
{
    if (ops->size < sizeof *ops)
        pf_die("network \"%s\" was built for another version of Parfocal", ops->name);
    pf_network_get(number);
    in_force[number] = ops;
}

int pf_network_find(const char *name)
{
    for (int i = 0; pf_network_get(i); i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

void pf_network_use(const struct pf_network_ops *ops)
{
    pf_network_replace(PF_NETWORK_DEFAULT, ops);
}

const struct pf_network_ops *pf_network(void)
{
    return pf_network_get(PF_NETWORK_DEFAULT);
}

const struct pf_network_ops *pf_network_of(const struct pf_transfer *t)
{
    const struct pf_network_ops *network = in_force[t->network];
    return network ? network : pf_network_get(t->network);
}

static void arm_clock(struct clock *clock)
{
    double date = in_force[clock->number]->next_event();
    if (date >= 0.0)
        pf_engine_post(&clock->event, date);
}

static void clock_rings(struct pf_event *event)
{
    struct clock *clock = pf_container_of(event, struct clock, event);
    in_force[clock->number]->advance_to(pf_engine_now());
    arm_clock(clock);
}

static uint8_t protocol_of(uint8_t kind)
{
    static const uint8_t protocols[] = {
        [PF_TRANSFER_PUT] = PF_CHAIN_PUT,           [PF_TRANSFER_GET] = PF_CHAIN_GET,
        [PF_TRANSFER_ATOMIC] = PF_CHAIN_ATOMIC,     [PF_TRANSFER_FETCH] = PF_CHAIN_ATOMIC,
        [PF_TRANSFER_SWAP] = PF_CHAIN_ATOMIC,       [PF_TRANSFER_REPLY] = PF_CHAIN_REPLY,
        [PF_TRANSFER_FETCH_REPLY] = PF_CHAIN_REPLY, [PF_TRANSFER_SWAP_REPLY] = PF_CHAIN_REPLY,
        [PF_TRANSFER_ACK] = PF_CHAIN_CONTROL,       [PF_TRANSFER_E2E_ACK] = PF_CHAIN_CONTROL,
    };
    return kind < sizeof protocols ? protocols[kind] : PF_CHAIN_CONTROL;
}

/* The latency of the empty way is known; all else is for the bytes and for waiting. Another process, which
 * would have to be asked, is not. */
void pf_network_travelled(const struct pf_transfer *t)
{
    const struct pf_network_ops *network = pf_network_of(t);
    if (!t->path)
        return;
    struct pf_chain *path = pf_chain_duplicate(t->path);
    struct pf_route_info way = {0};
    if (strcmp(network->name, pf_network_external.name) != 0)
        network->route_info(t->src, t->dst, &way);
    double now = pf_engine_now();
    pf_chain_carry(path, &(struct pf_chain_message){.from = t->src,
                                                    .to = t->dst,
                                                    .link = t->waited_at,
                                                    .routes = t->routes,
                                                    .protocol = protocol_of(t->kind),
                                                    .size = pf_chain_size(t->bytes)});
    pf_chain_extend(path, t->start + way.latency < now ? t->start + way.latency : now, PF_CHAIN_LATENCY);
    pf_chain_extend(path, now, PF_CHAIN_TRANSFER);
    pf_chain_enter(path);
    pf_chain_drop(&path);
}

void pf_network_inject(struct pf_transfer *t)
{
    const struct pf_network_ops *network = pf_network_of(t);
    t->start = pf_engine_now();
    if (__builtin_expect(pf_chain_on, 0)) {
        t->waited_at = PF_CHAIN_SLOWEST;
        t->routes = PF_CHAIN_BY_PLATFORM;
        pf_chain_drop(&t->path);
        t->path = pf_chain_copy();
    }
    network->inject(t);
    if (network->next_event == pf_network_no_event)
        return;
    struct clock *clock = &clocks[t->network];
    clock->event.fn = clock_rings;
    clock->number = t->network;
    arm_clock(clock);
}
