/* SPDX-License-Identifier: BSD-3-Clause */
/* The platform's routes, from SimGrid. */
#include "adapters/analytic/cost/routes/platform_route.h"

#include <math.h>
#include <stdlib.h>

#include <simgrid/host.h>
#include <xbt/config.h>

#include "base/log.h"
#include "lowlevel/engine/engine.h"
#include "lowlevel/platform/platform.h"

static void link_changed(int link)
{
    pf_die(
        "link %s changes at %.9g s (a profile, or the program), and model analytic prices links as they are "
        "at the beginning; smpi, portals and packet follow",
        pf_platform_link_name(link), pf_engine_now());
}

/* The last route: its links are usually looked up next. */
static struct {
    int from, to; /* 0: none; else plus 1 */
    struct pf_platform_route route;
} last;

static bool ask(int from, int to)
{
    if (last.from == from + 1 && last.to == to + 1)
        return true;
    last.from = 0;
    free(last.route.links);
    last.route.links = NULL;
    if (!pf_platform_find_route(from, to, &last.route))
        return false;
    pf_platform_on_change(link_changed);
    last.from = from + 1;
    last.to = to + 1;
    return true;
}

void pf_cost_platform_route(void *context, int src_node, int dst_node, double *latency, double *bandwidth)
{
    const int *hosts = context;
    int from = hosts[src_node], to = hosts[dst_node];
    if (!ask(from, to)) {
        if (src_node != dst_node)
            pf_die("the platform has no route from host %s to host %s",
                   sg_host_get_name(pf_platform_host(from)), sg_host_get_name(pf_platform_host(to)));
        /* What SimGrid's network models use where a host has no loopback of its own. */
        *latency = sg_cfg_get_double("network/loopback-lat");
        *bandwidth = sg_cfg_get_double("network/loopback-bw");
        return;
    }
    *latency = last.route.latency;
    *bandwidth = INFINITY;
    for (int i = 0; i < last.route.count; i++)
        *bandwidth = fmin(*bandwidth, pf_platform_link_state(last.route.links[i])->bandwidth);
}

/* A fat pipe is not shared. */
int pf_cost_platform_links(void *context, int src_node, int dst_node, struct pf_cost_link *out, int room)
{
    const int *hosts = context;
    int count = 0;
    if (!ask(hosts[src_node], hosts[dst_node]))
        return 0;
    for (int i = 0; i < last.route.count; i++) {
        const struct pf_platform_link *link = pf_platform_link_state(last.route.links[i]);
        if (!link->shared)
            continue;
        if (count < room)
            out[count] = (struct pf_cost_link){last.route.links[i], link->bandwidth};
        count++;
    }
    return count;
}
