/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routings over what each topology says of itself. A way consists of legs: to an intermediate and home; `par`
 * has one before them. Each leg has classes of its own, so that no chain of buffers goes from a later leg to
 * an earlier one.
 */
#include "lowlevel/network/packet/routing.h"

#include <stdio.h>
#include <string.h>

#include "lowlevel/topology/topology.h"

enum { TRIES = 64 }; /* random intermediates that are tried when links are down */

static uint64_t key_of(const struct pf_routing *r, const struct pf_packet_path *p)
{
    return r->settings.in_order ? pf_fabric_pair_key(r->settings.seed, p->source, p->destination)
                                : pf_topology_hash(r->settings.seed ^ pf_topology_hash(p->id));
}

static int64_t queued(const struct pf_packet_load *load, int32_t port, int vc)
{
    return load ? load->queued(load->of, port, vc) : 0;
}

static bool arrives(const struct pf_routing *r, int32_t router, int32_t intermediate,
                    const struct pf_packet_path *p)
{
    return r->settings.intermediate_is_group
               ? r->fabric->topology->in_group(r->fabric, router, intermediate, p)
               : pf_fabric_router_of(r->fabric, intermediate) == router;
}

/* The deterministic next link of a leg that does not end here. */
static bool step(const struct pf_routing *r, int32_t router, const struct pf_packet_path *p,
                 enum pf_routing_leg leg, int32_t intermediate, uint8_t way, struct pf_packet_hop *hop)
{
    const struct pf_fabric *f = r->fabric;
    uint64_t key = key_of(r, p);
    bool found;
    hop->phase = (uint8_t)leg;
    hop->intermediate = intermediate;
    if (leg != PF_LEG_AWAY)
        found = f->topology->step(f, key, router, p->destination, way, hop);
    else if (r->settings.intermediate_is_group)
        found = f->topology->step_group(f, key, router, intermediate, way, p, hop);
    else
        found = f->topology->step(f, ~key, router, intermediate, way, hop);
    hop->vc += r->base[leg];
    return found;
}

static bool ends_here(const struct pf_routing *r, int32_t router, const struct pf_packet_path *p,
                      struct pf_packet_hop *hop)
{
    if (pf_fabric_router_of(r->fabric, p->destination) != router)
        return false;
    *hop = (struct pf_packet_hop){pf_fabric_node_port(r->fabric, p->destination), p->vc, p->phase, p->way,
                                  p->intermediate};
    return true;
}

/* Next on the way that `leg` and `intermediate` say, wherever the packet came from. */
static bool next_on(const struct pf_routing *r, int32_t router, const struct pf_packet_path *p,
                    enum pf_routing_leg leg, int32_t intermediate, struct pf_packet_hop *hop)
{
    if (leg == PF_LEG_AWAY && arrives(r, router, intermediate, p))
        leg = PF_LEG_HOME;
    if (leg != PF_LEG_AWAY && ends_here(r, router, p, hop))
        return pf_fabric_is_up(r->fabric, router, hop->port);
    uint8_t way = p->hops && leg == (enum pf_routing_leg)p->phase ? p->way : 0;
    if (!step(r, router, p, leg, intermediate, way, hop))
        return false;
    if (leg == PF_LEG_FIRST && !r->fabric->topology->may_turn(r->fabric, router, hop->port, p)) {
        hop->phase = PF_LEG_HOME;
        hop->vc = (uint8_t)(hop->vc - r->base[PF_LEG_FIRST] + r->base[PF_LEG_HOME]);
    }
    return true;
}

/* Links between routers from here on; -1: there is no way. */
static int length(const struct pf_routing *r, int32_t router, const struct pf_packet_path *p,
                  enum pf_routing_leg leg, int32_t intermediate)
{
    const struct pf_fabric *f = r->fabric;
    struct pf_packet_path at = *p;
    struct pf_packet_hop hop;
    int hops = 0;
    if (!f->down && leg != PF_LEG_AWAY)
        return f->topology->hops(f, router, p->destination);
    if (!f->down && !r->settings.intermediate_is_group)
        return f->topology->hops(f, router, intermediate) +
               f->topology->hops(f, pf_fabric_router_of(f, intermediate), p->destination);
    while (next_on(r, router, &at, leg, intermediate, &hop)) {
        router = pf_fabric_port(f, router, hop.port)->peer;
        if (router >= f->routers)
            return hops;
        pf_routing_take(&hop, &at);
        leg = (enum pf_routing_leg)at.phase;
        hops++;
    }
    return -1;
}

/* A random intermediate with a way, -1: there is none. */
static int32_t pick(const struct pf_routing *r, int32_t router, const struct pf_packet_path *p,
                    uint32_t counter)
{
    const struct pf_fabric *f = r->fabric;
    uint64_t key = pf_topology_hash(r->settings.seed + 1) ^ pf_topology_hash(p->id);
    for (int try = 0; try < TRIES; try++) {
        uint64_t random = pf_topology_hash(key + ((uint64_t)counter << 32) + (uint64_t)try);
        int32_t at = r->settings.intermediate_is_group
                         ? f->topology->pick_group(f, random, p)
                         : (int32_t)pf_topology_below(random, (uint32_t)f->nodes);
        if (at < 0 || !f->down || length(r, router, p, PF_LEG_AWAY, at) >= 0)
            return at;
    }
    return -1;
}

static void begin_minimal(const struct pf_routing *r, const struct pf_packet_load *load,
                          struct pf_packet_path *p)
{
    p->phase = PF_LEG_HOME;
}

static bool next_leg(const struct pf_routing *r, int32_t router, const struct pf_packet_load *load,
                     const struct pf_packet_path *p, struct pf_packet_hop *hop)
{
    return next_on(r, router, p, (enum pf_routing_leg)p->phase, p->intermediate, hop);
}

/* The least loaded minimal port; the packet's number breaks ties, so that not all flock to the first. */
static bool next_adaptive(const struct pf_routing *r, int32_t router, const struct pf_packet_load *load,
                          const struct pf_packet_path *p, struct pf_packet_hop *hop)
{
    const struct pf_fabric *f = r->fabric;
    struct pf_topology_classes classes = f->topology->choice_classes(f);
    int32_t ports[PF_TOPOLOGY_PORTS];
    int64_t least = INT64_MAX;
    if (ends_here(r, router, p, hop))
        return pf_fabric_is_up(f, router, hop->port);
    int count = f->topology->choices(f, router, p->destination, ports);
    uint32_t first = count ? pf_topology_below(pf_topology_hash(key_of(r, p) + p->hops), (uint32_t)count) : 0;
    for (int i = 0; i < count; i++) {
        int32_t port = ports[(first + (uint32_t)i) % (uint32_t)count];
        int vc = classes.escape ? classes.count - 1 : f->topology->choice_class(f, router, port, p);
        int64_t bytes = queued(load, port, vc);
        if (bytes >= least)
            continue;
        least = bytes;
        *hop = (struct pf_packet_hop){port, (uint8_t)vc, PF_LEG_HOME, 0, -1};
    }
    struct pf_packet_hop escape;
    if (classes.escape && least > 0 && step(r, router, p, PF_LEG_HOME, -1, 0, &escape) &&
        queued(load, escape.port, escape.vc) < least) {
        *hop = escape;
        return true;
    }
    return least < INT64_MAX;
}

static void begin_valiant(const struct pf_routing *r, const struct pf_packet_load *load,
                          struct pf_packet_path *p)
{
    int32_t router = pf_fabric_router_of(r->fabric, p->source);
    p->intermediate = pf_fabric_router_of(r->fabric, p->destination) == router ? -1 : pick(r, router, p, 0);
    p->phase = p->intermediate < 0 ? PF_LEG_HOME : PF_LEG_AWAY;
}

/*
 * Universal globally adaptive load-balanced routing, with what the router itself sees (Singh, "Load-balanced
 * routing in interconnection networks", 2005): the product of queue and hops estimates the delay of a way.
 * Returns the intermediate, or -1 for the minimal way.
 */
static int32_t compare(const struct pf_routing *r, int32_t router, const struct pf_packet_load *load,
                       const struct pf_packet_path *p)
{
    const struct pf_routing_settings *s = &r->settings;
    struct pf_packet_hop hop;
    int hops = length(r, router, p, PF_LEG_HOME, -1);
    int32_t best = -1;
    double least = 0;
    bool minimal = hops >= 0 && next_on(r, router, p, PF_LEG_HOME, -1, &hop);
    double cost = minimal ? (double)queued(load, hop.port, -1) * (s->ugal_ratio > 0 ? 1 : hops) : 0;
    if (minimal && cost <= s->ugal_threshold)
        return -1;
    for (int i = 0; i < s->ugal_candidates; i++) {
        int32_t at = pick(r, router, p, 1 + 256 * (uint32_t)p->hops + (uint32_t)i);
        if (at < 0 ||
            (minimal && !r->settings.intermediate_is_group &&
             r->fabric->topology->is_near(r->fabric, router, at)) ||
            !next_on(r, router, p, PF_LEG_AWAY, at, &hop))
            continue;
        double factor = s->ugal_ratio > 0 ? s->ugal_ratio : length(r, router, p, PF_LEG_AWAY, at);
        double other = s->ugal_bias * factor * (double)queued(load, hop.port, -1);
        if (best < 0 || other < least) {
            best = at;
            least = other;
        }
    }
    return minimal && cost <= least + s->ugal_threshold ? -1 : best;
}

static void begin_compare(const struct pf_routing *r, const struct pf_packet_load *load,
                          struct pf_packet_path *p, enum pf_routing_leg minimal)
{
    int32_t router = pf_fabric_router_of(r->fabric, p->source);
    bool stays = r->fabric->topology->is_near(r->fabric, router, p->destination) &&
                 (!r->fabric->down || length(r, router, p, PF_LEG_HOME, -1) >= 0);
    p->intermediate = stays ? -1 : compare(r, router, load, p);
    p->phase = (uint8_t)(p->intermediate < 0 ? minimal : PF_LEG_AWAY);
}

static void begin_ugal(const struct pf_routing *r, const struct pf_packet_load *load,
                       struct pf_packet_path *p)
{
    begin_compare(r, load, p, PF_LEG_HOME);
}

/* Progressive: Jiang, Kim, Dally, "Indirect adaptive routing on large scale interconnection networks", 2009.
 */
static void begin_par(const struct pf_routing *r, const struct pf_packet_load *load, struct pf_packet_path *p)
{
    begin_compare(r, load, p, PF_LEG_FIRST);
}

static bool next_par(const struct pf_routing *r, int32_t router, const struct pf_packet_load *load,
                     const struct pf_packet_path *p, struct pf_packet_hop *hop)
{
    int32_t intermediate = p->intermediate;
    if (p->phase == PF_LEG_FIRST && p->hops && pf_fabric_router_of(r->fabric, p->destination) != router)
        intermediate = compare(r, router, load, p);
    enum pf_routing_leg leg =
        p->phase == PF_LEG_FIRST && intermediate >= 0 ? PF_LEG_AWAY : (enum pf_routing_leg)p->phase;
    return next_on(r, router, p, leg, intermediate, hop);
}

static const struct pf_routing_ops minimal = {sizeof minimal, "minimal",
                                              "one shortest way: d-mod-k up a tree, dimension order in grids",
                                              begin_minimal, next_leg};
static const struct pf_routing_ops adaptive = {sizeof adaptive, "minimal-adaptive",
                                               "the least loaded port on a shortest way", begin_minimal,
                                               next_adaptive};
static const struct pf_routing_ops valiant = {
    sizeof valiant, "valiant", "over a random intermediate node or group", begin_valiant, next_leg};
static const struct pf_routing_ops ugal = {
    sizeof ugal, "ugal", "minimal or valiant, by the queues of the source's router", begin_ugal, next_leg};
static const struct pf_routing_ops par = {
    sizeof par, "par", "as ugal, and a packet that went minimally may think again at the next router",
    begin_par, next_par};
static const struct pf_routing_ops *const routings[] = {&minimal, &adaptive, &valiant, &ugal, &par};

#define ROUTINGS ((int)(sizeof routings / sizeof routings[0]))

const char *pf_routing_name(int index)
{
    return index < ROUTINGS ? routings[index]->name : NULL;
}

const char *pf_routing_help(int index)
{
    return index < ROUTINGS ? routings[index]->help : NULL;
}

/* The first class of each leg and how many there are; false with a reason when it cannot be. */
static bool plan(struct pf_routing *r)
{
    const struct pf_fabric *f = r->fabric;
    struct pf_topology_classes one = f->topology->step_classes(f), away = one, turn = {0};
    bool group = r->settings.intermediate_is_group;
    if (r->ops == &minimal || r->ops == &adaptive) {
        if (r->ops == &adaptive)
            one = f->topology->choice_classes(f);
        r->classes = one.count;
        snprintf(r->reason, sizeof r->reason, "%s", one.reason);
        r->asks_again = r->ops == &adaptive;
        return one.count > 0;
    }
    if (group)
        away = f->topology->group_classes(f);
    if (group && !f->topology->groups(f)) {
        snprintf(r->reason, sizeof r->reason, "%s", away.reason);
        return false;
    }
    if (r->ops == &par)
        turn = f->topology->turn_classes(f);
    if (group && !away.count)
        turn.count = 0; /* all share the classes of the way home */
    r->base[PF_LEG_AWAY] = (uint8_t)turn.count;
    r->base[PF_LEG_HOME] = (uint8_t)(turn.count + away.count);
    r->classes = turn.count + away.count + one.count;
    snprintf(r->reason, sizeof r->reason, "%s; classes for each leg",
             group && !away.count ? away.reason : one.reason);
    return one.count > 0;
}

bool pf_routing_open(struct pf_routing *r, const char *name, const struct pf_fabric *fabric,
                     const struct pf_routing_settings *settings, char *error, size_t error_size)
{
    memset(r, 0, sizeof *r);
    r->fabric = fabric;
    r->settings = *settings;
    for (int i = 0; i < ROUTINGS; i++)
        if (strcmp(routings[i]->name, name) == 0)
            r->ops = routings[i];
    if (!r->ops) {
        int at = snprintf(error, error_size, "'%.60s' is no routing; there are", name);
        for (int i = 0; i < ROUTINGS && at > 0 && (size_t)at < error_size; i++)
            at += snprintf(error + at, error_size - (size_t)at, "%s %s", i ? "," : "", routings[i]->name);
        return false;
    }
    if (plan(r))
        return true;
    snprintf(error, error_size, "routing %s cannot run on %s: %s", name, fabric->text, r->reason);
    return false;
}

void pf_routing_start(struct pf_packet_path *p, int32_t source, int32_t destination, uint64_t id)
{
    memset(p, 0, sizeof *p);
    p->source = source;
    p->destination = destination;
    p->intermediate = -1;
    p->phase = PF_LEG_HOME;
    p->id = id;
}
