/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the platforms that need no file. */
#include "lowlevel/platform/builtin.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"

/* The largest platform that is still useful in one process. */
#define MAX_HOSTS 1000000

struct shape {
    long hosts; /* at least as many as asked for */
    char topology[16], parameters[80];
    /* The same as a description of a packet network (network/packet/fabric.h). */
    char fabric[100];
    bool nodes_route; /* torus: hosts are joined directly, without a cable between a node and its router */
    double global_capacity; /* of a cable between groups, in those of other cables; 0: 1 */
};

static long ceil_div(long a, long b)
{
    return (a + b - 1) / b;
}

/* The smallest n with n^power >= hosts. */
static long ceil_root(long hosts, int power)
{
    long n = lround(floor(pow((double)hosts, 1.0 / power)));
    while (pow((double)n, power) < (double)hosts)
        n++;
    return n > 0 ? n : 1;
}

/*
 * Full bisection from switches with 48 ports, 24 down and 24 up (BXI's switch). Two levels as long as they
 * reach, with leaves as wide as the number of leaves, so that small examples have a tree and not one
 * crossbar.
 */
static bool shape_fattree(long hosts, struct shape *shape)
{
    const long down = 24, ports = 48;
    strcpy(shape->topology, "FAT_TREE");
    if (hosts <= down * ports) {
        long leaf = ceil_root(hosts, 2);
        if (leaf > down)
            leaf = down;
        long leaves = ceil_div(hosts, leaf);
        shape->hosts = leaf * leaves;
        snprintf(shape->parameters, sizeof shape->parameters, "2;%ld,%ld;1,%ld;1,1", leaf, leaves, leaf);
        snprintf(shape->fabric, sizeof shape->fabric, "fattree:%s", shape->parameters);
        return true;
    }
    long pods = ceil_div(hosts, down * down);
    shape->hosts = down * down * pods;
    snprintf(shape->parameters, sizeof shape->parameters, "3;%ld,%ld,%ld;1,%ld,%ld;1,1,1", down, down, pods,
             down, down);
    snprintf(shape->fabric, sizeof shape->fabric, "fattree:%s", shape->parameters);
    return pods <= ports;
}

static bool shape_star(long hosts, struct shape *shape)
{
    shape->hosts = hosts;
    strcpy(shape->topology, "FLAT");
    snprintf(shape->fabric, sizeof shape->fabric, "star:%ld", hosts);
    return true;
}

static bool shape_torus(long hosts, struct shape *shape)
{
    long x = ceil_root(hosts, 3), y = ceil_root(ceil_div(hosts, x), 2), z = ceil_div(hosts, x * y);
    shape->hosts = x * y * z;
    strcpy(shape->topology, "TORUS");
    snprintf(shape->parameters, sizeof shape->parameters, "%ld,%ld,%ld", x, y, z);
    snprintf(shape->fabric, sizeof shape->fabric, "torus:%ldx%ldx%ld", x, y, z);
    shape->nodes_route = true;
    return true;
}

/*
 * Groups of four chassis with four hosts at each router; each pair of groups is joined by four links. A
 * router has one link to another group, and SimGrid goes there by the router of the chassis that has the
 * other group's number: a chassis needs as many routers as there are groups. It has four of them up to 256
 * hosts, then more.
 */
static bool shape_dragonfly(long hosts, struct shape *shape)
{
    long routers = ceil_root(ceil_div(hosts, 4 * 4), 2);
    if (routers < 4)
        routers = 4;
    long per_group = 4 * routers * 4, groups = ceil_div(hosts, per_group);
    shape->hosts = groups * per_group;
    strcpy(shape->topology, "DRAGONFLY");
    snprintf(shape->parameters, sizeof shape->parameters, "%ld,4;4,1;%ld,1;4", groups, routers);
    snprintf(shape->fabric, sizeof shape->fabric, "dragonfly:4,4x%ld,1,%ld,numbered", routers, groups);
    shape->global_capacity = 4;
    return true;
}

static const struct {
    const char *name, *help;
    bool (*shape)(long hosts, struct shape *shape);
} builtins[] = {
    {"fattree", "full-bisection fat tree of 48-port switches", shape_fattree},
    {"star", "crossbar: one link per host and direction", shape_star},
    {"torus", "3-D torus", shape_torus},
    {"dragonfly", "groups of 64 hosts, beyond 256 hosts larger ones", shape_dragonfly},
};

#define BUILTIN_COUNT ((int)(sizeof builtins / sizeof builtins[0]))

static int find(const char *name)
{
    size_t length = strcspn(name, ":");
    for (int i = 0; i < BUILTIN_COUNT; i++)
        if (strlen(builtins[i].name) == length && strncmp(builtins[i].name, name, length) == 0)
            return i;
    return -1;
}

bool pf_platform_builtin_known(const char *name)
{
    return find(name) >= 0;
}

const char *pf_platform_builtin_name(int index)
{
    return index < BUILTIN_COUNT ? builtins[index].name : NULL;
}

const char *pf_platform_builtin_help(int index)
{
    return index < BUILTIN_COUNT ? builtins[index].help : NULL;
}

/* The number after the colon, or `hosts` without one. */
static bool read_hosts(const char *name, int hosts, long *out)
{
    const char *colon = strchr(name, ':');
    if (!colon) {
        *out = hosts;
        return true;
    }
    char *end;
    errno = 0;
    *out = strtol(colon + 1, &end, 10);
    return end != colon + 1 && !*end && !errno;
}

/*
 * SimGrid puts ranks on hosts in the alphabetical order of their names. So all numbers have as many digits:
 * up to ten hosts begin with 0, up to a hundred with 100, and so on (the radical of a cluster knows no
 * leading zeros).
 */
static long first_number(long hosts)
{
    long digits = 10;
    while (digits < hosts)
        digits *= 10;
    return hosts > 10 ? digits : 0;
}

/* SimGrid 4.0 crashes when a cluster is in no zone; in 3.32 it is the same network with and without one. */
static void write_xml(const struct shape *shape, FILE *out)
{
    long first = first_number(shape->hosts);
    fprintf(out,
            "<?xml version='1.0'?>\n"
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\">\n"
            "  <zone id=\"machine\" routing=\"Full\">\n"
            "  <cluster id=\"cluster\" prefix=\"node-\" radical=\"%ld-%ld\" suffix=\"\"\n"
            "           speed=\"%.12gf\" core=\"%ld\" bw=\"%.12gBps\" lat=\"%.12gs\" "
            "sharing_policy=\"SPLITDUPLEX\"\n"
            "           loopback_bw=\"%.12gBps\" loopback_lat=\"%.12gs\"",
            first, first + shape->hosts - 1, pf_config.platform_host_speed, pf_config.platform_cores,
            pf_config.platform_link_bw, pf_config.platform_link_latency, pf_config.platform_loopback_bw,
            pf_config.platform_loopback_latency);
    if (strcmp(shape->topology, "FLAT") != 0)
        fprintf(out, "\n           topology=\"%s\" topo_parameters=\"%s\"", shape->topology,
                shape->parameters);
    fputs("/>\n  </zone>\n</platform>\n", out);
}

static bool make_shape(const char *name, int hosts, struct shape *shape, char *error, size_t error_size)
{
    int index = find(name);
    long wanted;
    if (index < 0) {
        snprintf(error, error_size, "no built-in platform '%s'", name);
        return false;
    }
    if (!read_hosts(name, hosts, &wanted) || wanted < 1 || wanted > MAX_HOSTS) {
        snprintf(error, error_size, "'%s': the number of hosts must be from 1 to %d", name, MAX_HOSTS);
        return false;
    }
    if (!builtins[index].shape(wanted, shape)) {
        snprintf(error, error_size, "'%s': a %s cannot have %ld hosts", name, builtins[index].name, wanted);
        return false;
    }
    return true;
}

bool pf_platform_builtin_write(const char *name, int hosts, FILE *out, char *error, size_t error_size)
{
    struct shape shape = {0};
    if (!make_shape(name, hosts, &shape, error, error_size))
        return false;
    write_xml(&shape, out);
    return true;
}

bool pf_platform_builtin_fabric(const char *name, int hosts, char *text, size_t size,
                                struct pf_fabric_cables *cables, char *error, size_t error_size)
{
    struct shape shape = {0};
    if (!make_shape(name, hosts, &shape, error, error_size))
        return false;
    snprintf(text, size, "%s", shape.fabric);
    pf_fabric_cables_equal(cables, pf_config.platform_link_bw, pf_config.platform_link_latency, 0);
    if (shape.nodes_route) {
        cables->rate[PF_CABLE_NODE] = INFINITY;
        cables->latency[PF_CABLE_NODE] = 0;
    }
    if (shape.global_capacity > 0)
        cables->rate[PF_CABLE_GLOBAL] *= shape.global_capacity;
    return true;
}
