/* SPDX-License-Identifier: BSD-3-Clause */
/* The default network: small transfers reserve the links that they cross, large ones share them. */
#include <stdlib.h>

#include "base/config.h"
#include "lowlevel/network/network.h"
#include "lowlevel/network/path.h"

static void arrived(struct pf_event *event)
{
    struct pf_transfer *t = pf_container_of(event, struct pf_transfer, event);
    t->first(t);
    t->sent(t);
    t->last(t);
}

/* Nothing overtakes in a virtual network, also where links bound single transfers only. */
static void arrive_at(struct pf_transfer *t, struct pf_path *path, double date)
{
    if (path->last[t->vn] > date)
        date = path->last[t->vn];
    path->last[t->vn] = date;
    pf_event_init(&t->event, arrived);
    pf_engine_post(&t->event, date);
}

/*
 * Cut-through with one queue per link: the head waits for each link in turn, each link is busy for the message's serialisation time,
 * and the tail arrives when the slowest of them has let it pass.
 */
static void inject_small(struct pf_transfer *t, struct pf_path *path)
{
    double head = pf_engine_now();
    double tail = head;
    for (int i = 1; i < path->count - 1; i++) {
        struct pf_resource *resource = path->resources[i];
        double time = t->bytes / resource->capacity;
        if (resource->shared) {
            if (resource->free_at > head)
                head = resource->free_at;
            resource->free_at = head + time;
        }
        if (head + time > tail)
            tail = head + time;
    }
    arrive_at(t, path, tail + path->latency);
}

static void flow_inject(struct pf_transfer *t)
{
    t->failed = false;
    inject_small(t, pf_path_get(t->src, t->dst));
}

static void flow_cancel(struct pf_transfer *t)
{
    pf_engine_cancel(&t->event);
}

static bool flow_failed(const struct pf_transfer *t)
{
    return t->failed;
}

static void flow_route_info(int src, int dst, struct pf_route_info *info)
{
    const struct pf_path *path = pf_path_get(src, dst);
    *info = (struct pf_route_info){path->latency, path->bandwidth, path->count - 2};
}

const struct pf_network_ops pf_network_flow = {
    .size = sizeof(struct pf_network_ops),
    .name = "flow",
    .can_inject = pf_network_no_limit,
    .inject = flow_inject,
    .cancel = flow_cancel,
    .failed = flow_failed,
    .route_info = flow_route_info,
    .next_event = pf_network_no_event,
    .advance_to = pf_network_no_advance,
};

static void ideal_inject(struct pf_transfer *t)
{
    struct pf_path *path = pf_path_get(t->src, t->dst);
    t->failed = false;
    arrive_at(t, path, pf_engine_now() + t->bytes / path->bandwidth + path->latency);
}

const struct pf_network_ops pf_network_ideal = {
    .size = sizeof(struct pf_network_ops),
    .name = "ideal",
    .can_inject = pf_network_no_limit,
    .inject = ideal_inject,
    .cancel = flow_cancel,
    .failed = flow_failed,
    .route_info = flow_route_info,
    .next_event = pf_network_no_event,
    .advance_to = pf_network_no_advance,
};
