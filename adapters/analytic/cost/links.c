/* SPDX-License-Identifier: BSD-3-Clause */
/* Contention by link: until when each link is busy with the bytes of earlier messages. */
#include "adapters/analytic/cost/links.h"

#include <stdlib.h>
#include <string.h>

#include "adapters/analytic/cost/busy.h"
#include "adapters/analytic/cost/paths.h"
#include "base/memory.h"

struct link {
    struct pf_busy busy;
    double byte_time;
    double free; /* of those that are asked for in the order in which they are sent */
};

/* The links between two nodes of the platform. */
struct route {
    int64_t pair; /* plus 1; 0: empty */
    int count;
    int *link;
};

struct pf_links {
    const struct pf_cost_topology *topology; /* NULL: the platform's routes */
    size_t count;
    struct link *link;
    double byte_time; /* by arithmetic */
    bool whole;       /* paths have their first and last links here, too */
    int nodes;
    pf_cost_links_fn *fn;
    void *context;
    struct route *route;
    struct pf_cost_link *scratch;
    int room;
};

struct pf_links *pf_links_by_arithmetic(const struct pf_cost_topology *topology, double byte_time)
{
    struct pf_links *links = pf_calloc(1, sizeof *links);
    links->topology = topology;
    links->byte_time = byte_time;
    links->whole = true;
    links->count = pf_cost_topology_links(topology);
    links->link = pf_calloc(links->count + 1, sizeof *links->link);
    if (links->link)
        return links;
    free(links);
    return NULL;
}

struct pf_links *pf_links_of_platform(int nodes, bool whole, pf_cost_links_fn *fn, void *context)
{
    struct pf_links *links = pf_calloc(1, sizeof *links);
    links->whole = whole;
    links->nodes = nodes;
    links->fn = fn;
    links->context = context;
    links->room = 64;
    links->route = pf_calloc(pf_cost_paths_places(nodes), sizeof *links->route);
    links->scratch = pf_calloc((size_t)links->room, sizeof *links->scratch);
    if (links->route && links->scratch)
        return links;
    pf_links_free(links);
    return NULL;
}

void pf_links_free(struct pf_links *links)
{
    if (!links)
        return;
    for (size_t i = 0; links->route && i < pf_cost_paths_places(links->nodes); i++)
        free(links->route[i].link);
    free(links->route);
    free(links->scratch);
    free(links->link);
    free(links);
}

static void note_link(struct pf_links *links, const struct pf_cost_link *link)
{
    size_t number = (size_t)link->number;
    if (number >= links->count) {
        size_t more = number + 1 - links->count;
        links->link = pf_realloc(links->link, (number + 1) * sizeof *links->link);
        memset(links->link + links->count, 0, more * sizeof *links->link);
        links->count = number + 1;
    }
    links->link[number].byte_time = 1 / link->bandwidth;
}

/* Asks the platform; numbers that have not been seen before are new links. */
static void ask(struct pf_links *links, int src, int dst, struct route *route)
{
    int count = links->fn(links->context, src, dst, links->scratch, links->room);
    if (count > links->room) {
        links->room = count;
        links->scratch = pf_realloc(links->scratch, (size_t)count * sizeof *links->scratch);
        count = links->fn(links->context, src, dst, links->scratch, links->room);
    }
    int skip = links->whole ? 0 : 1;
    route->count = count > 2 * skip ? count - 2 * skip : 0;
    if (route->count == 0)
        return;
    route->link = pf_realloc(route->link, (size_t)route->count * sizeof *route->link);
    for (int i = 0; i < route->count; i++) {
        route->link[i] = links->scratch[skip + i].number;
        note_link(links, &links->scratch[skip + i]);
    }
}

static inline const struct route *find_route(struct pf_links *links, int src, int dst)
{
    int64_t pair = (int64_t)src * links->nodes + dst;
    struct route *route = &links->route[pf_cost_paths_place(links->nodes, src, dst)];
    if (__builtin_expect(route->pair != pair + 1, 0)) {
        ask(links, src, dst, route);
        route->pair = pair + 1;
    }
    return route;
}

/* The head of a message on its way by arithmetic. */
struct head {
    struct pf_links *links;
    double at, latency, duration, waited;
};

static void take(void *context, size_t link)
{
    struct head *head = context;
    double begin = pf_busy_take(&head->links->link[link].busy, head->at, head->duration);
    head->waited += begin - head->at;
    head->at = begin + head->latency;
}

double pf_links_load(struct pf_links *links, int src, int dst, size_t bytes, double start, double latency)
{
    if (bytes == 0)
        return 0;
    if (links->topology) {
        int hops = pf_cost_topology_hops(links->topology, src, dst);
        struct head head = {links, start, latency / hops, (double)bytes * links->byte_time, 0};
        pf_cost_topology_route(links->topology, src, dst, take, &head);
        return head.waited;
    }
    const struct route *route = find_route(links, src, dst);
    double at = start, waited = 0, each = route->count ? latency / route->count : 0;
    for (int i = 0; i < route->count; i++) {
        struct link *link = &links->link[route->link[i]];
        double duration = (double)bytes * link->byte_time;
        double begin = pf_busy_take(&link->busy, at, duration);
        waited += begin - at;
        at = begin + each;
    }
    return waited;
}

/* The head of one whose place is that of the date at which it is asked for. */
struct place {
    struct pf_links *links;
    double bytes, at, tail;
};

static inline void pass(struct place *place, struct link *link, double byte_time)
{
    double duration = place->bytes * byte_time;
    if (link->free > place->at)
        place->at = link->free;
    if (place->links->whole) /* others wait for it as for any message, and it for them */
        place->at = pf_busy_take(&link->busy, place->at, duration);
    link->free = place->at + duration;
    if (link->free > place->tail)
        place->tail = link->free;
}

static void pass_number(void *context, size_t link)
{
    struct place *place = context;
    pass(place, &place->links->link[link], place->links->byte_time);
}

double pf_links_pass(struct pf_links *links, int src, int dst, double bytes, double *head)
{
    const struct route *route = links->topology ? NULL : find_route(links, src, dst);
    if (route && route->count == 0)
        return *head;
    struct place place = {links, bytes, *head, *head};
    if (links->topology)
        pf_cost_topology_route(links->topology, src, dst, pass_number, &place);
    for (int i = 0; route && i < route->count; i++)
        pass(&place, &links->link[route->link[i]], links->link[route->link[i]].byte_time);
    *head = place.at;
    return place.tail;
}
