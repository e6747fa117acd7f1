/* SPDX-License-Identifier: BSD-3-Clause */
/* The way between two nodes as a list of resources, computed once. */
#include "lowlevel/network/path.h"

#include <math.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/pool.h"
#include "lowlevel/platform/platform.h"

static struct pf_network_paths *networks; /* those that have links */

/* The bus and the loopback belong to the NIC, which is one for all networks. */
struct node_resources {
    struct pf_resource out, in, loop; /* host bus towards the NIC, from the NIC, loopback */
};
static struct node_resources **nodes;
static int node_capacity;

static struct pf_lines memory;

static void (*change_listener)(struct pf_resource *resource);

int pf_path_links_down;

bool pf_path_look_up(const struct pf_path *path)
{
    for (int i = 0; i < path->count; i++)
        if (!path->resources[i]->on)
            return false;
    return true;
}

static void find_bandwidth(struct pf_path *path)
{
    path->bandwidth = pf_config.nic_pcie_bw;
    for (int i = 1; i < path->count - 1; i++)
        if (i == 1 || path->resources[i]->capacity < path->bandwidth)
            path->bandwidth = path->resources[i]->capacity;
}

static void find_bandwidths(struct pf_network_paths *paths)
{
    for (size_t i = 0; i < (size_t)1 << paths->pairs.bits; i++)
        for (int k = 0; paths->pairs.places[i].block && k < PF_PAIRS_BLOCK; k++)
            if (paths->pairs.places[i].block[k])
                find_bandwidth(paths->pairs.places[i].block[k]);
}

static void link_changed(int link)
{
    const struct pf_platform_link *state = pf_platform_link_state(link);
    for (struct pf_network_paths *paths = networks; paths; paths = paths->next) {
        if (link >= paths->link_capacity || !paths->links[link])
            continue;
        struct pf_resource *resource = paths->links[link];
        resource->capacity = state->bandwidth;
        pf_path_links_down += resource->on - state->on;
        resource->on = state->on;
        find_bandwidths(paths);
        if (change_listener)
            change_listener(resource);
    }
}

void pf_path_on_change(void (*changed)(struct pf_resource *resource))
{
    change_listener = changed;
}

static struct pf_resource *resource_of_link(struct pf_network_paths *paths, int link)
{
    if (!paths->links) {
        paths->next = networks;
        networks = paths;
        pf_platform_on_change(link_changed);
    }
    PF_ARRAY_REACH(paths->links, paths->link_capacity, link);
    if (!paths->links[link]) {
        const struct pf_platform_link *state = pf_platform_link_state(link);
        struct pf_resource *resource = pf_lines_get(&memory, sizeof *resource);
        *resource = (struct pf_resource){
            .capacity = state->bandwidth, .shared = state->shared, .on = state->on, .link = link};
        pf_path_links_down += !state->on;
        paths->links[link] = resource;
    }
    return paths->links[link];
}

static struct node_resources *resources_of_node(int node)
{
    PF_ARRAY_REACH(nodes, node_capacity, node);
    if (!nodes[node]) {
        nodes[node] = pf_lines_get(&memory, sizeof *nodes[node]);
        struct pf_resource bus = {.capacity = pf_config.nic_pcie_bw, .shared = true, .on = true, .link = -1};
        nodes[node]->out = bus;
        nodes[node]->in = bus;
        bus.capacity = pf_config.nic_loopback_bw;
        bus.shared = false;
        nodes[node]->loop = bus;
    }
    return nodes[node];
}

void pf_path_set_bus(int node, double rate)
{
    struct node_resources *resources = resources_of_node(node);
    resources->out.capacity = resources->in.capacity = rate;
    resources->out.shared = resources->in.shared = !isinf(rate);
}

static struct pf_path *make_path(struct pf_network_paths *paths, int src, int dst)
{
    struct pf_platform_route route = {.latency = pf_config.nic_loopback_latency};
    if (src != dst)
        pf_platform_route(src, dst, &route);
    int count = src == dst ? 1 : route.count;
    struct pf_path *path = pf_lines_get(&memory, offsetof(struct pf_path, resources) +
                                                     (size_t)(count + 2) * sizeof *path->resources);
    path->src = src;
    path->dst = dst;
    path->among = paths;
    path->latency = route.latency;
    double arrives = src == dst ? 1.0 : 1.0 - pf_config.net_loss;
    for (int i = 0; i < route.count; i++)
        arrives *= 1.0 - pf_platform_link_state(route.links[i])->loss;
    path->loss = 1.0 - arrives;
    path->resources[path->count++] = &resources_of_node(src)->out;
    for (int i = 0; i < count; i++)
        path->resources[path->count++] =
            src == dst ? &resources_of_node(src)->loop : resource_of_link(paths, route.links[i]);
    path->resources[path->count++] = &resources_of_node(dst)->in;
    find_bandwidth(path);
    free(route.links);
    return path;
}

struct pf_path *pf_path_get(struct pf_network_paths *paths, int src, int dst)
{
    void **place = pf_pairs_get(&paths->pairs, (uint32_t)src, (uint32_t)dst);
    if (!*place)
        *place = make_path(paths, src, dst);
    return *place;
}
