/* SPDX-License-Identifier: BSD-3-Clause */
/* Contention by link: until when each link is busy with earlier messages. */
#include "adapters/analytic/cost/routes/links.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "adapters/analytic/cost/routes/busy.h"
#include "adapters/analytic/cost/routes/paths.h"
#include "base/config.h"
#include "base/memory.h"

struct link {
    struct pf_busy busy;
    double byte_time;
    int from, to; /* the only node from or to which it carries messages, plus 1; 0: none yet; MANY */
};

enum { MANY = INT_MAX };

/* A long message on a link, where its bytes take `work`, and `alone` on its whole path. */
struct crossing {
    uint64_t number;
    double start, work, alone;
};

enum { CROSSINGS = 128 }; /* of each link */

/* The links between two nodes of the platform. */
struct route {
    int64_t pair; /* plus 1; 0: empty */
    int count;
    int *link;
};

struct pf_links {
    const struct pf_fabric *topology; /* NULL: the platform's routes */
    size_t count;
    struct link *link;
    struct pf_busy *long_busy;   /* of each, for pf_links_wait(); NULL where paths are whole */
    struct crossing **crossings; /* of each, the last ones; NULL while there are none */
    int waited_at;               /* of the last message, for which it has waited longest */
    uint64_t crossed;            /* messages of pf_links_wait() */
    double byte_time;            /* by arithmetic */
    bool whole;                  /* messages wait for all links of a path */
    int ends;                    /* so many links at either end short ones do not wait for */
    int nodes;
    pf_cost_links_fn *fn;
    void *context;
    struct route *route;
    struct pf_cost_link *scratch;
    int room;
};

struct pf_links *pf_links_by_arithmetic(struct pf_fabric *topology, double byte_time)
{
    struct pf_links *links = pf_calloc(1, sizeof *links);
    struct pf_fabric_speeds speeds;
    links->topology = topology;
    links->byte_time = byte_time;
    links->count = (size_t)pf_fabric_links(topology);
    pf_fabric_equal_links(&speeds, 1 / byte_time, 0, 0);
    pf_fabric_wire(topology, &speeds);
    links->link = pf_calloc(links->count + 1, sizeof *links->link);
    return links;
}

/* The links of one path. */
struct listing {
    const struct pf_fabric *fabric;
    struct pf_cost_link *links;
    int room, count;
};

static void list(void *context, int32_t link)
{
    struct listing *listing = context;
    if (listing->count < listing->room)
        listing->links[listing->count] = (struct pf_cost_link){link, listing->fabric->ports[link].rate};
    listing->count++;
}

int pf_links_of_fabric(void *fabric, int src, int dst, struct pf_cost_link *links, int room)
{
    struct listing listing = {fabric, links, room, 0};
    pf_fabric_route(fabric, (uint64_t)pf_config.net_seed, src, dst, list, &listing);
    return listing.count;
}

struct pf_links *pf_links_of_platform(int nodes, bool whole, pf_cost_links_fn *fn, void *context)
{
    struct pf_links *links = pf_calloc(1, sizeof *links);
    links->whole = whole;
    links->ends = 1;
    links->nodes = nodes;
    links->fn = fn;
    links->context = context;
    links->room = 64;
    links->route = pf_calloc(pf_cost_paths_places(nodes), sizeof *links->route);
    links->scratch = pf_calloc((size_t)links->room, sizeof *links->scratch);
    return links;
}

void pf_links_free(struct pf_links *links)
{
    if (!links)
        return;
    for (size_t i = 0; links->route && i < pf_cost_paths_places(links->nodes); i++)
        free(links->route[i].link);
    free(links->route);
    free(links->scratch);
    for (size_t i = 0; i < links->count; i++)
        free(links->link[i].busy.stretch);
    free(links->link);
    pf_busy_free(links->long_busy, links->count);
    for (size_t i = 0; links->crossings && i < links->count; i++)
        free(links->crossings[i]);
    free(links->crossings);
    free(links);
}

static int one_or_many(int known, int node)
{
    return known == 0 || known == node + 1 ? node + 1 : MANY;
}

static void note_link(struct pf_links *links, const struct pf_cost_link *link, int src, int dst)
{
    size_t number = (size_t)link->number;
    if (number >= links->count) {
        size_t had = links->count, count = number + 1;
        links->link = pf_array_extend(links->link, had, count, sizeof *links->link);
        if (!links->whole) {
            links->long_busy = pf_array_extend(links->long_busy, had, count, sizeof *links->long_busy);
            links->crossings = pf_array_extend(links->crossings, had, count, sizeof *links->crossings);
        }
        links->count = count;
    }
    links->link[number].byte_time = 1 / link->bandwidth;
    links->link[number].from = one_or_many(links->link[number].from, src);
    links->link[number].to = one_or_many(links->link[number].to, dst);
}

/* Looks up a route of the platform; unknown numbers are new links. */
static void ask(struct pf_links *links, int src, int dst, struct route *route)
{
    int count = links->fn(links->context, src, dst, links->scratch, links->room);
    if (count > links->room) {
        links->room = count;
        links->scratch = pf_realloc(links->scratch, (size_t)count * sizeof *links->scratch);
        count = links->fn(links->context, src, dst, links->scratch, links->room);
    }
    route->count = count;
    if (count == 0)
        return;
    route->link = pf_realloc(route->link, (size_t)route->count * sizeof *route->link);
    for (int i = 0; i < route->count; i++) {
        route->link[i] = links->scratch[i].number;
        note_link(links, &links->scratch[i], src, dst);
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
    double at, latency, duration, waited, longest;
};

/* A message waits so long at a link; `longest` at any so far. */
static inline void note_wait(struct pf_links *links, int link, double waits, double *longest)
{
    if (waits > *longest) {
        *longest = waits;
        links->waited_at = link;
    }
}

static void take(void *context, int32_t link)
{
    struct head *head = context;
    double begin = pf_busy_take(&head->links->link[link].busy, head->at, head->duration);
    head->waited += begin - head->at;
    note_wait(head->links, link, begin - head->at, &head->longest);
    head->at = begin + head->latency;
}

/* How long a message whose head arrives at `at` waits at a link that serves it from `begin`: its bytes arrive
 * at the rate of the slowest link of its path, so a faster link may begin later and still end in time. */
static inline double wait_at(double at, double begin, double takes, double duration)
{
    double waits = begin - at - (takes < duration ? duration - takes : 0);
    return waits > 0 ? waits : 0;
}

double pf_links_load(struct pf_links *links, int src, int dst, size_t bytes, double start, double latency,
                     double duration)
{
    if (bytes == 0)
        return 0;
    if (links->topology) {
        int hops = pf_fabric_hops(links->topology, src, dst);
        struct head head = {links, start, latency / hops, (double)bytes * links->byte_time, 0, 0};
        pf_fabric_route(links->topology, (uint64_t)pf_config.net_seed, src, dst, take, &head);
        return head.waited;
    }
    const struct route *route = find_route(links, src, dst);
    double at = start, waited = 0, longest = 0, each = route->count > 0 ? latency / route->count : 0;
    for (int i = 0; i < route->count; i++) {
        struct link *link = &links->link[route->link[i]];
        double takes = (double)bytes * link->byte_time;
        double waits = wait_at(at, pf_busy_take(&link->busy, at, takes), takes, duration);
        waited += waits;
        note_wait(links, route->link[i], waits, &longest);
        at += waits + each;
    }
    return waited;
}

/* How many long messages a short one finds on a link that they fill: each gets as much of it. */
static double sharers(const struct pf_links *links, int number, double date)
{
    const struct crossing *all = links->crossings[number];
    double last = all ? all[(all[CROSSINGS].number - 1) % CROSSINGS].work : 0;
    return last > 0 ? pf_busy_left(&links->long_busy[number], date) / last : 0;
}

void pf_links_count_ends(struct pf_links *links)
{
    links->ends = 0;
}

double pf_links_pass(struct pf_links *links, int src, int dst, size_t bytes, double start, double duration)
{
    const struct route *route = find_route(links, src, dst);
    int first = links->ends, behind_last = route->count - links->ends;
    double head = start, waited = 0;
    double behind =
        first < behind_last ? (double)bytes * links->link[route->link[route->count - 1]].byte_time : 0;
    for (int i = first; i < behind_last; i++) {
        struct link *link = &links->link[route->link[i]];
        double takes = (double)bytes * link->byte_time, shares = 1 + sharers(links, route->link[i], head);
        head = pf_busy_serve(&link->busy, head, takes, true);
        if (links->crossings[route->link[i]]) /* long messages lose what it takes */
            pf_busy_take(&links->long_busy[route->link[i]], head, takes);
        note_wait(links, route->link[i], head + fmax(takes * shares, behind) - (start + duration), &waited);
    }
    return waited;
}

double pf_links_look(struct pf_links *links, int src, int dst, double bytes, double start)
{
    const struct route *route = find_route(links, src, dst);
    double head = start;
    for (int i = links->ends; i < route->count - links->ends; i++) {
        const struct link *link = &links->link[route->link[i]];
        head += pf_busy_waits(&link->busy, head, bytes * link->byte_time);
    }
    return head - start;
}

void pf_links_owe(struct pf_links *links, int src, int dst, double bytes)
{
    const struct route *route = find_route(links, src, dst);
    for (int i = links->ends; i < route->count - links->ends; i++) {
        struct link *link = &links->link[route->link[i]];
        link->busy.owed += bytes * link->byte_time;
    }
}

static bool serves_many(const struct link *link)
{
    return link->from == MANY && link->to == MANY;
}

/* The last entry counts the crossings. */
static void cross(struct pf_links *links, int number, double start, double work, double alone)
{
    struct crossing *all = links->crossings[number];
    if (!all)
        all = links->crossings[number] = pf_calloc(CROSSINGS + 1, sizeof *all);
    all[all[CROSSINGS].number++ % CROSSINGS] = (struct crossing){links->crossed, start, work, alone};
}

/* How long a message needs a link that it shares with all that are there at the same time: each of them takes
 * as much as it does, or what it still has to get. */
static double time_on(const struct crossing *all, uint64_t number, double start, double work, double alone)
{
    double time = work;
    uint64_t count = all[CROSSINGS].number < CROSSINGS ? all[CROSSINGS].number : CROSSINGS;
    for (uint64_t i = 0; i < count; i++) {
        const struct crossing *other = &all[i];
        double apart = other->start - start, takes = other->work < work ? other->work : work, left;
        if (other->number == number)
            continue;
        if (apart > 0)
            left = work * (1 - apart / (alone > time ? alone : time));
        else
            left = other->work * (1 + apart / other->alone);
        takes = left < takes ? left : takes;
        time += takes > 0 ? takes : 0;
    }
    return time;
}

int pf_links_waited_at(const struct pf_links *links)
{
    return links->waited_at;
}

uint64_t pf_links_number(const struct pf_links *links)
{
    return links->crossed;
}

double pf_links_late(struct pf_links *links, int src, int dst, uint64_t number, double bytes, double start,
                     double duration, int *at)
{
    const struct route *route = find_route(links, src, dst);
    double time = duration;
    *at = route->count > 0 ? route->link[0] : 0;
    for (int i = 0; i < route->count; i++) {
        const struct link *link = &links->link[route->link[i]];
        if (!serves_many(link) || !links->crossings[route->link[i]])
            continue;
        double shared =
            time_on(links->crossings[route->link[i]], number, start, bytes * link->byte_time, duration);
        if (shared > time) {
            time = shared;
            *at = route->link[i];
        }
    }
    return time - duration;
}

double pf_links_wait(struct pf_links *links, int src, int dst, double bytes, double start, double duration)
{
    const struct route *route = find_route(links, src, dst);
    double longest = 0;
    links->crossed++;
    for (int i = 0; i < route->count; i++) {
        int number = route->link[i];
        double takes = bytes * links->link[number].byte_time;
        cross(links, number, start, takes, duration);
        double waits = wait_at(start, pf_busy_take(&links->long_busy[number], start, takes), takes, duration);
        if (serves_many(&links->link[number])) /* of others the nodes' NICs know */
            note_wait(links, number, waits, &longest);
    }
    return longest;
}

double pf_links_taken(const struct pf_links *links, int number, double date)
{
    return pf_busy_taken(&links->long_busy[number], date);
}

void pf_links_take(struct pf_links *links, int number, double begun, double work)
{
    pf_busy_take(&links->long_busy[number], begun, work);
}

int pf_links_route(struct pf_links *links, int src, int dst, const int **numbers)
{
    const struct route *route = find_route(links, src, dst);
    *numbers = route->link;
    return route->count;
}

double pf_links_rate(const struct pf_links *links, int number)
{
    return 1 / links->link[number].byte_time;
}
