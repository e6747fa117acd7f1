/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that go down and come back. */
#include "lowlevel/network/packet/failures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/network/packet/link_names.h"
#include "lowlevel/platform/platform.h"
#include "lowlevel/platform/scan.h"

/* One direction of a link changes its state. */
struct change {
    struct pf_packet_timer timer;
    struct pf_packet_sim *sim;
    struct pf_fabric *fabric;
    int32_t port;
    bool up;
};

static void rings(struct pf_packet_timer *timer, double date)
{
    struct change *change = (struct change *)timer;
    pf_fabric_set_up(change->fabric, change->port, change->up);
    pf_packet_sim_port_changed(change->sim, change->port, date);
    free(change);
}

static void plan(struct pf_packet_sim *sim, struct pf_fabric *f, int32_t port, bool up, double date)
{
    struct change *change = pf_calloc(1, sizeof *change);
    *change = (struct change){{rings}, sim, f, port, up};
    pf_packet_sim_at(sim, &change->timer, date);
}

static void refuse(const char *item, const char *why)
{
    pf_die("%s: '%.100s': %s", pf_config_given("net_fail"), item, why);
}

/* The ports of a name: by SimGrid's links where ports are those, else by the ends of a link, which fails in
 * both directions. Their number. */
static int find_ports(const struct pf_packet_platform *platform, const char *name, int32_t ports[2])
{
    const struct pf_fabric *f = platform->fabric;
    int count = 0;
    for (int link = 0; link < platform->link_count && count < 2; link++)
        if (platform->port_of[link] >= 0 && pf_platform_names_link(name, pf_platform_link_name(link)))
            ports[count++] = platform->port_of[link];
    if (platform->port_of)
        return count;
    ports[0] = pf_packet_link_find(f, name);
    if (ports[0] < 0)
        return 0;
    const struct pf_fabric_port *link = &f->ports[ports[0]];
    ports[1] = f->first_port[link->peer] + link->peer_port;
    return 2;
}

static double read_date(const char *item, char **text)
{
    char *end;
    double date = strtod(*text, &end);
    if (end == *text || !isfinite(date) || date < 0.0)
        refuse(item,
               "it must be LINK@T or LINK@T:T2 with dates in simulated seconds, such as r0-r3@1e-4:2e-4");
    *text = end;
    return date;
}

static void read_item(struct pf_packet_sim *sim, const struct pf_packet_platform *platform, const char *item)
{
    struct pf_fabric *f = platform->fabric;
    char *name = pf_strdup(item), *at = strrchr(name, '@'), *text = at ? at + 1 : name;
    if (at)
        *at = 0;
    double down = at ? read_date(item, &text) : -1.0, up = INFINITY;
    if (at && *text == ':') {
        text++;
        up = read_date(item, &text);
    }
    if (!at || *text || up <= down)
        refuse(item, "it must be LINK@T or LINK@T:T2 with T before T2, such as r0-r3@1e-4:2e-4");
    int32_t ports[2];
    int count = find_ports(platform, name, ports);
    if (count == 0)
        refuse(item, platform->port_of ? "no route of the platform has a link of this name"
                                       : "no link is called so; a name is such as r0-r3 or n7-r0 (pfinfo "
                                         "--platform NAME:HOSTS --picture FILE lists them)");
    for (int i = 0; i < count; i++) {
        plan(sim, f, ports[i], false, down);
        if (isfinite(up))
            plan(sim, f, ports[i], true, up);
    }
    free(name);
}

bool pf_packet_failures_open(struct pf_packet_sim *sim, const struct pf_packet_platform *platform)
{
    char *all = pf_strdup(pf_config.net_fail), *rest = all, *item;
    bool any = *all;
    while (any && (item = strsep(&rest, ",")))
        read_item(sim, platform, item);
    free(all);
    return any;
}

bool pf_packet_has_way(const struct pf_routing *r, int32_t source, int32_t destination)
{
    enum { MOST_HOPS = 250 };
    const struct pf_fabric *f = r->fabric;
    struct pf_packet_path path;
    if (f->down == 0)
        return true;
    int32_t at = pf_fabric_router_of(f, source);
    pf_routing_start(&path, source, destination, 0);
    if (!pf_fabric_is_up(f, f->routers + source, 0))
        return false;
    r->ops->begin(r, NULL, &path);
    while (at < f->routers && path.hops < MOST_HOPS) {
        struct pf_packet_hop hop;
        if (!r->ops->next(r, at, NULL, &path, &hop))
            return false;
        pf_routing_take(&hop, &path);
        at = pf_fabric_port(f, at, hop.port)->peer;
    }
    return at >= f->routers;
}
