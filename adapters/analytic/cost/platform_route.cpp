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

/* Adds up latencies and looks for the slowest link; false when the platform names no link. */
static bool route(sg_host_t from, sg_host_t to, double *latency, double *bandwidth)
{
    std::vector<simgrid::s4u::Link *> links;
    *latency = 0;
    try {
        from->route_to(to, links, latency);
    } catch (const std::exception &) {
        return false;
    }
    for (size_t i = 0; i < links.size(); i++)
        if (i == 0 || links[i]->get_bandwidth() < *bandwidth)
            *bandwidth = links[i]->get_bandwidth();
    return !links.empty();
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
    std::vector<simgrid::s4u::Link *> links;
    double latency = 0;
    int count = 0;
    hosts[src_node]->route_to(hosts[dst_node], links, &latency);
    for (const auto *link : links) {
        if (link->get_sharing_policy() == simgrid::s4u::Link::SharingPolicy::FATPIPE)
            continue;
        int next = static_cast<int>(numbers.size()), number = numbers.emplace(link, next).first->second;
        if (count < room)
            out[count] = {number, link->get_bandwidth()};
        count++;
    }
    return count;
}
