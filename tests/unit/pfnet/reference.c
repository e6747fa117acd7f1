/* SPDX-License-Identifier: BSD-3-Clause */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

enum { PORTS = 16, CHANNELS = 16, DIMENSIONS = 3, WHEEL = 64 };

struct flit {
    struct flit *next;
    int64_t born, ready; /* cycles */
    int target;          /* node */
    int direction;       /* 2 i + (1: downwards) in its present dimension i; -1: in none */
    int port, class;     /* where it goes from the router where it is at the head of a queue */
    bool routed;
};

struct queue {
    struct flit *first, *last;
};

/* A router and its nodes. Ports: those of the nodes, then two for each dimension. */
struct router {
    struct queue input[PORTS][CHANNELS];
    int credit[PORTS][CHANNELS]; /* of the outputs */
    int grant_turn[PORTS];       /* of an output: the input that is asked first */
    int accept_turn[PORTS];      /* of an input, with rounds: the output that it prefers */
    int channel_turn[PORTS];     /* of an input: the channel that is asked first */
};

struct node {
    struct queue source;
    int credit[CHANNELS];
};

/* What will happen in a cycle to come: a flit or (without one) a credit, for a router or a node. */
struct event {
    struct event *next;
    struct flit *flit;
    int vertex, port, channel; /* nodes: behind the routers */
};

struct net {
    const struct reference_request *r;
    int nodes, routers, terminals, ports, classes, lanes;
    struct router *router;
    struct node *node;
    struct event *wheel[WHEEL];
    int64_t now;
    uint64_t random;
    int64_t arrived, open, count;
    double sum;
};

/* Marsaglia, "Xorshift RNGs", 2003. */
static double draw(struct net *n)
{
    n->random ^= n->random << 13;
    n->random ^= n->random >> 7;
    n->random ^= n->random << 17;
    return (double)(n->random >> 11) * 0x1p-53;
}

static void append(struct queue *q, struct flit *f)
{
    f->next = NULL;
    if (q->first)
        q->last->next = f;
    else
        q->first = f;
    q->last = f;
}

static struct flit *take(struct queue *q)
{
    struct flit *f = q->first;
    q->first = f->next;
    return f;
}

static void schedule(struct net *n, int delay, struct event what)
{
    struct event **place = &n->wheel[(n->now + delay) % WHEEL], *e = malloc(sizeof *e);
    *e = what;
    e->next = *place;
    *place = e;
}

/* ---- The graph and its routes. */
static int power(int base, int exponent)
{
    int product = 1;
    while (exponent-- > 0)
        product *= base;
    return product;
}

static int digit(const struct net *n, int router, int i)
{
    return router / power(n->r->extent, i) % n->r->extent;
}

static int beyond(const struct net *n, int router, int direction)
{
    int k = n->r->extent, i = direction / 2, at = digit(n, router, i);
    return router + ((at + (direction % 2 ? k - 1 : 1)) % k - at) * power(k, i);
}

/* Dimension order. In a ring: the shorter way, by chance where both are equal, which it keeps; class 1 where
 * no wrap lies ahead any more. */
static void route(struct net *n, int router, struct flit *f)
{
    int k = n->r->extent;
    f->routed = true;
    f->class = 0;
    for (int i = 0; i < n->r->dimensions; i++) {
        int from = digit(n, router, i), to = digit(n, f->target, i), up = (to - from + k) % k;
        if (from == to)
            continue;
        if (n->r->shape == REFERENCE_MESH)
            f->direction = 2 * i + (to < from);
        else if (f->direction < 0 || f->direction / 2 != i)
            f->direction = 2 * i + (2 * up == k ? draw(n) < 0.5 : 2 * up > k);
        f->class = n->classes > 1 && (f->direction % 2 ? to < from : to > from);
        f->port = n->terminals + f->direction;
        return;
    }
    f->port = n->r->dimensions ? 0 : f->target;
}

/* ---- One cycle. */
static void deliver(struct net *n, struct flit *f)
{
    int64_t begin = n->r->warm_up, end = begin + n->r->measured;
    n->arrived += n->now >= begin && n->now < end;
    if (f->born >= begin && f->born < end) {
        n->sum += (double)(n->now + 1 - f->born); /* its tail comes a cycle behind its head */
        n->count++;
        n->open--;
    }
    free(f);
}

static void happen(struct net *n, const struct event *e)
{
    if (e->vertex >= n->routers && e->flit) {
        deliver(n, e->flit);
    } else if (e->vertex >= n->routers) {
        n->node[e->vertex - n->routers].credit[e->channel]++;
    } else if (e->flit) {
        e->flit->ready = n->now + n->r->router;
        append(&n->router[e->vertex].input[e->port][e->channel], e->flit);
    } else {
        n->router[e->vertex].credit[e->port][e->channel]++;
    }
}

static void generate(struct net *n, int node)
{
    int64_t begin = n->r->warm_up;
    if (draw(n) >= n->r->load || n->now >= begin + n->r->measured)
        return;
    int to = (int)(draw(n) * (n->nodes - 1));
    struct flit *f = malloc(sizeof *f);
    *f = (struct flit){.born = n->now, .target = to < node ? to : to + 1, .direction = -1};
    n->open += n->now >= begin;
    append(&n->node[node].source, f);
}

/* The channel of a class with most credits, -1 without any. */
static int best_channel(const struct net *n, const int *credit, int class)
{
    int best = -1;
    for (int c = class * n->r->channels; c < (class + 1) * n->r->channels; c++)
        if (credit[c] > 0 && (best < 0 || credit[c] > credit[best]))
            best = c;
    return best;
}

static void inject(struct net *n, int node)
{
    struct node *at = &n->node[node];
    int channel = at->source.first ? best_channel(n, at->credit, 0) : -1;
    if (channel < 0)
        return;
    at->credit[channel]--;
    schedule(n, n->r->link,
             (struct event){.flit = take(&at->source),
                            .vertex = n->r->dimensions ? node : 0,
                            .port = n->r->dimensions ? 0 : node,
                            .channel = channel});
}

/* The output to which the head of a queue can go now, -1: none. */
static int wish(struct net *n, int router, int input, int channel)
{
    struct router *r = &n->router[router];
    struct flit *f = r->input[input][channel].first;
    if (!f || f->ready > n->now)
        return -1;
    if (!f->routed)
        route(n, router, f);
    if (f->port >= n->terminals && best_channel(n, r->credit[f->port], f->class) < 0)
        return -1;
    return f->port;
}

static void move(struct net *n, int router, int input, int channel, int output)
{
    struct router *r = &n->router[router];
    struct flit *f = take(&r->input[input][channel]);
    struct event there = {.flit = f}, back = {.channel = channel};
    f->routed = false;
    if (output < n->terminals) {
        there.vertex = n->routers + (n->r->dimensions ? router : output);
    } else {
        int direction = output - n->terminals;
        there.channel = best_channel(n, r->credit[output], f->class);
        r->credit[output][there.channel]--;
        there.vertex = beyond(n, router, direction);
        there.port = n->terminals + (direction ^ 1);
    }
    schedule(n, n->r->link, there);
    if (input < n->terminals) {
        back.vertex = n->routers + (n->r->dimensions ? router : input);
    } else {
        back.vertex = beyond(n, router, input - n->terminals);
        back.port = n->terminals + ((input - n->terminals) ^ 1);
    }
    schedule(n, n->r->link + n->r->credit, back);
}

/* What one allocation knows. */
struct matching {
    int wish[PORTS][CHANNELS]; /* of each queue: an output or -1 */
    int grant[PORTS][PORTS];   /* [input][output]: 1 + channel, of this round */
    int output[PORTS];         /* of an input, -1: none yet */
    int input[PORTS];          /* of an output */
    int channel[PORTS];        /* of an input that has its output */
};

static int first_channel(const struct net *n, const struct router *r, const struct matching *m, int input,
                         int output)
{
    for (int i = 0; i < n->lanes; i++) {
        int c = (r->channel_turn[input] + i) % n->lanes;
        if (m->wish[input][c] == output)
            return c;
    }
    return -1;
}

static void grant(const struct net *n, const struct router *r, struct matching *m, int output)
{
    for (int i = 0; i < n->ports; i++) {
        int input = (r->grant_turn[output] + i) % n->ports;
        int c = m->output[input] < 0 ? first_channel(n, r, m, input, output) : -1;
        if (c >= 0) {
            m->grant[input][output] = 1 + c;
            return;
        }
    }
}

/* The offer for the channel whose turn it is, or of the output. */
static bool accept(const struct net *n, struct router *r, struct matching *m, int input)
{
    int best = -1, least = n->lanes + n->ports;
    for (int output = 0; output < n->ports; output++) {
        int rank = (m->grant[input][output] - 1 - r->channel_turn[input] + n->lanes) % n->lanes;
        if (n->r->rounds)
            rank = (output - r->accept_turn[input] + n->ports) % n->ports;
        if (!m->grant[input][output] || rank >= least)
            continue;
        best = output;
        least = rank;
    }
    if (best < 0)
        return false;
    m->output[input] = best;
    m->input[best] = input;
    m->channel[input] = m->grant[input][best] - 1;
    return true;
}

/* Free outputs grant to inputs, inputs accept one of them, until none does. */
static void allocate(struct net *n, int router)
{
    struct router *r = &n->router[router];
    struct matching m;
    bool any = false;
    for (int input = 0; input < n->ports; input++) {
        m.output[input] = m.input[input] = -1;
        for (int c = 0; c < n->lanes; c++)
            any |= (m.wish[input][c] = wish(n, router, input, c)) >= 0;
    }
    for (int round = 0; any && (!n->r->rounds || round < n->r->rounds); round++) {
        memset(m.grant, 0, sizeof m.grant);
        any = false;
        for (int output = 0; output < n->ports; output++)
            if (m.input[output] < 0)
                grant(n, r, &m, output);
        for (int input = 0; input < n->ports; input++)
            if (m.output[input] < 0)
                any |= accept(n, r, &m, input);
    }
    for (int input = 0; input < n->ports; input++) {
        if (m.output[input] < 0)
            continue;
        r->channel_turn[input] = (m.channel[input] + 1) % n->lanes;
        r->accept_turn[input] = (m.output[input] + 1) % n->ports;
        r->grant_turn[m.output[input]] = (input + 1) % n->ports;
        move(n, router, input, m.channel[input], m.output[input]);
    }
}

static void cycle(struct net *n)
{
    struct event *e = n->wheel[n->now % WHEEL];
    n->wheel[n->now % WHEEL] = NULL;
    while (e) {
        struct event *next = e->next;
        happen(n, e);
        free(e);
        e = next;
    }
    for (int node = 0; node < n->nodes; node++) {
        generate(n, node);
        inject(n, node);
    }
    for (int router = 0; router < n->routers; router++)
        allocate(n, router);
    n->now++;
}

static void clear(struct net *n)
{
    struct flit *f;
    for (int i = 0; i < WHEEL; i++) {
        for (struct event *e = n->wheel[i], *next; e; e = next) {
            next = e->next;
            free(e->flit);
            free(e);
        }
    }
    for (int router = 0; router < n->routers; router++)
        for (int port = 0; port < n->ports; port++)
            for (int c = 0; c < n->lanes; c++)
                while (n->router[router].input[port][c].first)
                    free(take(&n->router[router].input[port][c]));
    for (int node = 0; node < n->nodes; node++)
        while (n->node[node].source.first && (f = take(&n->node[node].source)))
            free(f);
    free(n->router);
    free(n->node);
}

struct reference_result reference_run(const struct reference_request *request)
{
    struct net n = {.r = request, .random = request->seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    int64_t end = request->warm_up + request->measured;
    n.routers = power(request->extent, request->dimensions);
    n.nodes = request->dimensions ? n.routers : request->extent;
    n.terminals = request->dimensions ? 1 : n.nodes;
    n.ports = n.terminals + 2 * request->dimensions;
    n.classes = request->shape == REFERENCE_TORUS ? 2 : 1;
    n.lanes = n.classes * request->channels;
    n.router = calloc((size_t)n.routers, sizeof *n.router);
    n.node = calloc((size_t)n.nodes, sizeof *n.node);
    for (int c = 0; c < n.lanes; c++) {
        for (int router = 0; router < n.routers; router++)
            for (int port = n.terminals; port < n.ports; port++)
                n.router[router].credit[port][c] = request->buffer;
        for (int node = 0; node < n.nodes; node++)
            n.node[node].credit[c] = request->buffer;
    }
    while (n.now < end || (n.open > 0 && n.now < 2 * end))
        cycle(&n);
    struct reference_result result = {
        .latency = n.open == 0 && n.count > 0 ? n.sum / (double)n.count : 0.0,
        .accepted = (double)n.arrived / request->measured / n.nodes,
    };
    clear(&n);
    return result;
}
