/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the platforms that need no file. */
#include "lowlevel/platform/builtin.h"

#include <math.h>
#include <string.h>

#include "base/config.h"

/* A platform that is no cluster of SimGrid's has a route for each pair of hosts. With more of them it says by
 * which topology Parfocal finds routes (platform.h); SimGrid has those of the hosts that were asked for, up
 * to so many. */
enum { MOST_BY_ROUTES = 1024, MOST_OF_LARGE = 256 };

/*
 * SimGrid puts ranks on hosts in the alphabetical order of their names, and the radical of a cluster has no
 * leading zeros. So all numbers have as many digits, and up to 9,000 hosts the n-th one has one name on
 * platforms of all sizes.
 */
static long first_number(long hosts)
{
    return hosts <= 9000 ? 1000 : 1000000;
}

/* The names that these hosts had before began with 0, 100, 1000 ... */
bool pf_platform_builtin_renamed(const char *old, long hosts, char *name, size_t size)
{
    long first = 10, number;
    char rest;
    while (first < hosts)
        first *= 10;
    first = hosts > 10 ? first : 0;
    if (sscanf(old, "node-%ld%c", &number, &rest) != 1 || number < first || number >= first + hosts)
        return false;
    snprintf(name, size, "node-%ld", first_number(hosts) + number - first);
    return true;
}

static void write_cluster(const struct pf_fabric *f, const struct pf_fabric_cluster *cluster, FILE *out)
{
    long first = first_number(f->nodes);
    fprintf(out,
            "  <cluster id=\"cluster\" prefix=\"node-\" radical=\"%ld-%ld\" suffix=\"\"\n"
            "           speed=\"%.12gf\" core=\"%ld\" bw=\"%.12gBps\" lat=\"%.12gs\" "
            "sharing_policy=\"SPLITDUPLEX\"\n"
            "           loopback_bw=\"%.12gBps\" loopback_lat=\"%.12gs\"",
            first, first + f->nodes - 1, pf_config.platform_host_speed, pf_config.platform_cores,
            pf_config.platform_link_bw, pf_config.platform_link_latency, pf_config.platform_loopback_bw,
            pf_config.platform_loopback_latency);
    if (strcmp(cluster->topology, "FLAT") != 0)
        fprintf(out, "\n           topology=\"%s\" topo_parameters=\"%s\"", cluster->topology,
                cluster->parameters);
    fputs("/>\n", out);
}

static void write_link(void *out, int32_t port)
{
    fprintf(out, "<link_ctn id=\"link-%d\"/>", port);
}

static void write_pairs(const struct pf_fabric *f, int32_t hosts, FILE *out)
{
    long first = first_number(f->nodes);
    for (int32_t a = 0; a < hosts; a++)
        for (int32_t b = 0; b < hosts; b++) {
            fprintf(out, "    <route src=\"node-%ld\" dst=\"node-%ld\" symmetrical=\"NO\">", first + a,
                    first + b);
            if (a == b)
                fprintf(out, "<link_ctn id=\"node-%ld_loopback\"/>", first + a);
            pf_fabric_route(f, (uint64_t)pf_config.net_seed, a, b, write_link, out);
            fputs("</route>\n", out);
        }
}

static void write_hosts(const struct pf_fabric *f, int32_t from, int32_t end, FILE *out)
{
    for (long number = first_number(f->nodes) + from; number < first_number(f->nodes) + end; number++)
        fprintf(out,
                "    <host id=\"node-%ld\" speed=\"%.12gf\" core=\"%ld\"/>\n"
                "    <link id=\"node-%ld_loopback\" bandwidth=\"%.12gBps\" latency=\"%.12gs\" "
                "sharing_policy=\"FATPIPE\"/>\n",
                number, pf_config.platform_host_speed, pf_config.platform_cores, number,
                pf_config.platform_loopback_bw, pf_config.platform_loopback_latency);
}

/* Links have the numbers of the fabric's ports. */
static void write_links(const struct pf_fabric *f, FILE *out)
{
    int32_t links = f->first_port[f->is_direct ? f->routers : f->routers + f->nodes];
    for (int32_t i = 0; i < links; i++)
        if (f->ports[i].peer >= 0 && !isinf(f->ports[i].rate))
            fprintf(out, "    <link id=\"link-%d\" bandwidth=\"%.12gBps\" latency=\"%.12gs\"/>\n", i,
                    f->ports[i].rate, f->ports[i].latency);
}

/* A large platform is two zones, of hosts with and without routes of SimGrid's. */
static void write_graph(const struct pf_fabric *f, int32_t hosts, FILE *out)
{
    bool large = f->nodes > MOST_BY_ROUTES;
    int32_t routed = !large ? f->nodes : hosts <= MOST_OF_LARGE ? hosts : 0;
    if (large)
        fprintf(out,
                "    <prop id=\"parfocal-topology\" value=\"%s\"/>\n"
                "    <zone id=\"routed\" routing=\"Full\">\n",
                f->text);
    write_hosts(f, 0, routed, out);
    write_links(f, out);
    write_pairs(f, routed, out);
    if (large) {
        fputs("    </zone>\n    <zone id=\"others\" routing=\"None\">\n", out);
        write_hosts(f, routed, f->nodes, out);
        fputs("    </zone>\n", out);
    }
}

/* Links as fast as SimGrid's. */
static void set_links(const struct pf_fabric *f, struct pf_fabric_speeds *links)
{
    pf_fabric_equal_links(links, pf_config.platform_link_bw, pf_config.platform_link_latency, 0);
    if (f->is_direct) {
        links->rate[PF_LINK_NODE] = INFINITY;
        links->latency[PF_LINK_NODE] = 0;
    }
}

static struct pf_fabric *outline(const char *name, int hosts, char *error, size_t error_size)
{
    char text[sizeof((struct pf_fabric *)0)->text];
    return pf_fabric_describe(name, hosts, text, sizeof text, error, error_size)
               ? pf_fabric_make(text, NULL, error, error_size)
               : NULL;
}

/* SimGrid 4.0 crashes when a cluster is in no zone; in 3.32 it is the same network with and without one. */
bool pf_platform_builtin_write(const char *name, int hosts, FILE *out, char *error, size_t error_size)
{
    struct pf_fabric_cluster cluster = {"", "", false};
    struct pf_fabric_speeds links;
    struct pf_fabric *f = outline(name, hosts, error, error_size);
    if (!f)
        return false;
    fputs("<?xml version='1.0'?>\n"
          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\">\n"
          "  <zone id=\"machine\" routing=\"Full\">\n",
          out);
    if (pf_fabric_cluster(f, &cluster)) {
        if (cluster.same_routes)
            fprintf(out, "    <prop id=\"parfocal-cluster\" value=\"%s\"/>\n", f->text);
        write_cluster(f, &cluster, out);
    } else {
        set_links(f, &links);
        pf_fabric_wire(f, &links);
        write_graph(f, hosts, out);
    }
    fputs("  </zone>\n</platform>\n", out);
    pf_fabric_free(f);
    return true;
}

bool pf_platform_builtin_fabric(const char *name, int hosts, char *text, size_t size,
                                struct pf_fabric_speeds *links, char *error, size_t error_size)
{
    struct pf_fabric *f = outline(name, hosts, error, error_size);
    if (!f)
        return false;
    snprintf(text, size, "%s", f->text);
    set_links(f, links);
    pf_fabric_free(f);
    return true;
}
