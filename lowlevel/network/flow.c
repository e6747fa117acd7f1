/* SPDX-License-Identifier: BSD-3-Clause */
/* The default network: small transfers reserve the links that they cross, large ones share them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "lowlevel/network/loss.h"
#include "lowlevel/network/network.h"
#include "lowlevel/network/path.h"
#include "lowlevel/network/sharing.h"

static void arrived(struct pf_event *event)
{
    struct pf_transfer *t = pf_container_of(event, struct pf_transfer, event);
    if (t->failed) {
        t->lost(t);
        return;
    }
    t->first(t);
    t->last(t);
}

static struct pf_network_paths flow_paths, ideal_paths, ends_paths;

/* Nothing overtakes in a virtual network, also where links bound single transfers only. */
static void arrive_at(struct pf_transfer *t, struct pf_path *path, double date)
{
    struct pf_lane *lane = &path->lanes[t->vn];
    if (lane->last > date)
        date = lane->last;
    lane->last = date;
    pf_event_init(&t->event, arrived);
    pf_engine_post_in(&lane->arrivals, &t->event, date);
    t->sent(t); /* the way is reserved: the next one may enter */
}

static void warn_lost(struct pf_event *event)
{
    struct pf_transfer *t = pf_container_of(event, struct pf_transfer, event);
    t->lost(t);
}

static void lose(struct pf_transfer *t)
{
    t->failed = true;
    pf_event_init(&t->event, warn_lost);
    pf_engine_post(&t->event, pf_engine_now());
}

/* A link with more gaps forgets the earliest one, so that the cost of a reservation is bounded. */
enum { MOST_GAPS = 4096 };

static void make_room_for_gap(struct pf_resource *resource)
{
    if (resource->gap_end < resource->gap_room)
        return;
    resource->gap_first += resource->gap_end - resource->gap_first == MOST_GAPS;
    int count = resource->gap_end - resource->gap_first;
    if (2 * count > resource->gap_room) {
        resource->gap_room = 2 * count;
        resource->gaps = pf_reallocarray(resource->gaps, (size_t)resource->gap_room, sizeof *resource->gaps);
    } else if (resource->gap_room == 0) {
        resource->gap_room = 16;
        resource->gaps = pf_malloc(16 * sizeof *resource->gaps);
    }
    memmove(resource->gaps, &resource->gaps[resource->gap_first], (size_t)count * sizeof *resource->gaps);
    resource->gap_first = 0;
    resource->gap_end = count;
}

/* Takes `time` from gap `i`, from `begin` on; it is long enough. */
static void take_gap(struct pf_resource *resource, int i, double begin, double time)
{
    struct pf_gap *gap = &resource->gaps[i], old = *gap;
    double end = begin + time;
    if (begin > old.begin && end < old.end) { /* two are left of it */
        int from_end = resource->gap_end - i;
        gap->begin = end;
        make_room_for_gap(resource);
        if (from_end >
            resource->gap_end - resource->gap_first) /* it was the earliest one, and is forgotten */
            return;
        gap = &resource->gaps[resource->gap_end - from_end];
        memmove(gap + 1, gap, (size_t)from_end * sizeof *gap);
        resource->gap_end++;
        *gap = (struct pf_gap){old.begin, begin};
    } else if (begin > old.begin) {
        gap->end = begin;
    } else if (end < old.end) {
        gap->begin = end;
    } else {
        memmove(gap, gap + 1, (size_t)(--resource->gap_end - i) * sizeof *gap);
    }
}

static int link_of(const struct pf_resource *resource)
{
    return resource->link >= 0 ? resource->link : PF_CHAIN_BUS;
}

/* Reserves `time` on a link at the first date from `head` on at which it is free; returns that date. A
 * transfer that waits at another link before this one does not keep those from it that come before. */
static double reserve_link(struct pf_resource *resource, double head, double time)
{
    double now = pf_engine_now();
    while (resource->gap_first < resource->gap_end && resource->gaps[resource->gap_first].end <= now)
        resource->gap_first++;
    if (head >= resource->free_at) {
        double idle = fmax(resource->free_at, now);
        resource->free_at = head + time;
        if (head > idle) {
            make_room_for_gap(resource);
            resource->gaps[resource->gap_end++] = (struct pf_gap){idle, head};
        }
        return head;
    }
    int i = resource->gap_first, behind = resource->gap_end;
    while (i < behind) { /* the first gap that ends after `head` */
        int middle = i + (behind - i) / 2;
        if (resource->gaps[middle].end > head)
            behind = middle;
        else
            i = middle + 1;
    }
    for (; i < resource->gap_end; i++) {
        double begin = fmax(head, resource->gaps[i].begin);
        if (begin + time <= resource->gaps[i].end) {
            take_gap(resource, i, begin, time);
            return begin;
        }
    }
    head = resource->free_at;
    resource->free_at = head + time;
    return head;
}

/*
 * Cut-through with one queue per link: the head waits for each link in turn, each link is busy for the
 * message's serialisation time, and the tail arrives when the slowest of them has let it pass. It
 * shares the link equally with flows, which lose what it takes: it passes as slowly as one of them, and those
 * of the same path take turns at that pace, but others do not wait for that. `waited_at`: see pf_transfer.
 */
static double reserve(struct pf_path *path, double bytes, bool buses, int *waited_at)
{
    double longest = 0;
    double head = pf_engine_now();
    double tail = head;
    int skip = buses ? 0 : 1; /* the first and the last */
    for (int i = skip; i < path->count - skip; i++) {
        struct pf_resource *resource = path->resources[i];
        double time = bytes / resource->capacity, came = head, begin = head;
        if (resource->shared) {
            begin = head = reserve_link(resource, came, time);
            if (resource->limited_count > 0) {
                pf_sharing_charge(resource, bytes);
                time *= resource->limited_count + 1;
                begin = fmax(head, path->clear);
            }
            if (begin - came > longest) {
                longest = begin - came;
                *waited_at = link_of(resource);
            }
        }
        if (begin + time > tail)
            tail = begin + time;
    }
    path->clear = tail;
    return tail + path->latency;
}

static void tail_arrived(struct pf_event *event)
{
    struct pf_transfer *t = pf_container_of(event, struct pf_transfer, event);
    t->last(t);
}

static void await_tail(struct pf_transfer *t)
{
    pf_event_init(&t->event, tail_arrived);
    pf_engine_post(&t->event, t->last_date);
}

/* A short stream may have left before its header is there. */
static void header_arrived(struct pf_event *event)
{
    struct pf_transfer *t = pf_container_of(event, struct pf_transfer, event);
    if (!t->state)
        await_tail(t);
    t->first(t);
}

static void stream_left(void *arg)
{
    struct pf_transfer *t = arg;
    struct pf_path *path = t->route;
    const struct pf_resource *limit = pf_sharing_limit(t->state);
    if (limit)
        t->waited_at = link_of(limit);
    t->state = NULL;
    t->last_date = pf_engine_now() + path->latency;
    if (t->last_date > path->lanes[t->vn].last) /* else its header, or a message behind it, arrives later */
        path->lanes[t->vn].last = t->last_date;
    if (!pf_event_pending(&t->event))
        await_tail(t);
    t->sent(t);
}

/* A stream that is lost at random uses the links up to its end, and nothing of it arrives. */
static void doomed_stream_left(void *arg)
{
    struct pf_transfer *t = arg;
    t->state = NULL;
    t->lost(t);
}

static void inject_stream(struct pf_transfer *t, struct pf_path *path)
{
    pf_event_init(&t->event, header_arrived);
    if (t->failed) {
        t->state = pf_sharing_start(path, t->bytes, doomed_stream_left, t);
        return;
    }
    double header = pf_engine_now() + path->latency;
    if (path->lanes[t->vn].last > header)
        header = path->lanes[t->vn].last;
    path->lanes[t->vn].last = header;
    pf_engine_post(&t->event, header);
    t->state = pf_sharing_start(path, t->bytes, stream_left, t);
}

static void lose_stream(void *arg)
{
    struct pf_transfer *t = arg;
    if (pf_path_is_up(t->route))
        return;
    pf_sharing_cancel(t->state);
    t->state = NULL;
    pf_engine_cancel(&t->event); /* the header is on its way yet, and lost as well */
    lose(t);
}

static void resource_changed(struct pf_resource *resource)
{
    if (!resource->on)
        pf_sharing_for_each(resource, lose_stream);
    pf_sharing_changed(resource);
}

static void flow_inject(struct pf_transfer *t)
{
    static bool listening;
    if (!listening) {
        listening = true;
        pf_path_on_change(resource_changed);
    }
    struct pf_path *path = pf_path_get(&flow_paths, t->src, t->dst);
    t->route = path;
    t->state = NULL;
    if (!pf_path_is_up(path)) {
        lose(t);
        return;
    }
    t->failed = pf_loss_strikes(path->loss);
    if (t->streams && t->bytes > (double)pf_config.net_small_max)
        inject_stream(t, path);
    else
        arrive_at(t, path, reserve(path, t->bytes, t->streams, &t->waited_at));
}

static double flow_acknowledge(const struct pf_transfer *t, double bytes)
{
    struct pf_path *path = pf_path_back(t->route);
    if (!pf_path_is_up(path))
        return -1.0;
    int waited_at;
    double date = reserve(path, bytes, false, &waited_at);
    return pf_loss_strikes(path->loss) ? -1.0 : date;
}

static void flow_cancel(struct pf_transfer *t)
{
    if (t->state)
        pf_sharing_cancel(t->state);
    t->state = NULL;
    pf_engine_cancel(&t->event);
}

static bool flow_failed(const struct pf_transfer *t)
{
    return t->failed;
}

static void route_info(struct pf_network_paths *paths, int src, int dst, struct pf_route_info *info)
{
    const struct pf_path *path = pf_path_get(paths, src, dst);
    *info = (struct pf_route_info){path->latency, path->bandwidth, path->count - 2};
}

static void flow_route_info(int src, int dst, struct pf_route_info *info)
{
    route_info(&flow_paths, src, dst, info);
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
    .acknowledge = flow_acknowledge,
};

static void ideal_inject(struct pf_transfer *t)
{
    struct pf_path *path = pf_path_get(&ideal_paths, t->src, t->dst);
    t->routes = PF_CHAIN_OF_IDEAL;
    if (!pf_path_is_up(path)) {
        lose(t);
        return;
    }
    t->failed = pf_loss_strikes(path->loss);
    t->state = NULL;
    arrive_at(t, path, pf_engine_now() + t->bytes / path->bandwidth + path->latency);
}

static double ideal_acknowledge(const struct pf_transfer *t, double bytes)
{
    const struct pf_path *path = pf_path_get(&ideal_paths, t->dst, t->src);
    if (!pf_path_is_up(path) || pf_loss_strikes(path->loss))
        return -1.0;
    return pf_engine_now() + bytes / path->bandwidth + path->latency;
}

static void ideal_route_info(int src, int dst, struct pf_route_info *info)
{
    route_info(&ideal_paths, src, dst, info);
}

const struct pf_network_ops pf_network_ideal = {
    .size = sizeof(struct pf_network_ops),
    .name = "ideal",
    .can_inject = pf_network_no_limit,
    .inject = ideal_inject,
    .cancel = flow_cancel,
    .failed = flow_failed,
    .route_info = ideal_route_info,
    .next_event = pf_network_no_event,
    .advance_to = pf_network_no_advance,
    .acknowledge = ideal_acknowledge,
};

/* The way through `ends`: what comes out of a node, and what goes into one, takes turns there; between them
 * it travels at the pace of the slowest link, whatever else is there. Of a node to itself nothing is. */
static double pass(struct pf_path *path, double bytes, bool streams, int *waited_at)
{
    struct pf_resource *out = path->resources[1], *in = path->resources[path->count - 2];
    double bus = streams ? path->resources[0]->capacity : INFINITY;
    double head = pf_engine_now(), time = bytes / fmin(path->bandwidth, bus);
    double came = head, left = head;
    if (out->shared)
        head = left = reserve_link(out, head, bytes / out->capacity);
    if (in->shared && in != out)
        head = reserve_link(in, head, bytes / in->capacity);
    if (head > came)
        *waited_at = link_of(head - left > left - came ? in : out);
    return head + time + path->latency;
}

static void ends_inject(struct pf_transfer *t)
{
    struct pf_path *path = pf_path_get(&ends_paths, t->src, t->dst);
    t->route = path;
    t->failed = pf_loss_strikes(path->loss);
    t->state = NULL;
    arrive_at(t, path, pass(path, t->bytes, t->streams, &t->waited_at));
}

static double ends_acknowledge(const struct pf_transfer *t, double bytes)
{
    struct pf_path *path = pf_path_back(t->route);
    int waited_at;
    double date = pass(path, bytes, false, &waited_at);
    return pf_loss_strikes(path->loss) ? -1.0 : date;
}

static void ends_route_info(int src, int dst, struct pf_route_info *info)
{
    route_info(&ends_paths, src, dst, info);
}

const struct pf_network_ops pf_network_ends = {
    .size = sizeof(struct pf_network_ops),
    .name = "ends",
    .can_inject = pf_network_no_limit,
    .inject = ends_inject,
    .cancel = flow_cancel,
    .failed = flow_failed,
    .route_info = ends_route_info,
    .next_event = pf_network_no_event,
    .advance_to = pf_network_no_advance,
    .acknowledge = ends_acknowledge,
};
