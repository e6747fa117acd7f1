/* SPDX-License-Identifier: BSD-3-Clause */
/* SimGrid's routes; C++, because a missing one is an exception. */
#include "adapters/analytic/cost/platform_route.h"

#include <stdexcept>
#include <unordered_map>
#include <vector>

extern "C" {
#include "base/log.h"
}

#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <xbt/config.h>

/* The route that was asked for last: mostly its links are asked for next. */
static struct {
    sg_host_t from, to;
    std::vector<simgrid::s4u::Link *> links;
    double latency;
} last;

static void ask(sg_host_t from, sg_host_t to)
{
    if (last.from == from && last.to == to)
        return;
    last.from = last.to = nullptr;
    last.links.clear();
    last.latency = 0;
    from->route_to(to, last.links, &last.latency);
    last.from = from;
    last.to = to;
}

/* Adds up latencies and looks for the slowest link; false when the platform names no link. */
static bool route(sg_host_t from, sg_host_t to, double *latency, double *bandwidth)
{
    try {
        ask(from, to);
    } catch (const std::exception &) {
        return false;
    }
    *latency = last.latency;
    for (size_t i = 0; i < last.links.size(); i++)
        if (i == 0 || last.links[i]->get_bandwidth() < *bandwidth)
            *bandwidth = last.links[i]->get_bandwidth();
    return !last.links.empty();
}

void pf_cost_platform_route(void *context, int src_node, int dst_node, double *latency, double *bandwidth)
{
    const sg_host_t *hosts = static_cast<const sg_host_t *>(context);
    sg_host_t from = hosts[src_node], to = hosts[dst_node];
    if (route(from, to, latency, bandwidth))
        return;
    if (src_node != dst_node)
        pf_die("the platform has no route from host %s to host %s", from->get_cname(), to->get_cname());
    /* What SimGrid's network models use where a host has no loopback of its own. */
    *latency = sg_cfg_get_double("network/loopback-lat");
    *bandwidth = sg_cfg_get_double("network/loopback-bw");
}

/* Links get their numbers in the order in which paths are asked for. A fat pipe is not shared. */
int pf_cost_platform_links(void *context, int src_node, int dst_node, struct pf_cost_link *out, int room)
{
    static std::unordered_map<const simgrid::s4u::Link *, int> numbers;
    const sg_host_t *hosts = static_cast<const sg_host_t *>(context);
    int count = 0;
    ask(hosts[src_node], hosts[dst_node]);
    for (const auto *link : last.links) {
        if (link->get_sharing_policy() == simgrid::s4u::Link::SharingPolicy::FATPIPE)
            continue;
        int next = static_cast<int>(numbers.size()), number = numbers.emplace(link, next).first->second;
        if (count < room)
            out[count] = {number, link->get_bandwidth()};
        count++;
    }
    return count;
}
