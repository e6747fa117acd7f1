/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routers out of routes: a link ends where the next one of a route begins. Where links serve both directions
 * (SHARED ones), that would make one point of all; then the points stay apart, and edges that take no time
 * lead from the end of a link to the begin of the next.
 *
 * Deadlocks: when no chain of links, each followed by the next one in some route, comes back to where it
 * began, one class of virtual channels is enough (Dally and Seitz 1987). Otherwise there is one for each link
 * of a route.
 */
#include "lowlevel/network/packet/from_platform.h"

#include <math.h>
#include <uthash.h>

#include "base/memory.h"
#include "lowlevel/topology/topology.h"
#include "lowlevel/platform/platform.h"

enum { ALL_NODES = 64, MOST_NODES = 4096, MOST_STEPS = 250 };

struct edge {
    int32_t from, to; /* points at first, then vertices */
    double rate, latency;
    int32_t back; /* the edge of the other direction at the same ports, or -1 */
    int32_t port; /* of the fabric, at `from` */
};

/* Two points that are next to each other in a route. */
struct joint {
    uint64_t key;  /* the first point, and the second in the lower half */
    int32_t place; /* in the order of their first coming, which is also the hash table's */
    UT_hash_handle hh;
};

/* While the fabric is made. A point is where links meet: 2 l the begin of link l, 2 l + 1 its end, behind
 * them the nodes. */
struct plan {
    struct pf_packet_platform *of;
    int nodes, links;                 /* links by the platform's numbers */
    int *hosts;                       /* the platform's number of each node */
    struct pf_platform_route *routes; /* [a * nodes + b] */
    bool split;                       /* points stay apart */
    int32_t *same;                    /* union-find of points */
    struct joint *joints;             /* hash table */
    struct edge *edges; /* links, then joints when split, then to and from nodes that are no leaves */
    int32_t edge_count;
    int32_t *vertex; /* of a point that stands for all that are the same; -1: of none */
    int32_t routers;
};

static int32_t joint_place(struct plan *plan, int32_t a, int32_t b)
{
    uint64_t key = (uint64_t)a << 32 | (uint32_t)b;
    struct joint *joint;
    HASH_FIND(hh, plan->joints, &key, sizeof key, joint);
    if (joint)
        return joint->place;
    joint = pf_calloc(1, sizeof *joint);
    joint->key = key;
    joint->place = (int32_t)HASH_COUNT(plan->joints);
    HASH_ADD(hh, plan->joints, key, sizeof key, joint);
    return joint->place;
}

static int32_t first_of(const struct joint *joint)
{
    return (int32_t)(joint->key >> 32);
}

static int32_t second_of(const struct joint *joint)
{
    return (int32_t)(uint32_t)joint->key;
}

static struct joint *next_joint(const struct joint *joint)
{
    return joint->hh.next;
}

static void forget_joints(struct plan *plan)
{
    struct joint *joint = plan->joints;
    HASH_CLEAR(hh, plan->joints); /* the table alone: the joints still know their order */
    while (joint) {
        struct joint *next = next_joint(joint);
        free(joint);
        joint = next;
    }
}

static int32_t find(const struct plan *plan, int32_t point)
{
    while (plan->same[point] != point)
        point = plan->same[point] = plan->same[plan->same[point]];
    return point;
}

static struct pf_platform_route *route_of(const struct plan *plan, int a, int b)
{
    return &plan->routes[(size_t)a * (size_t)plan->nodes + (size_t)b];
}

/* Calls `visit` for the points of each route that are next to each other, from node to node. */
static void for_each_joint(struct plan *plan, void (*visit)(struct plan *plan, int32_t a, int32_t b))
{
    for (int a = 0; a < plan->nodes; a++) {
        for (int b = 0; b < plan->nodes; b++) {
            const struct pf_platform_route *route = route_of(plan, a, b);
            int32_t at = 2 * plan->links + a;
            for (int i = 0; i < route->count; i++) {
                visit(plan, at, 2 * route->links[i]);
                at = 2 * route->links[i] + 1;
            }
            if (route->count > 0)
                visit(plan, at, 2 * plan->links + b);
        }
    }
}

static void unite(struct plan *plan, int32_t a, int32_t b)
{
    joint_place(plan, a, b);
    a = find(plan, a);
    b = find(plan, b);
    plan->same[a > b ? a : b] = a > b ? b : a;
}

static void read_routes(struct plan *plan)
{
    plan->of->node_count = pf_platform_node_count();
    plan->of->node_of = pf_calloc((size_t)plan->of->node_count + 1, sizeof *plan->of->node_of);
    plan->hosts = pf_calloc((size_t)plan->of->node_count + 1, sizeof *plan->hosts);
    for (int host = 0; host < plan->of->node_count; host++) {
        bool used = plan->of->node_count <= ALL_NODES || pf_platform_node_has_ranks(host);
        plan->of->node_of[host] = used ? plan->nodes : -1;
        if (used)
            plan->hosts[plan->nodes++] = host;
    }
    if (plan->nodes > MOST_NODES)
        pf_die("network packet: %d hosts have ranks, and a platform that is not built in may have %d",
               plan->nodes, MOST_NODES);
    plan->routes = pf_calloc((size_t)plan->nodes * (size_t)plan->nodes + 1, sizeof *plan->routes);
    for (int a = 0; a < plan->nodes; a++) {
        for (int b = 0; b < plan->nodes; b++) {
            struct pf_platform_route *route = route_of(plan, a, b);
            if (a == b || !pf_platform_find_route(plan->hosts[a], plan->hosts[b], route))
                continue;
            for (int i = 0; i < route->count; i++)
                if (route->links[i] >= plan->links)
                    plan->links = route->links[i] + 1;
        }
    }
}

/* A FATPIPE link is an edge of any rate, which is the same as its own where something else of each route is
 * slower. Otherwise it would bound each message by itself, and packets of several share what they cross.
 * Coordinates (Vivaldi) give a pair of hosts a latency that no link has. */
static void refuse_bounds(const struct plan *plan, double bus)
{
    for (size_t pair = 0; pair < (size_t)plan->nodes * (size_t)plan->nodes; pair++) {
        const struct pf_platform_route *route = &plan->routes[pair];
        double least = bus, latency = 0;
        for (int i = 0; i < route->count; i++) {
            if (pf_platform_link_state(route->links[i])->shared)
                least = fmin(least, pf_platform_link_state(route->links[i])->bandwidth);
            latency += pf_platform_link_state(route->links[i])->latency;
        }
        if (route->latency > latency * (1 + 1e-9))
            pf_die(
                "network packet: the route from host %s to host %s takes %g s by its coordinates (Vivaldi), "
                "and its links %g s: packets take their latency from links only; models portals and smpi "
                "have both",
                sg_host_get_name(pf_platform_host(plan->hosts[pair / (size_t)plan->nodes])),
                sg_host_get_name(pf_platform_host(plan->hosts[pair % (size_t)plan->nodes])), route->latency,
                latency);
        for (int i = 0; i < route->count; i++)
            if (pf_platform_link_state(route->links[i])->bandwidth < least)
                pf_die(
                    "network packet: link %s is a FATPIPE of %g B/s, less than the other links of a route: "
                    "it would bound each message by itself, and packets cannot",
                    pf_platform_link_name(route->links[i]),
                    pf_platform_link_state(route->links[i])->bandwidth);
    }
}

/* Which points are the same, and whether that makes sense. */
static void unite_points(struct plan *plan)
{
    int32_t points = 2 * plan->links + plan->nodes;
    plan->same = pf_calloc((size_t)points + 1, sizeof *plan->same);
    for (int32_t i = 0; i < points; i++)
        plan->same[i] = i;
    for_each_joint(plan, unite);
    for (int32_t l = 0; l < plan->links; l++)
        plan->split |= find(plan, 2 * l) == find(plan, 2 * l + 1);
    for (int32_t i = 0; plan->split && i < points; i++)
        plan->same[i] = i;
}

static int32_t add_edge(struct plan *plan, struct edge edge)
{
    plan->edges = pf_reallocarray(plan->edges, (size_t)plan->edge_count + 1, sizeof *plan->edges);
    plan->edges[plan->edge_count] = edge;
    return plan->edge_count++;
}

static void add_links(struct plan *plan)
{
    for (int32_t l = 0; l < plan->links; l++) {
        const struct pf_platform_link *link = pf_platform_link_state(l);
        add_edge(plan, (struct edge){find(plan, 2 * l), find(plan, 2 * l + 1),
                                     link->shared ? link->bandwidth : INFINITY, link->latency, -1, -1});
    }
    for (const struct joint *j = plan->split ? plan->joints : NULL; j; j = next_joint(j))
        add_edge(plan, (struct edge){first_of(j), second_of(j), INFINITY, 0.0, -1, -1});
}

/* A node is a leaf when one link leads to it and one away from it, between it and the same point. */
static void find_leaves(struct plan *plan, int32_t *out, int32_t *in)
{
    int32_t points = 2 * plan->links + plan->nodes;
    int32_t *outs = pf_calloc((size_t)points + 1, sizeof *outs),
            *ins = pf_calloc((size_t)points + 1, sizeof *ins);
    int32_t *inside = pf_calloc((size_t)points + 1, sizeof *inside);
    int32_t *last_out = pf_calloc((size_t)points + 1, sizeof *last_out);
    int32_t *last_in = pf_calloc((size_t)points + 1, sizeof *last_in);
    for (int32_t l = 0; l < plan->links; l++) {
        outs[plan->edges[l].from]++;
        last_out[plan->edges[l].from] = l;
        ins[plan->edges[l].to]++;
        last_in[plan->edges[l].to] = l;
    }
    for (int32_t n = 0; n < plan->nodes; n++)
        inside[find(plan, 2 * plan->links + n)]++;
    for (int32_t n = 0; n < plan->nodes; n++) {
        int32_t point = find(plan, 2 * plan->links + n);
        out[n] = in[n] = -1;
        if (outs[point] != 1 || ins[point] != 1 || inside[point] != 1)
            continue;
        int32_t other = plan->edges[last_out[point]].to;
        if (other != plan->edges[last_in[point]].from || inside[other] > 0)
            continue;
        out[n] = last_out[point];
        in[n] = last_in[point];
    }
    free(outs);
    free(ins);
    free(inside);
    free(last_out);
    free(last_in);
}

/* Points become vertices. */
static void number_vertices(struct plan *plan, const int32_t *leaf_out)
{
    int32_t points = 2 * plan->links + plan->nodes;
    plan->vertex = pf_calloc((size_t)points + 1, sizeof *plan->vertex);
    for (int32_t i = 0; i < points; i++)
        plan->vertex[i] = -1;
    for (int32_t n = 0; n < plan->nodes; n++)
        if (leaf_out[n] >= 0)
            plan->vertex[find(plan, 2 * plan->links + n)] = -2 - n;
    for (int32_t i = 0; i < points; i++)
        if (find(plan, i) == i && plan->vertex[i] == -1)
            plan->vertex[i] = plan->routers++;
    for (int32_t i = 0; i < points; i++)
        if (plan->vertex[i] < -1)
            plan->vertex[i] = plan->routers - plan->vertex[i] - 2;
    for (int32_t c = 0; c < plan->edge_count; c++) {
        plan->edges[c].from = plan->vertex[plan->edges[c].from];
        plan->edges[c].to = plan->vertex[plan->edges[c].to];
    }
}

/* The edges of nodes that are no leaves, and those of leaves as pairs. How many are no leaves. */
static int attach_nodes(struct plan *plan, const int32_t *leaf_out, const int32_t *leaf_in, int32_t *attached)
{
    int count = 0;
    for (int32_t n = 0; n < plan->nodes; n++) {
        if (leaf_out[n] >= 0) {
            plan->edges[leaf_out[n]].back = leaf_in[n];
            plan->edges[leaf_in[n]].back = leaf_out[n];
            attached[n] = -1;
            continue;
        }
        int32_t router = plan->vertex[find(plan, 2 * plan->links + n)], node = plan->routers + n;
        attached[n] = add_edge(plan, (struct edge){router, node, INFINITY, 0.0, plan->edge_count + 1, -1});
        add_edge(plan, (struct edge){node, router, INFINITY, 0.0, plan->edge_count - 1, -1});
        count++;
    }
    return count;
}

static int32_t port_count(const void *shape, int32_t router)
{
    return ((const int32_t *)shape)[router];
}

static void plug(struct pf_fabric *f, const struct edge *edge, int32_t port, int32_t peer_port)
{
    f->ports[port] =
        (struct pf_fabric_port){edge->to, peer_port - f->first_port[edge->to], edge->rate, edge->latency};
}

/* Each edge gets its ports; the other direction of one without a partner carries nothing. */
static void make_fabric(struct plan *plan, double router_latency)
{
    int32_t *counts = pf_calloc((size_t)plan->routers + (size_t)plan->nodes + 1, sizeof *counts);
    for (int32_t c = 0; c < plan->edge_count; c++) {
        bool counted = plan->edges[c].back >= 0 && plan->edges[c].back < c;
        counts[plan->edges[c].from] += !counted;
        counts[plan->edges[c].to] += !counted;
    }
    struct pf_fabric *f = pf_fabric_outline(NULL, plan->nodes, 0, plan->routers, counts);
    pf_fabric_add_ports(f, port_count);
    int32_t *next = pf_calloc((size_t)plan->routers + (size_t)plan->nodes + 1, sizeof *next);
    for (int32_t c = 0; c < plan->edge_count; c++) {
        struct edge *edge = &plan->edges[c];
        if (edge->port >= 0)
            continue;
        struct edge nothing = {edge->to, edge->from, 0.0, edge->latency, -1, -1};
        struct edge *back = edge->back >= 0 ? &plan->edges[edge->back] : &nothing;
        edge->port = f->first_port[edge->from] + next[edge->from]++;
        back->port = f->first_port[edge->to] + next[edge->to]++;
        plug(f, edge, edge->port, back->port);
        plug(f, back, back->port, edge->port);
    }
    free(next);
    f->router_latency = router_latency;
    snprintf(f->text, sizeof f->text, "routes of the platform: %d nodes, %d links", plan->nodes, plan->links);
    plan->of->fabric = f;
}

/* What a router takes of the latency of its links. */
static double split_latency(struct plan *plan, double router_latency)
{
    double least = router_latency;
    for (int32_t l = 0; l < plan->links; l++)
        if (plan->edges[l].from < plan->routers)
            least = fmin(least, plan->edges[l].latency);
    for (int32_t l = 0; l < plan->links; l++)
        if (plan->edges[l].from < plan->routers)
            plan->edges[l].latency -= least;
    return least;
}

/* Kahn's algorithm on "is followed by" among links: whether none is left. */
static bool has_no_circle(const struct plan *plan)
{
    size_t links = (size_t)plan->links;
    int32_t *before = pf_calloc(links + 1, sizeof *before), *queue = pf_calloc(links + 1, sizeof *queue);
    int32_t *first = pf_calloc(links + 2, sizeof *first), count = 0;
    int32_t *after = pf_calloc((size_t)HASH_COUNT(plan->joints) + 1, sizeof *after);
    for (int pass = 0; pass < 2; pass++) {
        for (const struct joint *j = plan->joints; j; j = next_joint(j)) {
            int32_t a = first_of(j), b = second_of(j);
            if (a >= 2 * plan->links || b >= 2 * plan->links)
                continue;
            if (pass == 0) {
                first[a / 2 + 1]++;
                before[b / 2]++;
            } else {
                after[first[a / 2]++] = b / 2;
            }
        }
        for (int32_t l = 0; pass == 0 && l < plan->links; l++)
            first[l + 1] += first[l];
    }
    for (int32_t l = 0; l < plan->links; l++)
        if (before[l] == 0)
            queue[count++] = l;
    for (int32_t i = 0; i < count; i++) /* first[l] is now the end of l's */
        for (int32_t k = queue[i] ? first[queue[i] - 1] : 0; k < first[queue[i]]; k++)
            if (--before[after[k]] == 0)
                queue[count++] = after[k];
    free(before);
    free(queue);
    free(first);
    free(after);
    return count == plan->links;
}

/* ---- Routes as ports. */
static void add_step(struct plan *plan, int32_t edge, int link, int32_t *count)
{
    struct pf_packet_platform *of = plan->of;
    if (plan->edges[edge].from >= plan->routers)
        return;
    if ((*count & (*count - 1)) == 0 && *count >= 64) {
        of->steps = pf_reallocarray(of->steps, 2 * (size_t)*count, sizeof *of->steps);
        of->classes = pf_reallocarray(of->classes, 2 * (size_t)*count, sizeof *of->classes);
    }
    of->steps[*count] = plan->edges[edge].port;
    of->classes[(*count)++] = (uint8_t)link;
}

static int write_steps(struct plan *plan, const int32_t *attached)
{
    struct pf_packet_platform *of = plan->of;
    int32_t count = 0;
    int longest = 0;
    size_t routes = (size_t)plan->nodes * (size_t)plan->nodes;
    of->first_step = pf_calloc(routes + 1, sizeof *of->first_step);
    of->steps = pf_calloc(64, sizeof *of->steps);
    of->classes = pf_calloc(64, sizeof *of->classes);
    for (int a = 0; a < plan->nodes; a++) {
        for (int b = 0; b < plan->nodes; b++) {
            const struct pf_platform_route *route = route_of(plan, a, b);
            int32_t at = 2 * plan->links + a;
            for (int i = 0; i < route->count; i++) {
                if (plan->split)
                    add_step(plan, plan->links + joint_place(plan, at, 2 * route->links[i]), i, &count);
                add_step(plan, route->links[i], i, &count);
                at = 2 * route->links[i] + 1;
            }
            if (plan->split && route->count > 0)
                add_step(plan, plan->links + joint_place(plan, at, 2 * plan->links + b), route->count,
                         &count);
            if (route->count > 0 && attached[b] >= 0)
                add_step(plan, attached[b], route->count, &count);
            longest = route->count > longest ? route->count : longest;
            of->first_step[(size_t)a * (size_t)plan->nodes + (size_t)b + 1] = count;
        }
    }
    if (longest > MOST_STEPS / 3)
        pf_die("network packet: a route has %d links, and %d are possible", longest, MOST_STEPS / 3);
    return longest;
}

static void no_begin(const struct pf_routing *r, const struct pf_packet_load *load, struct pf_packet_path *p)
{
}

static bool next_step(const struct pf_routing *r, int32_t router, const struct pf_packet_load *load,
                      const struct pf_packet_path *p, struct pf_packet_hop *hop)
{
    const struct pf_packet_platform *of = pf_packet_platform_of(r);
    size_t route = (size_t)p->source * (size_t)r->fabric->nodes + (size_t)p->destination;
    int32_t step = of->first_step[route] + p->hops, port = of->steps[step];
    *hop = (struct pf_packet_hop){.port = port - r->fabric->first_port[router],
                                  .vc = r->classes > 1 ? of->classes[step] : 0,
                                  .phase = p->phase,
                                  .intermediate = -1};
    return r->fabric->up[port];
}

static const struct pf_routing_ops routes_ops = {sizeof routes_ops, "minimal", "SimGrid's routes", no_begin,
                                                 next_step};

static void limit(struct pf_fabric *f, int32_t port, double bus)
{
    f->ports[port].rate = fmin(f->ports[port].rate, bus);
}

static void finish(struct plan *plan, double bus)
{
    struct pf_packet_platform *of = plan->of;
    struct pf_fabric *f = of->fabric;
    of->link_count = plan->links;
    of->port_of = pf_calloc((size_t)plan->links + 1, sizeof *of->port_of);
    for (int32_t l = 0; l < plan->links; l++)
        of->port_of[l] = plan->edges[l].port;
    of->bus = bus;
    for (int32_t n = 0; n < plan->nodes; n++) {
        int32_t port = f->first_port[plan->routers + n];
        limit(f, port, bus);
        limit(f, f->first_port[f->ports[port].peer] + f->ports[port].peer_port, bus);
    }
    for (int link = 0; link < plan->links; link++)
        pf_packet_platform_update(of, link);
    for (size_t i = 0; i < (size_t)plan->nodes * (size_t)plan->nodes; i++)
        free(plan->routes[i].links);
    free(plan->routes);
    free(plan->hosts);
    free(plan->same);
    forget_joints(plan);
    free(plan->edges);
    free(plan->vertex);
}

void pf_packet_platform_make(struct pf_packet_platform *of, double router_latency, double bus)
{
    struct plan plan = {.of = of};
    read_routes(&plan);
    refuse_bounds(&plan, bus);
    unite_points(&plan);
    add_links(&plan);
    int32_t *leaf_out = pf_calloc((size_t)plan.nodes + 1, sizeof *leaf_out);
    int32_t *leaf_in = pf_calloc((size_t)plan.nodes + 1, sizeof *leaf_in);
    int32_t *attached = pf_calloc((size_t)plan.nodes + 1, sizeof *attached);
    find_leaves(&plan, leaf_out, leaf_in);
    number_vertices(&plan, leaf_out);
    bool nodes_are_routers = attach_nodes(&plan, leaf_out, leaf_in, attached) > 0;
    make_fabric(&plan, split_latency(&plan, nodes_are_routers ? 0.0 : router_latency));
    free(leaf_out);
    free(leaf_in);
    int longest = write_steps(&plan, attached);
    free(attached);
    bool safe = has_no_circle(&plan);
    of->routing =
        (struct pf_routing){.ops = &routes_ops, .fabric = of->fabric, .classes = safe ? 1 : longest + 1};
    snprintf(of->routing.reason, sizeof of->routing.reason, "%s",
             safe ? "no circle of links" : "a class for each link of a route");
    finish(&plan, bus);
}

void pf_packet_platform_update(struct pf_packet_platform *of, int link)
{
    struct pf_fabric *f = of->fabric;
    if (link >= of->link_count || of->port_of[link] < 0)
        return;
    const struct pf_platform_link *state = pf_platform_link_state(link);
    int32_t port = of->port_of[link], peer = f->ports[port].peer;
    f->ports[port].rate = state->shared ? state->bandwidth : INFINITY;
    if (peer >= f->routers || port >= f->first_port[f->routers])
        limit(f, port, of->bus);
    pf_fabric_set_up(f, port, state->on);
}
