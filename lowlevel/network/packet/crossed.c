/* SPDX-License-Identifier: BSD-3-Clause */
/* The links of routes, for critical paths. */
#include "lowlevel/network/packet/crossed.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/network/packet/described.h"
#include "lowlevel/network/packet/link_names.h"
#include "lowlevel/platform/platform.h"

enum { KEPT = 1 << 12, MORE = 2 }; /* routes; links that may be added to one */

static struct route {
    int32_t from, to;
    uint8_t routes;
    bool back, known;
    int count, there; /* links; of them on the way there */
    int slowest;      /* the first of those */
    struct pf_chain_link *links;
} routes[KEPT];

static struct {
    struct pf_fabric *fabric;
    int *port_of; /* of a platform's link plus 1, 0: unknown, -1: it has several */
    int link_count;
    struct route *fills;
    double least_rate;
    bool closed;
} all;

static void add(struct route *route, int kind, int number, double latency, double rate)
{
    route->links = pf_reallocarray(route->links, (size_t)route->count + 1 + MORE, sizeof *route->links);
    if (route->count == 0 || rate < all.least_rate) {
        all.least_rate = rate;
        route->slowest = route->count;
    }
    route->links[route->count++] = (struct pf_chain_link){kind, number, latency};
}

static struct pf_fabric *fabric(void)
{
    char error[300];
    const char *text;
    struct pf_fabric_speeds speeds;
    if (!all.fabric && pf_network_described(&text, &speeds))
        all.fabric = pf_fabric_make(text, &speeds, error, sizeof error);
    return all.fabric;
}

static void add_port(void *context, int32_t port)
{
    const struct pf_fabric *f = context;
    bool at_router = port < f->first_port[f->routers];
    add(all.fills, PF_CHAIN_LINK_PORT, port, f->ports[port].latency + (at_router ? f->router_latency : 0),
        f->ports[port].rate);
}

/* The platform's links between two hosts have the names of the description's, which pictures have, where the
 * routes agree. */
struct naming {
    const struct pf_platform_route *route;
    int at, ports;
};

static void count_port(void *context, int32_t port)
{
    struct naming *naming = context;
    naming->ports++;
}

static void name_port(void *context, int32_t port)
{
    struct naming *naming = context;
    int link = naming->route->links[naming->at++];
    PF_ARRAY_REACH(all.port_of, all.link_count, link);
    int *known = &all.port_of[link];
    *known = *known == 0 || *known == port + 1 ? port + 1 : -1;
}

static void note_names(int from, int to, const struct pf_platform_route *route)
{
    struct naming naming = {route, 0, 0};
    if (!fabric())
        return;
    pf_fabric_route(fabric(), (uint64_t)pf_config.net_seed, from, to, count_port, &naming);
    if (naming.ports == route->count)
        pf_fabric_route(fabric(), (uint64_t)pf_config.net_seed, from, to, name_port, &naming);
}

static void add_way(struct route *route, int from, int to)
{
    struct pf_platform_route links;
    all.fills = route;
    if (route->routes == PF_CHAIN_BY_PORTS) {
        pf_fabric_route(fabric(), (uint64_t)pf_config.net_seed, from, to, add_port, fabric());
        return;
    }
    if (all.closed || *pf_end_reason() || !pf_platform_find_route(from, to, &links))
        return;
    for (int i = 0; i < links.count; i++) {
        const struct pf_platform_link *link = pf_platform_link_state(links.links[i]);
        add(route, PF_CHAIN_LINK_PLATFORM, links.links[i], link->latency, link->bandwidth);
    }
    note_names(from, to, &links);
    free(links.links);
}

static void find(struct route *route, const struct pf_chain_message *message)
{
    *route = (struct route){.from = message->from,
                            .to = message->to,
                            .routes = message->routes,
                            .back = message->back,
                            .links = route->links};
    if (message->routes != PF_CHAIN_BY_PLATFORM && message->routes != PF_CHAIN_BY_PORTS) {
        add(route, PF_CHAIN_LINK_UNSEEN, message->routes, 0, 0);
    } else if (message->from == message->to) {
        add(route, PF_CHAIN_LINK_INSIDE, 0, 0, 0);
    } else {
        add_way(route, message->from, message->to);
        int slowest = route->slowest;
        route->there = route->count;
        if (message->back && route->count > 0)
            add_way(route, message->to, message->from);
        route->slowest = slowest;
    }
    route->known = route->count > 0;
    if (!route->known)
        add(route, PF_CHAIN_LINK_UNSEEN, PF_CHAIN_NO_ROUTE, 0, 0);
    route->there = route->there ? route->there : route->count;
}

static bool is_of(const struct route *route, const struct pf_chain_message *message)
{
    return route->known && route->from == message->from && route->to == message->to &&
           route->routes == message->routes && route->back == message->back;
}

/* A link that is not on the route, by which an adaptive routing has led it, or a host's bus, has no latency.
 */
static int place_of(const struct route *route, int link, int *count)
{
    int kind = route->links[0].kind;
    if (link == PF_CHAIN_SLOWEST || link == PF_CHAIN_FIRST ||
        (kind != PF_CHAIN_LINK_PLATFORM && kind != PF_CHAIN_LINK_PORT && link != PF_CHAIN_BUS))
        return link == PF_CHAIN_FIRST ? 0 : route->slowest;
    if (link == PF_CHAIN_LAST)
        return route->there - 1;
    for (int i = 0; i < route->count; i++)
        if (route->links[i].number == link)
            return i;
    route->links[*count] = link == PF_CHAIN_BUS ? (struct pf_chain_link){PF_CHAIN_LINK_BUS, 0, 0}
                                                : (struct pf_chain_link){kind, link, 0};
    return (*count)++;
}

int pf_network_crossed(const struct pf_chain_message *message, const struct pf_chain_link **links,
                       int *transfer)
{
    uint32_t at = (uint32_t)message->from * 40503u + (uint32_t)message->to * 4u + message->routes % 2u * 2u +
                  message->back;
    struct route *route = &routes[at % KEPT];
    if (!is_of(route, message))
        find(route, message);
    int count = route->count;
    *transfer = place_of(route, message->link, &count);
    *links = route->links;
    return count;
}

void pf_network_crossed_close(void)
{
    all.closed = true;
}

void pf_network_crossed_name(int kind, int number, char *text, size_t size)
{
    static const char *const why[] = {
        [PF_CHAIN_NO_ROUTE] = "no message whose route is known (few are after an early end)",
        [PF_CHAIN_OF_IDEAL] = "network ideal, whose messages meet no others",
        [PF_CHAIN_OF_EXTERNAL] = "network external, which does not say where messages wait",
        [PF_CHAIN_OF_SMPI] = "model smpi, whose transfers SimGrid keeps to itself",
        [PF_CHAIN_OF_COLLECTIVE] = "collectives of model analytic, priced as a whole",
        [PF_CHAIN_OF_PARAMETERS] = "a topology of the parameters of model analytic",
    };
    if (kind == PF_CHAIN_LINK_PLATFORM && number < all.link_count && all.port_of[number] > 0) {
        kind = PF_CHAIN_LINK_PORT;
        number = all.port_of[number] - 1;
    }
    if (kind == PF_CHAIN_LINK_PORT)
        pf_packet_link_name(fabric(), number, text, size);
    else
        snprintf(text, size, "%s",
                 kind == PF_CHAIN_LINK_PLATFORM ? pf_platform_link_name(number)
                 : kind == PF_CHAIN_LINK_UNSEEN ? why[number]
                 : kind == PF_CHAIN_LINK_BUS    ? "buses of hosts"
                                                : "within nodes");
}
