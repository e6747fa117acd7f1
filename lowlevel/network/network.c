/* SPDX-License-Identifier: BSD-3-Clause */
#include "lowlevel/network/network.h"

#include <string.h>

#include "base/config.h"
#include "base/log.h"

static const struct pf_network_ops *in_force;
static struct pf_event clock_event;

bool pf_network_no_limit(int src, int dst, int vn, double bytes, void (*credit)(void *arg), void *arg)
{
    (void)src, (void)dst, (void)vn, (void)bytes, (void)credit, (void)arg;
    return true;
}

double pf_network_no_event(void)
{
    return -1.0;
}

void pf_network_no_advance(double date)
{
    (void)date;
}

double pf_network_plain_acknowledge(const struct pf_transfer *t, double bytes)
{
    struct pf_route_info way;
    in_force->route_info(t->dst, t->src, &way);
    return pf_engine_now() + way.latency + bytes / way.bandwidth;
}

void pf_network_use(const struct pf_network_ops *ops)
{
    if (ops->size < sizeof *ops)
        pf_die("network \"%s\" was built for another version of Parfocal", ops->name);
    in_force = ops;
}

const struct pf_network_ops *pf_network(void)
{
    if (in_force)
        return in_force;
    pf_config_load();
    in_force = strcmp(pf_config.net_model, "ideal") == 0 ? &pf_network_ideal : &pf_network_flow;
    return in_force;
}

static void arm_clock(void)
{
    double date = in_force->next_event();
    if (date >= 0.0)
        pf_engine_post(&clock_event, date);
}

static void clock_rings(struct pf_event *event)
{
    (void)event;
    in_force->advance_to(pf_engine_now());
    arm_clock();
}

void pf_network_inject(struct pf_transfer *t)
{
    const struct pf_network_ops *network = pf_network();
    t->start = pf_engine_now();
    network->inject(t);
    if (network->next_event == pf_network_no_event)
        return;
    clock_event.fn = clock_rings;
    arm_clock();
}
