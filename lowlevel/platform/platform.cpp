/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes and link states: SimGrid's C interface lacks the states and the change signals. */
#include "lowlevel/platform/platform.h"
#include "lowlevel/platform/scan.h"
#include "lowlevel/simgrid/private.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

extern "C" {
#include "base/config.h"
#include "base/log.h"
#include "lowlevel/topology/fabric.h"
}

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <simgrid/s4u/NetZone.hpp>

namespace
{

using simgrid::s4u::Link;

std::vector<sg_host_t> hosts;                       // all, by name
std::unordered_map<const void *, int> node_of_host; // filled on demand
std::deque<pf_platform_link> links;                 /* a deque keeps addresses valid */
std::deque<std::string> link_names;                 // copies: SimGrid's links end with the simulation
std::unordered_map<const Link *, int> number_of_link;
std::vector<void (*)(int)> change_listeners;
std::deque<std::string> zones; // names, by order of first use
std::vector<char> given_ranks; // by node, in a process that has none

bool by_name(sg_host_t a, sg_host_t b)
{
    return a->get_name() < b->get_name();
}

void read_hosts()
{
    if (!hosts.empty())
        return;
    hosts = simgrid::s4u::Engine::get_instance()->get_all_hosts();
    std::sort(hosts.begin(), hosts.end(), by_name);
}

/*
 * The topology that has the routes, and the links of its ports. A built-in cluster says by its property
 * "parfocal-cluster" which topology has the same routes as it: `learns` then. SimGrid is asked for each route
 * with a port whose link is unknown; the others take a tenth of the time.
 */
struct {
    bool is_known, learns;
    struct pf_fabric *fabric;
    std::vector<int> links; /* -1: unknown */
} topology;

/* SimGrid 4 has a zone of its own above that of the file. */
const char *zone_property(const char *name)
{
    auto *root = simgrid::s4u::Engine::get_instance()->get_netzone_root();
    const char *text = root->get_property(name);
    for (const auto *zone : root->get_children())
        text = text ? text : zone->get_property(name);
    return text;
}

void find_topology()
{
    if (topology.is_known)
        return;
    read_hosts();
    topology.is_known = true;
    const char *name = "parfocal-topology", *text = zone_property(name);
    struct pf_fabric_speeds any;
    char error[300];
    topology.learns = !text;
    if (!text)
        text = zone_property(name = "parfocal-cluster");
    if (!text)
        return;
    pf_fabric_equal_links(&any, 1, 0, 0);
    topology.fabric = pf_fabric_make(text, &any, error, sizeof error);
    if (!topology.fabric)
        pf_die("the platform's property \"%s\": %s", name, error);
    bool fits = topology.fabric->nodes == static_cast<int32_t>(hosts.size());
    for (size_t i = 1; fits && topology.learns && i < hosts.size(); i++) /* in the order of the cluster */
        fits = hosts[i - 1]->get_netpoint()->id() < hosts[i]->get_netpoint()->id();
    if (!fits) {
        if (!topology.learns)
            pf_die("the platform has %zu hosts, and its property \"%s\", '%s', %d nodes", hosts.size(), name,
                   text, topology.fabric->nodes);
        pf_fabric_free(topology.fabric); /* the cluster is a part of the platform, or has other names */
        topology.fabric = nullptr;
        return;
    }
    topology.links.resize(static_cast<size_t>(pf_fabric_links(topology.fabric)), -1);
}

/* Both halves of a split-duplex link carry its name and the direction; the property is given to one or all.
 */
double read_loss(const Link &link)
{
    const char *text = link.get_property("loss");
    if (!text)
        return 0.0;
    char *end;
    double loss = std::strtod(text, &end);
    if (end == text || *end || !(loss >= 0.0 && loss <= 1.0))
        pf_die("link %s: the property \"loss\" is \"%s\", and must be a probability from 0 to 1",
               link.get_cname(), text);
    return loss;
}

void read_state(const Link &link, pf_platform_link &out)
{
    out.bandwidth = link.get_bandwidth();
    out.latency = link.get_latency();
    out.shared = link.get_sharing_policy() != Link::SharingPolicy::FATPIPE;
    out.on = link.is_on();
}

void link_changed(const Link &link)
{
    auto found = number_of_link.find(&link);
    if (found == number_of_link.end())
        return;
    read_state(link, links[found->second]);
    for (auto listener : change_listeners)
        listener(found->second);
}

/* What only SimGrid's own network follows. */
void refuse_link(const Link &link)
{
    if (link.get_sharing_policy() == Link::SharingPolicy::WIFI)
        pf_die("link %s is wireless (WIFI), which only model smpi can simulate", link.get_cname());
    if (pf_platform_latency_changes(link.get_cname()))
        pf_die("link %s has a profile of its latency, which only model smpi follows", link.get_cname());
}

int number_link(const Link *link)
{
    auto found = number_of_link.find(link);
    if (found != number_of_link.end())
        return found->second;
    refuse_link(*link);
    int number = static_cast<int>(links.size());
    links.emplace_back();
    links.back().loss = read_loss(*link);
    read_state(*link, links.back());
    number_of_link[link] = number;
    link_names.push_back(link->get_name());
    return number;
}

struct Walk {
    std::vector<int> *path;
    double latency;
    bool is_known;
};

void take_link(void *context, int32_t port)
{
    auto *walk = static_cast<Walk *>(context);
    int &number = topology.links[port];
    if (number < 0 && !topology.learns) {
        const auto *link = Link::by_name_or_null("link-" + std::to_string(port));
        if (!link)
            pf_die("the platform has no link-%d, which its property \"parfocal-topology\" asks for", port);
        number = number_link(link);
    }
    walk->is_known = walk->is_known && number >= 0;
    walk->path->push_back(number);
    walk->latency += walk->is_known ? links[number].latency : 0.0;
}

/* Where a zone has none, SimGrid throws or, in a zone with full routing, finds no link and no latency. */
bool ask_simgrid(sg_host_t from, sg_host_t to, std::vector<int> &path, double &latency)
{
    static std::vector<Link *> found;
    found.clear();
    path.clear();
    try {
        from->route_to(to, found, &latency);
    } catch (const std::exception &) {
        return false;
    }
    for (const auto *link : found)
        path.push_back(number_link(link));
    return !path.empty() || latency > 0.0;
}

/* The ports of a route, with the links that SimGrid reports. */
struct Lesson {
    const std::vector<int> *path;
    size_t count;
    bool agrees;
};

void learn_link(void *context, int32_t port)
{
    auto *lesson = static_cast<Lesson *>(context);
    size_t i = lesson->count++;
    int &number = topology.links[port];
    if (i < lesson->path->size() && number < 0)
        number = (*lesson->path)[i];
    lesson->agrees = lesson->agrees && i < lesson->path->size() && number == (*lesson->path)[i];
}

bool find_route(int src, int dst, std::vector<int> &path, double &latency)
{
    find_topology();
    sg_host_t from = hosts[src], to = hosts[dst];
    auto seed = static_cast<uint64_t>(pf_config.net_seed);
    Walk walk = {&path, 0.0, true};
    if (topology.fabric && src != dst) {
        pf_fabric_route(topology.fabric, seed, src, dst, take_link, &walk);
        latency = walk.latency;
        if (walk.is_known)
            return true;
    } else if (topology.fabric && !topology.learns) { /* SimGrid knows no routes of the last hosts */
        const auto *own = Link::by_name_or_null(from->get_name() + "_loopback");
        if (own)
            path.push_back(number_link(own));
        latency = own ? own->get_latency() : 0.0;
        return own;
    }
    latency = 0.0;
    if (!ask_simgrid(from, to, path, latency) || !topology.fabric || src == dst)
        return !path.empty() || latency > 0.0;
    Lesson lesson = {&path, 0, true};
    pf_fabric_route(topology.fabric, seed, src, dst, learn_link, &lesson);
    if (!lesson.agrees || lesson.count != path.size())
        pf_die(
            "the platform's property \"parfocal-cluster\" and its cluster have different routes from host %s "
            "to host %s: correct it, or take it out",
            from->get_cname(), to->get_cname());
    return true;
}

} // namespace

int pf_platform_node(sg_host_t host)
{
    read_hosts();
    auto [found, is_new] = node_of_host.try_emplace(host, 0);
    if (is_new)
        found->second =
            static_cast<int>(std::lower_bound(hosts.begin(), hosts.end(), host, by_name) - hosts.begin());
    return found->second;
}

int pf_platform_node_count(void)
{
    read_hosts();
    return static_cast<int>(hosts.size());
}

void pf_platform_set_ranks(const char *has_ranks, int count)
{
    given_ranks.assign(has_ranks, has_ranks + count);
}

bool pf_platform_node_has_ranks(int node)
{
    if (!given_ranks.empty())
        return given_ranks[node] != 0;
    return !hosts[node]->get_all_actors().empty();
}

sg_host_t pf_platform_host(int node)
{
    return hosts[node];
}

void pf_platform_route(int src, int dst, struct pf_platform_route *route)
{
    if (!pf_platform_find_route(src, dst, route))
        pf_die("the platform has no route from host %s to host %s", hosts[src]->get_cname(),
               hosts[dst]->get_cname());
}

bool pf_platform_find_route(int src, int dst, struct pf_platform_route *route)
{
    static std::vector<int> path; /* there may be a million routes */
    double latency = 0.0;
    path.clear();
    if (!find_route(src, dst, path, latency))
        return false;
    route->latency = latency;
    route->count = static_cast<int>(path.size());
    route->links = static_cast<int *>(std::malloc((path.size() + 1) * sizeof(int)));
    std::copy(path.begin(), path.end(), route->links);
    return true;
}

bool pf_platform_has_routes(void)
{
    static bool all_have;
    find_topology();
    for (int node = 0; topology.fabric && !topology.learns && !all_have && node < pf_platform_node_count();
         node++)
        if (hosts[node]->get_englobing_zone()->get_name() == "others" && pf_platform_node_has_ranks(node))
            return false;
    all_have = true;
    return true;
}

int pf_platform_zone(int node)
{
    const std::string &name = hosts[node]->get_englobing_zone()->get_name();
    auto known = std::find(zones.begin(), zones.end(), name);
    if (known != zones.end())
        return static_cast<int>(known - zones.begin());
    zones.push_back(name);
    return static_cast<int>(zones.size()) - 1;
}

const char *pf_platform_zone_name(int zone)
{
    return zones[zone].c_str();
}

const char *pf_platform_link_name(int link)
{
    return link_names[link].c_str();
}

const struct pf_platform_link *pf_platform_link_state(int link)
{
    return &links[link];
}

void pf_platform_on_change(void (*changed)(int link))
{
    static bool connected;
    if (std::find(change_listeners.begin(), change_listeners.end(), changed) == change_listeners.end())
        change_listeners.push_back(changed);
    if (connected)
        return;
    connected = true;
    pf_simgrid_on_turn<Link>(link_changed);
    Link::on_bandwidth_change_cb(link_changed);
}
