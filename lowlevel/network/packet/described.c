/* SPDX-License-Identifier: BSD-3-Clause */
/* The packet network of a platform that is known by its routers and links, such as the built-in ones. */
#include "lowlevel/network/packet/described.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/platform/platform.h"

static struct {
    char text[160];
    struct pf_fabric_speeds links;
} described;

void pf_network_describe(const char *text, const struct pf_fabric_speeds *links)
{
    snprintf(described.text, sizeof described.text, "%s", text);
    described.links = *links;
}

bool pf_network_described(const char **text, struct pf_fabric_speeds *links)
{
    *text = described.text;
    *links = described.links;
    return *described.text;
}

bool pf_packet_is_described(void)
{
    return *described.text;
}

void pf_packet_described_check(void)
{
    if (!pf_packet_is_described() && strcmp(pf_config.net_routing, "minimal") != 0)
        pf_die("%s: routing %s needs a built-in platform (-platform fattree, star, torus or dragonfly, each "
               "with :HOSTS); on a platform file packets take SimGrid's routes, which is minimal",
               pf_config_given("net_routing"), pf_config.net_routing);
}

static struct pf_routing_settings routing_settings(void)
{
    return (struct pf_routing_settings){
        .seed = (uint64_t)pf_config.net_seed,
        .ugal_threshold = pf_config.net_ugal_threshold,
        .ugal_bias = pf_config.net_ugal_bias,
        .ugal_candidates = (int)pf_config.net_ugal_candidates,
        .intermediate_is_group = strcmp(pf_config.net_intermediate, "group") == 0,
        .in_order = strcmp(pf_config.net_routing, "minimal") == 0,
    };
}

/* Part of each router's links' latency is its own. Where nodes' links take no time hosts are the routers,
 * and a route has as many links as routers less one: then the router takes none. */
static void split_latency(struct pf_fabric *f, double router_latency)
{
    int32_t ports = f->first_port[f->routers];
    for (int32_t port = 0; port < ports; port++)
        if (f->ports[port].peer >= 0)
            router_latency = fmin(router_latency, f->ports[port].latency);
    for (int32_t port = 0; port < ports; port++)
        f->ports[port].latency -= router_latency;
    f->router_latency += router_latency;
}

static void limit(struct pf_fabric *f, int32_t port, double bus)
{
    f->ports[port].rate = fmin(f->ports[port].rate, bus);
}

static void number_nodes(struct pf_packet_platform *of)
{
    of->node_count = pf_platform_node_count();
    if (of->node_count != of->fabric->nodes)
        pf_die("network packet: the platform has %d hosts, and its description '%s' has %d", of->node_count,
               described.text, of->fabric->nodes);
    of->node_of = pf_calloc((size_t)of->node_count + 1, sizeof *of->node_of);
    for (int32_t n = 0; n < of->node_count; n++)
        of->node_of[n] = n;
}

void pf_packet_described_make(struct pf_packet_platform *of, double router_latency, double bus)
{
    const struct pf_routing_settings settings = routing_settings();
    char error[300];
    struct pf_fabric *f = pf_fabric_make(described.text, &described.links, error, sizeof error);
    if (!f)
        pf_die("network packet: %s", error);
    of->fabric = f;
    of->bus = bus;
    number_nodes(of);
    split_latency(f, router_latency);
    for (int32_t port = f->first_port[f->routers]; port < f->first_port[f->routers + f->nodes]; port++) {
        limit(f, port, bus);
        limit(f, f->first_port[f->ports[port].peer] + f->ports[port].peer_port, bus);
    }
    if (!pf_routing_open(&of->routing, pf_config.net_routing, f, &settings, error, sizeof error))
        pf_die("%s: %s", pf_config_given("net_routing"), error);
}
