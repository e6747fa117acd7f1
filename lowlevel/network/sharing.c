/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The max-min fair rates of flows that share resources, by progressive filling (Bertsekas and Gallager, "Data
 * Networks", 1992, section 6.5.2). Filling fixes rates from the least upwards. A flow that ends has been open
 * until its own rate, and one that starts gets at least an equal share of its tightest resource; so a change
 * leaves all rates below that as they are, and only the flows above it are looked at.
 *
 * Where many flows share, those above are often most of them, and their number times that of the changes is
 * too much. So beyond net_exact_flows flows a change waits for others, for a share of the mean time that the
 * flows still need which grows with their number: what a solution costs for each of them is then bounded.
 * Until it is there, a new flow has its least share and what an ended one leaves is unused; both are of
 * second order, the share of the time times the share of the flows that come or go in it.
 */
#include "lowlevel/network/sharing.h"

#include <math.h>
#include <stdlib.h>

#include "base/config.h"
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
    struct pf_resource *shares,
        *shared; /* that with others limits it now, from `since` on; and longest so far */
    double since, longest;
    double charged; /* its counter when last looked at */
    bool collected;
    bool is_new; /* it has no rate yet */
    bool slowed; /* by small transfers, since its end was computed */
    int count;
    struct pf_hop hops[];
};

enum { POOLED_HOPS = 64 };
static struct pf_flow *pools[POOLED_HOPS + 1];

static struct pf_resource *dirty; /* whose flows need new rates */
static double least = INFINITY;   /* rates below it stay, as far as ends and capacities have changed */
static struct pf_event work;

static double next_date; /* before it no rates are computed */

/* The share of the mean remaining time for which changes wait, for each flow: 1 % at 5,000 flows. */
#define WAIT_PER_FLOW 2e-6

/* What errors of rounding may make of equal rates. */
#define SAME 1e-12

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
    double least;       /* rates below it stay */
    double least_bound; /* of the flows without a rate */
    int open;           /* flows without a rate */
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
    resource->open_count = 0;
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

static void collect_flow(struct component *c, struct pf_flow *flow)
{
    flow->collected = true;
    flow->next = c->flows;
    flow->new_rate = -1.0;
    flow->bound = bound_of(flow);
    c->flows = flow;
    c->least_bound = fmin(c->least_bound, flow->bound);
    c->open++;
    for (int i = 0; i < flow->count; i++)
        if (flow->hops[i].resource->shared)
            collect_resource(c, flow->hops[i].resource);
}

static void collect_flows(struct component *c, struct pf_resource *resource)
{
    for (struct pf_hop *hop = resource->flows; hop; hop = hop->next) {
        struct pf_flow *flow = hop->flow;
        if (flow->rate < c->least && !flow->is_new) {
            resource->left -= flow->rate;
            continue;
        }
        resource->open_count++;
        if (!flow->collected)
            collect_flow(c, flow);
    }
    resource->left = fmax(resource->left, 0.0);
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

static void fix_rate(struct pf_flow *flow, double rate, struct pf_resource *limit)
{
    flow->new_rate = rate;
    if (flow->limit)
        flow->limit->limited_count--;
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

/*
 * The resources by the equal share that each can still give to its open flows. A share grows while rates are
 * fixed, so what stands in the heap is at most the true one, and is put right when it comes to the top.
 */
static struct heap {
    struct share {
        double share;
        struct pf_resource *resource;
    } * at;
    int count, room;
} heap;

static double share_of(const struct pf_resource *r)
{
    return r->open_count > 0 ? r->left / r->open_count : INFINITY;
}

static void sink(int i, struct share item)
{
    for (int child; (child = 2 * i + 1) < heap.count; i = child) {
        child += child + 1 < heap.count && heap.at[child + 1].share < heap.at[child].share;
        if (item.share <= heap.at[child].share)
            break;
        heap.at[i] = heap.at[child];
    }
    heap.at[i] = item;
}

static void make_heap(const struct component *c)
{
    heap.count = 0;
    for (struct pf_resource *r = c->resources; r; r = r->next) {
        if (!r->shared)
            continue;
        PF_ARRAY_ROOM(heap.at, heap.room, heap.count + 1);
        heap.at[heap.count++] = (struct share){share_of(r), r};
    }
    for (int i = heap.count / 2 - 1; i >= 0; i--)
        sink(i, heap.at[i]);
}

/* The smallest share; its resource is on top. */
static double smallest_share(void)
{
    while (heap.count > 0) {
        struct share top = heap.at[0];
        double share = share_of(top.resource);
        if (share <= top.share)
            return share;
        if (isinf(share))
            top = heap.at[--heap.count];
        else
            top.share = share;
        if (heap.count > 0)
            sink(0, top);
    }
    return INFINITY;
}

static void fix_flows_of(struct pf_resource *resource, double share)
{
    for (struct pf_hop *hop = resource->flows; hop; hop = hop->next)
        if (hop->flow->new_rate < 0.0)
            fix_rate(hop->flow, share, resource);
}

/* Fixes the flows whose own bound is not above the share; there is one. */
static void fix_bounded(struct component *c, double share)
{
    c->least_bound = INFINITY;
    for (struct pf_flow *flow = c->flows; flow; flow = flow->next) {
        if (flow->new_rate >= 0.0)
            continue;
        if (flow->bound > share) {
            c->least_bound = fmin(c->least_bound, flow->bound);
            continue;
        }
        fix_rate(flow, flow->bound, NULL);
        c->open--;
    }
}

/* The tightest bound or resource fixes its flows, the rest share what is left. Shares that differ by errors
 * of rounding are the same. */
static void fill(struct component *c)
{
    double last = 0.0;
    make_heap(c);
    while (c->open > 0) {
        double share = smallest_share();
        if (share <= last * (1.0 + SAME))
            share = last;
        if (c->least_bound <= share) {
            fix_bounded(c, share);
        } else {
            c->open -= heap.at[0].resource->open_count;
            fix_flows_of(heap.at[0].resource, share);
        }
        last = share;
    }
}

/* From now on its present limit applies. */
static void note_limit(struct pf_flow *flow, double now)
{
    struct pf_resource *limit = flow->limit && flow->limit->limited_count > 1 ? flow->limit : NULL;
    if (limit == flow->shares)
        return;
    if (flow->shares && now - flow->since > flow->longest) {
        flow->longest = now - flow->since;
        flow->shared = flow->shares;
    }
    flow->shares = limit;
    flow->since = now;
}

static void set_rates(struct component *c, double now)
{
    double left = 0.0;
    int flows = 0;
    for (struct pf_flow *flow = c->flows; flow; flow = flow->next) {
        flow->collected = flow->is_new = false;
        note_limit(flow, now);
        left += flow->new_rate > 0.0 ? flow->remaining / flow->new_rate : 0.0;
        flows++;
        if (fabs(flow->new_rate - flow->rate) <= SAME * flow->rate && !flow->slowed &&
            pf_event_pending(&flow->end))
            continue; /* its end stays, to the last digit */
        flow->rate = flow->new_rate;
        if (flow->rate > 0.0)
            pf_engine_post(&flow->end, now + flow->remaining / flow->rate);
        else
            pf_engine_cancel(&flow->end); /* a link is down; its owner decides */
    }
    for (struct pf_resource *r = c->resources; r; r = r->next)
        r->collected = false;
    if (flows > pf_config.net_exact_flows)
        next_date = fmax(next_date, now + WAIT_PER_FLOW * left); /* flows times mean */
}

/* Up to which rate nothing changes: new flows get at least an equal share of what they cross. */
static double least_rate(void)
{
    double rate = least;
    for (const struct pf_resource *r = dirty; r; r = r->next_dirty) {
        if (r->has_new && r->shared)
            rate = fmin(rate, (r->on ? r->capacity : 0.0) / r->flow_count);
    }
    least = INFINITY;
    return rate * (1.0 - 1e3 * SAME);
}

static void work_off(struct pf_event *event)
{
    double now = pf_engine_now(), unchanged = least_rate();
    while (dirty) {
        struct component c = {.least = unchanged, .least_bound = INFINITY};
        struct pf_resource *resource = dirty;
        dirty = resource->next_dirty;
        resource->has_new = false;
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

/* Its flows need new rates, but for those below `rate`. */
static void mark_dirty(struct pf_resource *resource, double rate)
{
    least = fmin(least, rate);
    if (!resource->dirty) {
        resource->dirty = true;
        resource->next_dirty = dirty;
        dirty = resource;
    }
    work.fn = work_off;
    if (!pf_event_pending(&work))
        pf_engine_post(&work, fmax(pf_engine_now(), next_date));
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
            mark_dirty(hop->resource, flow->rate);
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
    done(arg);
    free_flow(flow);
}

/* What it gets at least, when rates are computed later. */
static void start_early(struct pf_flow *flow, double bound)
{
    flow->rate = bound;
    for (int i = 0; i < flow->count; i++) {
        const struct pf_resource *r = flow->hops[i].resource;
        if (r->shared)
            flow->rate = fmin(flow->rate, (r->on ? r->capacity : 0.0) / r->flow_count);
    }
    if (flow->rate > 0.0)
        pf_engine_post(&flow->end, flow->date + flow->remaining / flow->rate);
}

struct pf_flow *pf_sharing_start(struct pf_path *path, double bytes, void (*done)(void *arg), void *arg)
{
    struct pf_flow *flow = new_flow(path->count);
    *flow =
        (struct pf_flow){.done = done, .arg = arg, .remaining = bytes, .count = path->count, .is_new = true};
    flow->date = pf_engine_now();
    pf_event_init(&flow->end, ended);
    for (int i = 0; i < flow->count; i++) {
        struct pf_resource *resource = path->resources[i];
        flow->hops[i] = (struct pf_hop){flow, resource, NULL, resource->flows};
        if (resource->flows)
            resource->flows->prev = &flow->hops[i];
        resource->flows = &flow->hops[i];
        resource->flow_count++;
    }
    double bound = bound_of(flow);
    struct pf_resource *any = path->resources[0];
    for (int i = 0; i < flow->count; i++)
        if (path->resources[i]->shared) {
            any = path->resources[i];
            any->has_new = true;
            mark_dirty(any, bound);
        }
    mark_dirty(any, bound);
    if (next_date > flow->date)
        start_early(flow, bound);
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
    if (resource->flow_count == 0)
        return;
    next_date = 0.0; /* no flow may go on as before */
    pf_engine_cancel(&work);
    mark_dirty(resource, 0.0);
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

const struct pf_resource *pf_sharing_limit(const struct pf_flow *flow)
{
    if (flow->shares && pf_engine_now() - flow->since > flow->longest)
        return flow->shares;
    return flow->shared || !flow->limit || flow->limit->link >= 0 ? flow->shared : flow->limit;
}

double pf_sharing_rate(const struct pf_flow *flow)
{
    return flow->rate;
}
