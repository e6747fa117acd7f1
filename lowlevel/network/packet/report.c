/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run's packet network has done, for its user. */
#include "lowlevel/network/packet/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "lowlevel/engine/engine.h"
#include "lowlevel/network/packet/carried.h"
#include "lowlevel/network/packet/described.h"
#include "lowlevel/network/packet/link_names.h"
#include "lowlevel/network/packet/picture.h"
#include "lowlevel/network/packet/routes_picture.h"
#include "lowlevel/network/packet/statistics.h"
#include "lowlevel/platform/platform.h"

static struct pf_packet_sim *simulator;
static const struct pf_packet_platform *built_from;
static int32_t *link_of; /* SimGrid's link of a port plus 1; NULL: ports are named by their ends */
static FILE *table;

static void name_link(void *of, int32_t port, char *text, size_t size)
{
    if (link_of && link_of[port])
        snprintf(text, size, "%s", pf_platform_link_name(link_of[port] - 1));
    else
        pf_packet_link_name(built_from->fabric, port, text, size);
}

int pf_packet_report_link(int32_t port)
{
    if (pf_packet_is_described())
        return port;
    return link_of && link_of[port] ? link_of[port] - 1 : PF_CHAIN_SLOWEST;
}

static void find_links(void)
{
    const struct pf_fabric *f = built_from->fabric;
    if (!built_from->port_of)
        return;
    link_of = pf_calloc((size_t)f->first_port[f->routers + f->nodes], sizeof *link_of);
    for (int32_t link = 0; link < built_from->link_count; link++)
        if (built_from->port_of[link] >= 0)
            link_of[built_from->port_of[link]] = link + 1;
}

/* For the picture: in a large platform, those of a node to some others say nearly all. */
static void note_routes(void)
{
    enum { ALL = 256, SOME = 16 };
    int nodes = built_from->node_count, step = nodes <= ALL ? 1 : nodes / SOME;
    for (int a = 0; a < nodes; a++) {
        for (int b = (a + 1) % step; b < nodes; b += step) {
            struct pf_platform_route route;
            if (a == b || built_from->node_of[a] < 0 || built_from->node_of[b] < 0 ||
                !pf_platform_find_route(a, b, &route))
                continue;
            pf_routes_note(a, b, &route);
            free(route.links);
        }
    }
}

void pf_packet_report_start(struct pf_packet_sim *sim, const struct pf_packet_platform *platform)
{
    simulator = sim;
    built_from = platform;
    find_links();
    if (built_from->port_of && *pf_config.report)
        note_routes();
    if (!*pf_config.net_statistics)
        return;
    table = pf_output_open(pf_config.net_statistics, "w");
    if (!table)
        pf_die("%s: cannot write '%s': %s", pf_config_given("net_statistics"), pf_config.net_statistics,
               strerror(errno));
    const struct pf_packet_statistics_settings settings = {
        .out = table, .interval = pf_config.net_statistics_interval, .name = name_link};
    pf_packet_statistics_start(sim, &settings);
}

static double end_of_run(void)
{
    return simulator ? fmax(pf_packet_sim_now(simulator), pf_engine_now()) : pf_engine_now();
}

static bool sums_of_carried(struct pf_network_sums *sums)
{
    const struct pf_fabric *fabric;
    if (!pf_carried_any(&fabric))
        return false;
    *sums = (struct pf_network_sums){.routing = "minimal", .priced = true};
    snprintf(sums->fabric, sizeof sums->fabric, "%s", fabric ? fabric->text : "routes of the platform");
    return true;
}

bool pf_network_sums(struct pf_network_sums *sums)
{
    if (!simulator)
        return sums_of_carried(sums);
    struct pf_packet_counts counts = pf_packet_sim_counts(simulator);
    *sums = (struct pf_network_sums){.routing = built_from->routing.ops->name,
                                     .packets = counts.packets,
                                     .dropped = counts.dropped,
                                     .hops = counts.hops};
    snprintf(sums->fabric, sizeof sums->fabric, "%s", built_from->fabric->text);
    return true;
}

bool pf_network_down_link(int src, int dst, char *text, size_t size)
{
    const struct pf_fabric *f = simulator && built_from->fabric->down > 0 ? built_from->fabric : NULL;
    for (int32_t port = 0; f && port < f->first_port[f->routers + f->nodes]; port++)
        if (!f->up[port])
            return name_link(NULL, port, text, size), true;
    struct pf_platform_route route;
    bool found = false;
    if (src == dst || !pf_platform_find_route(src, dst, &route))
        return false;
    for (int i = 0; i < route.count && !found; i++)
        if ((found = !pf_platform_link_state(route.links[i])->on))
            snprintf(text, size, "%s", pf_platform_link_name(route.links[i]));
    free(route.links);
    return found;
}

struct busy {
    double part; /* of the time */
    int32_t port;
};

static int by_load(const void *a, const void *b)
{
    const struct busy *x = a, *y = b;
    if (x->part != y->part)
        return x->part > y->part ? -1 : 1;
    return (x->port > y->port) - (x->port < y->port);
}

int pf_network_busiest(struct pf_network_link *links, int most)
{
    if (!simulator)
        return pf_carried_busiest(end_of_run(), links, most);
    const struct pf_fabric *f = built_from->fabric;
    int32_t ports = f->first_port[f->routers + f->nodes], count = 0;
    struct busy *busy = pf_calloc((size_t)ports + 1, sizeof *busy);
    double time = end_of_run();
    for (int32_t port = 0; port < ports; port++) {
        struct pf_packet_load_counts counts = pf_packet_sim_port_counts(simulator, port);
        if (counts.packets > 0)
            busy[count++] = (struct busy){counts.bytes / f->ports[port].rate / time, port};
    }
    qsort(busy, (size_t)count, sizeof *busy, by_load);
    if (count > most)
        count = most;
    for (int i = 0; i < count; i++) {
        struct pf_packet_load_counts counts = pf_packet_sim_port_counts(simulator, busy[i].port);
        links[i] = (struct pf_network_link){.utilisation = busy[i].part,
                                            .bytes = counts.bytes,
                                            .wait = counts.wait,
                                            .packets = counts.packets};
        name_link(NULL, busy[i].port, links[i].name, sizeof links[i].name);
    }
    free(busy);
    return count;
}

/* What a port has done. */
static struct pf_picture_load load_of(const struct pf_fabric *f, int32_t port, double time)
{
    struct pf_picture_load load;
    if (!simulator) {
        pf_carried_load(port, time, &load);
        return load;
    }
    struct pf_packet_load_counts counts = pf_packet_sim_port_counts(simulator, port);
    return (struct pf_picture_load){.utilisation = counts.bytes / f->ports[port].rate / time,
                                    .packets = (double)counts.packets,
                                    .bytes = counts.bytes,
                                    .stall = counts.wait};
}

/* Of each; the largest share of the run. */
static struct pf_picture_load *loads_of(const struct pf_fabric *f, double *full)
{
    int32_t ports = f->first_port[f->routers + f->nodes];
    struct pf_picture_load *loads = pf_calloc((size_t)ports + 1, sizeof *loads);
    double time = end_of_run(), most = 0;
    for (int32_t port = 0; port < ports && time > 0; port++) {
        loads[port] = load_of(f, port, time);
        most = fmax(most, loads[port].utilisation);
    }
    *full = most;
    return loads;
}

/* Of a link of the platform, in both directions if it has two. */
static void load_of_link(int link, struct pf_picture_load *load)
{
    double time = end_of_run();
    *load = (struct pf_picture_load){0};
    if (!simulator)
        pf_carried_load(link, time, load);
    else if (link < built_from->link_count && built_from->port_of[link] >= 0 && time > 0)
        *load = load_of(built_from->fabric, built_from->port_of[link], time);
}

static char **hosts; /* names by node, NULL: not kept */
static int host_count;

void pf_network_keep_hosts(void)
{
    host_count = pf_platform_node_count();
    hosts = pf_calloc((size_t)host_count + 1, sizeof *hosts);
    for (int node = 0; node < host_count; node++)
        hosts[node] = pf_strdup(sg_host_get_name(pf_platform_host(node)));
}

static const char *host_name(int32_t node)
{
    return hosts[node];
}

static struct pf_fabric *described_fabric(void)
{
    char error[300];
    const char *text;
    struct pf_fabric_speeds links;
    return pf_network_described(&text, &links) ? pf_fabric_make(text, &links, error, sizeof error) : NULL;
}

bool pf_network_draw(FILE *out)
{
    enum { MOST_LINES = 4000 }; /* some 200 B each */
    const struct pf_fabric *carrier = NULL;
    bool carried = !simulator && pf_carried_any(&carrier), loaded = simulator || carried;
    if ((simulator && built_from->port_of) || (carried && !carrier))
        return pf_routes_draw(load_of_link, out);
    if (!loaded && !hosts)
        return false;
    struct pf_fabric *own = loaded ? NULL : described_fabric();
    const struct pf_fabric *f = simulator ? built_from->fabric : carried ? carrier : own;
    if (!f || (hosts && f->nodes != host_count) || host_count > MOST_LINES)
        return false;
    struct pf_picture picture = {
        .fabric = f, .title = f->text, .bare = true, .host_of = hosts ? host_name : NULL, .out = out};
    struct pf_picture_load *loads = loaded ? loads_of(f, &picture.full) : NULL;
    picture.loads = loads;
    picture.routers_only = pf_picture_lines(&picture) > MOST_LINES;
    bool few = pf_picture_lines(&picture) <= MOST_LINES;
    if (few)
        pf_picture_draw(&picture);
    if (few && loads)
        pf_picture_draw_scale(&picture);
    free(loads);
    if (own)
        pf_fabric_free(own);
    return few;
}

bool pf_network_finish(void)
{
    if (!table)
        return true;
    pf_packet_statistics_end(simulator, end_of_run());
    bool written = !ferror(table);
    written &= fclose(table) == 0;
    table = NULL;
    if (!written)
        pf_warn("cannot write '%s': %s", pf_config.net_statistics, strerror(errno));
    return written;
}
