/* SPDX-License-Identifier: BSD-3-Clause */
/* The max-min fair rates of flows that share resources. */
#include "lowlevel/network/sharing.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

struct pf_hop {
    struct pf_flow *flow;
    struct pf_resource *resource;
    struct pf_hop *prev, *next; /* on the resource */
};

struct pf_flow {
    struct pf_flow *next; /* in the collected component, or in the free list */
    struct pf_event end;
    void (*done)(void *arg);
    void *arg;
    double remaining; /* bytes, at `date` */
    double rate;
    double new_rate;
    double date;
    double bound;              /* of resources that are not shared */
    struct pf_resource *limit; /* the shared resource that limits the rate, or NULL */
    double charged;            /* its counter when last looked at */
    bool collected;
    bool slowed; /* by small transfers, since its end was computed */
    int count;
    struct pf_hop hops[];
};

enum { POOLED_HOPS = 64 };
static struct pf_flow *pools[POOLED_HOPS + 1];

static struct pf_resource *dirty; /* whose flows need new rates */
static struct pf_event work;

static struct pf_flow *new_flow(int count)
{
    struct pf_flow *flow = count <= POOLED_HOPS ? pools[count] : NULL;
    if (flow) {
        pools[count] = flow->next;
        return flow;
    }
    flow = pf_malloc(sizeof *flow + (size_t)count * sizeof flow->hops[0]);
    return flow;
}

static void free_flow(struct pf_flow *flow)
{
    if (flow->count > POOLED_HOPS) {
        free(flow);
        return;
    }
    flow->next = pools[flow->count];
    pools[flow->count] = flow;
}

/* What small transfers have taken from the flow since it was last asked. */
static double take_charge(struct pf_flow *flow)
{
    if (!flow->limit)
        return 0.0;
    double bytes = flow->limit->charged - flow->charged;
    flow->charged = flow->limit->charged;
    return bytes;
}

static void bring_up_to_date(struct pf_flow *flow, double now)
{
    double charge = take_charge(flow);
    flow->slowed = charge > 0.0;
    flow->remaining += charge - flow->rate * (now - flow->date);
    if (flow->remaining < 0.0)
        flow->remaining = 0.0;
    flow->date = now;
}

/* Collecting the flows that a change can reach: through shared resources, transitively. */
struct component {
    struct pf_flow *flows;
    struct pf_resource *resources;
};

static void collect_resource(struct component *c, struct pf_resource *resource)
{
    if (resource->collected)
        return;
    resource->collected = true;
    resource->dirty = false;
    resource->next = c->resources;
    c->resources = resource;
    resource->left = resource->on ? resource->capacity : 0.0;
    resource->open_count = resource->flow_count;
    resource->limited_count = 0;
}

static void collect_flows(struct component *c, const struct pf_resource *resource)
{
    for (struct pf_hop *hop = resource->flows; hop; hop = hop->next) {
        struct pf_flow *flow = hop->flow;
        if (flow->collected)
            continue;
        flow->collected = true;
        flow->next = c->flows;
        c->flows = flow;
        for (int i = 0; i < flow->count; i++)
            if (flow->hops[i].resource->shared)
                collect_resource(c, flow->hops[i].resource);
    }
}

static void collect(struct component *c, struct pf_resource *from)
{
    /* Resources are put in front, so those still to look at are the ones before the last front. */
    struct pf_resource *seen = NULL;
    collect_resource(c, from);
    while (c->resources != seen) {
        struct pf_resource *front = c->resources;
        for (struct pf_resource *resource = front; resource != seen; resource = resource->next)
            collect_flows(c, resource);
        seen = front;
    }
}

static double bound_of(const struct pf_flow *flow)
{
    double bound = INFINITY;
    for (int i = 0; i < flow->count; i++) {
        const struct pf_resource *resource = flow->hops[i].resource;
        double capacity = resource->on ? resource->capacity : 0.0;
        if (!resource->shared && capacity < bound)
            bound = capacity;
    }
    return bound;
}

static void fix_rate(struct pf_flow *flow, double rate, struct pf_resource *limit)
{
    flow->new_rate = rate;
    flow->limit = limit;
    flow->charged = limit ? limit->charged : 0.0;
    if (limit)
        limit->limited_count++;
    for (int i = 0; i < flow->count; i++) {
        struct pf_resource *resource = flow->hops[i].resource;
        if (!resource->shared)
            continue;
        resource->left -= rate;
        if (resource->left < 0.0)
            resource->left = 0.0;
        resource->open_count--;
    }
}

/* The smallest equal share that any resource can still give. */
static double smallest_share(const struct component *c)
{
    double share = INFINITY;
    for (const struct pf_resource *r = c->resources; r; r = r->next)
        if (r->shared && r->open_count > 0 && r->left / r->open_count < share)
            share = r->left / r->open_count;
    return share;
}

static void fix_flows_of(struct pf_resource *resource, double share)
{
    for (struct pf_hop *hop = resource->flows; hop; hop = hop->next)
        if (hop->flow->new_rate < 0.0)
            fix_rate(hop->flow, share, resource);
}

/* Fixes the flows whose own bound is not above the share; returns how many. */
static int fix_bounded(struct component *c, double share)
{
    int fixed = 0;
    for (struct pf_flow *flow = c->flows; flow; flow = flow->next) {
        if (flow->new_rate >= 0.0 || flow->bound > share)
            continue;
        fix_rate(flow, flow->bound, NULL);
        fixed++;
    }
    return fixed;
}

/* Fixes the flows of all resources that can give no more than the share. */
static int fix_limited(struct component *c, double share)
{
    int fixed = 0;
    for (struct pf_resource *r = c->resources; r; r = r->next) {
        if (!r->shared || r->open_count == 0 || r->left / r->open_count > share * (1.0 + 1e-12))
            continue;
        fixed += r->open_count;
        fix_flows_of(r, share);
    }
    return fixed;
}

/* Progressive filling: the tightest bound or resource fixes its flows, the rest share what is left. */
static void fill(struct component *c)
{
    int open = 0;
    for (struct pf_flow *flow = c->flows; flow; flow = flow->next) {
        flow->new_rate = -1.0;
        flow->bound = bound_of(flow);
        open++;
    }
    while (open > 0) {
        double share = smallest_share(c);
        int fixed = fix_bounded(c, share);
        open -= fixed ? fixed : fix_limited(c, share);
    }
}

static void set_rates(struct component *c, double now)
{
    for (struct pf_flow *flow = c->flows; flow; flow = flow->next) {
        flow->collected = false;
        if (flow->new_rate == flow->rate && !flow->slowed && pf_event_pending(&flow->end))
            continue; /* its end stays, to the last digit */
        flow->rate = flow->new_rate;
        if (flow->rate > 0.0)
            pf_engine_post(&flow->end, now + flow->remaining / flow->rate);
        else
            pf_engine_cancel(&flow->end); /* a link is down; its owner decides */
    }
    for (struct pf_resource *r = c->resources; r; r = r->next)
        r->collected = false;
}

static void work_off(struct pf_event *event)
{
    (void)event;
    double now = pf_engine_now();
    while (dirty) {
        struct component c = {NULL, NULL};
        struct pf_resource *resource = dirty;
        dirty = resource->next_dirty;
        if (!resource->dirty || resource->flow_count == 0) {
            resource->dirty = false; /* done in another's component, or empty */
            continue;
        }
        collect(&c, resource);
        for (struct pf_flow *flow = c.flows; flow; flow = flow->next)
            bring_up_to_date(flow, now);
        fill(&c);
        set_rates(&c, now);
    }
}

static void mark_dirty(struct pf_resource *resource)
{
    if (resource->dirty)
        return;
    resource->dirty = true;
    resource->next_dirty = dirty;
    dirty = resource;
    work.fn = work_off;
    if (!pf_event_pending(&work))
        pf_engine_post(&work, pf_engine_now());
}

static void detach(struct pf_flow *flow)
{
    for (int i = 0; i < flow->count; i++) {
        struct pf_hop *hop = &flow->hops[i];
        if (hop->prev)
            hop->prev->next = hop->next;
        else
            hop->resource->flows = hop->next;
        if (hop->next)
            hop->next->prev = hop->prev;
        hop->resource->flow_count--;
        if (hop->resource->shared && hop->resource->flow_count > 0)
            mark_dirty(hop->resource);
    }
    if (flow->limit)
        flow->limit->limited_count--;
}

static void ended(struct pf_event *event)
{
    struct pf_flow *flow = pf_container_of(event, struct pf_flow, end);
    double charge = take_charge(flow);
    if (charge > 0.5) { /* bytes: small transfers have slowed it down */
        flow->remaining = charge;
        flow->date = pf_engine_now();
        pf_engine_post(&flow->end, flow->date + charge / flow->rate);
        return;
    }
    void (*done)(void *) = flow->done;
    void *arg = flow->arg;
    detach(flow);
    free_flow(flow);
    done(arg);
}

struct pf_flow *pf_sharing_start(struct pf_path *path, double bytes, void (*done)(void *arg), void *arg)
{
    struct pf_flow *flow = new_flow(path->count);
    *flow = (struct pf_flow){.done = done, .arg = arg, .remaining = bytes, .count = path->count};
    flow->date = pf_engine_now();
    pf_event_init(&flow->end, ended);
    struct pf_resource *some = NULL;
    for (int i = 0; i < flow->count; i++) {
        struct pf_resource *resource = path->resources[i];
        flow->hops[i] = (struct pf_hop){flow, resource, NULL, resource->flows};
        if (resource->flows)
            resource->flows->prev = &flow->hops[i];
        resource->flows = &flow->hops[i];
        resource->flow_count++;
        if (resource->shared)
            some = resource;
    }
    mark_dirty(some ? some : path->resources[0]);
    return flow;
}

void pf_sharing_cancel(struct pf_flow *flow)
{
    pf_engine_cancel(&flow->end);
    detach(flow);
    free_flow(flow);
}

void pf_sharing_changed(struct pf_resource *resource)
{
    if (resource->flow_count > 0)
        mark_dirty(resource);
}

void pf_sharing_charge(struct pf_resource *resource, double bytes)
{
    if (resource->limited_count > 0)
        resource->charged += bytes / resource->limited_count;
}

void pf_sharing_for_each(struct pf_resource *resource, void (*visit)(void *arg))
{
    struct pf_hop *next;
    for (struct pf_hop *hop = resource->flows; hop; hop = next) {
        next = hop->next;
        visit(hop->flow->arg);
    }
}

double pf_sharing_rate(const struct pf_flow *flow)
{
    return flow->rate;
}
