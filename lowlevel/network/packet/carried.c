/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes by link, from bytes by pair of nodes. */
#include "lowlevel/network/packet/carried.h"

#include <math.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/memory.h"
#include "lowlevel/network/packet/described.h"
#include "lowlevel/network/packet/link_names.h"
#include "lowlevel/network/packet/picture.h"
#include "lowlevel/network/packet/routes_picture.h"
#include "lowlevel/platform/platform.h"

static struct {
    void (*gather)(void);
    bool gathered;
    struct pf_fabric *fabric; /* of a description */
    int count;
    struct carried {
        uint64_t messages;
        double bytes;
    } * links;
} all;

void pf_carried_begin(void (*gather)(void))
{
    char error[300];
    const char *text;
    struct pf_fabric_speeds speeds;
    all.gather = gather;
    if (!all.fabric && pf_network_described(&text, &speeds))
        all.fabric = pf_fabric_make(text, &speeds, error, sizeof error);
}

/* A message that is on its way over a route. */
static struct carried now;

static void add_to(void *context, int32_t link)
{
    PF_ARRAY_REACH(all.links, all.count, link);
    all.links[link].messages += now.messages;
    all.links[link].bytes += now.bytes;
}

void pf_carried_add(int from, int to, uint64_t messages, double bytes)
{
    struct pf_platform_route route;
    now = (struct carried){messages, bytes};
    if (all.fabric) {
        pf_fabric_route(all.fabric, (uint64_t)pf_config.net_seed, from, to, add_to, NULL);
        return;
    }
    if (!pf_platform_find_route(from, to, &route))
        return;
    for (int i = 0; i < route.count; i++)
        add_to(NULL, route.links[i]);
    pf_routes_note(from, to, &route);
    free(route.links);
}

void pf_carried_gather(bool early)
{
    if (!all.gather || (early && !all.fabric))
        return;
    all.gather();
    all.gathered = true;
}

bool pf_carried_any(const struct pf_fabric **fabric)
{
    *fabric = all.fabric;
    return all.gathered && all.count > 0;
}

/* A fat pipe takes any number of messages. */
static double rate_of(int link)
{
    if (all.fabric)
        return all.fabric->ports[link].rate;
    const struct pf_platform_link *state = pf_platform_link_state(link);
    return state->shared ? state->bandwidth : INFINITY;
}

void pf_carried_load(int link, double time, struct pf_picture_load *load)
{
    *load = (struct pf_picture_load){0};
    if (link >= all.count)
        return;
    load->packets = (double)all.links[link].messages;
    load->bytes = all.links[link].bytes;
    load->utilisation = time > 0 ? load->bytes / rate_of(link) / time : 0;
}

struct busy {
    double part; /* of the time */
    int link;
};

static int by_load(const void *a, const void *b)
{
    const struct busy *x = a, *y = b;
    if (x->part != y->part)
        return x->part > y->part ? -1 : 1;
    return (x->link > y->link) - (x->link < y->link);
}

int pf_carried_busiest(double time, struct pf_network_link *links, int most)
{
    struct busy *busy = pf_calloc((size_t)all.count + 1, sizeof *busy);
    int count = 0;
    for (int link = 0; link < all.count; link++)
        if (all.links[link].messages > 0 && time > 0)
            busy[count++] = (struct busy){all.links[link].bytes / rate_of(link) / time, link};
    qsort(busy, (size_t)count, sizeof *busy, by_load);
    count = count < most ? count : most;
    for (int i = 0; i < count; i++) {
        int link = busy[i].link;
        links[i] = (struct pf_network_link){
            .utilisation = busy[i].part, .bytes = all.links[link].bytes, .packets = all.links[link].messages};
        if (all.fabric)
            pf_packet_link_name(all.fabric, link, links[i].name, sizeof links[i].name);
        else
            snprintf(links[i].name, sizeof links[i].name, "%s", pf_platform_link_name(link));
    }
    free(busy);
    return count;
}
