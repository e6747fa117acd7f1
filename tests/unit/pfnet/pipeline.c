/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline.h"

#include <stdlib.h>
#include <string.h>

enum { PORTS = 32, LANES = 32, WHEEL = 512 };

enum stage { IDLE, ROUTING, CHANNEL, CROSSBAR };

struct packet {
    int64_t born;
    int target;    /* node */
    int via;       /* router on the first leg, -1: none or behind it */
    int direction; /* in a ring: 2 i + (1: downwards); -1: in none */
    int phase;     /* dragonfly: a global link has been taken */
    bool measured;
    bool undecided; /* in the router of its source */
};

struct flit {
    struct packet *packet;
    int left; /* flits of it behind this one */
};

/* A virtual channel at an input. */
struct lane {
    struct flit *flits; /* a ring */
    int first, count;
    enum stage stage;
    int64_t from;              /* the first step in which the stage can be done */
    int port, lane, low, high; /* where the packet goes; its output's channels to choose from */
    bool held;
};

struct router {
    struct lane in[PORTS][LANES];
    int flits;            /* in them */
    uint32_t busy[PORTS]; /* of an input: the channels that are not idle */
    int credit[PORTS][LANES];
    int owner[PORTS][LANES]; /* of an output's channel: 1 + input * LANES + lane */
    int channel_grant[PORTS][LANES], channel_accept[PORTS][LANES];
    int grant[PORTS], accept[PORTS], turn[PORTS];
    int held[PORTS];                   /* of an output: 1 + input whose packet keeps it */
    int64_t free_at[PORTS];            /* of a link */
    int64_t credit_free_at[PORTS];     /* of the way back of an input's credits: one in each cycle */
    int peer[PORTS], peer_port[PORTS]; /* router; -1: a node, or nothing */
};

struct node {
    struct flit *waiting; /* a ring that grows */
    int first, count, capacity;
    int credit[LANES];
    int lane, last;
};

struct event {
    struct event *next;
    struct flit flit; /* without a packet: a credit */
    int router, port, lane;
};

struct net {
    const struct pipeline_request *r;
    int routers, nodes, terminals, ports, classes, lanes;
    struct router *router;
    struct node *node;
    struct event *wheel[WHEEL];
    int64_t now, tick; /* cycles; steps of routers */
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

static int power(int base, int exponent)
{
    int product = 1;
    while (exponent-- > 0)
        product *= base;
    return product;
}

static int digit(const struct net *n, int number, int i)
{
    return number / power(n->r->extent, i) % n->r->extent;
}

static int with_digit(const struct net *n, int number, int i, int value)
{
    return number + (value - digit(n, number, i)) * power(n->r->extent, i);
}

static void join(struct net *n, int a, int a_port, int b, int b_port)
{
    n->router[a].peer[a_port] = b;
    n->router[a].peer_port[a_port] = b_port;
}

/* ---- Graphs. Ports of nodes come first. */
static void build_grid(struct net *n, int router)
{
    int k = n->r->extent;
    for (int i = 0; i < n->r->dimensions; i++) {
        int at = digit(n, router, i);
        if (at + 1 < k || n->r->shape == PIPELINE_TORUS)
            join(n, router, n->terminals + 2 * i, with_digit(n, router, i, (at + 1) % k),
                 n->terminals + 2 * i + 1);
        if (at > 0 || n->r->shape == PIPELINE_TORUS)
            join(n, router, n->terminals + 2 * i + 1, with_digit(n, router, i, (at + k - 1) % k),
                 n->terminals + 2 * i);
    }
}

static void build_hyperx(struct net *n, int router)
{
    int k = n->r->extent;
    for (int i = 0; i < n->r->dimensions; i++)
        for (int to = 0; to < k; to++)
            if (to != digit(n, router, i))
                join(n, router, n->terminals + i * k + to, with_digit(n, router, i, to),
                     n->terminals + i * k + digit(n, router, i));
}

/* Level 0 has the roots; below level l, digit l of a switch's number varies. Down: ports 0 to k - 1. */
static int level_of(const struct net *n, int router)
{
    return router / power(n->r->extent, n->r->dimensions - 1);
}

static void build_tree(struct net *n, int router)
{
    int k = n->r->extent, each = power(k, n->r->dimensions - 1), level = router / each, at = router % each;
    for (int port = 0; port < k && level + 1 < n->r->dimensions; port++)
        join(n, router, port, (level + 1) * each + with_digit(n, at, level, port), k + digit(n, at, level));
    for (int port = 0; port < k && level > 0; port++)
        join(n, router, k + port, (level - 1) * each + with_digit(n, at, level - 1, port),
             digit(n, at, level - 1));
}

static void build_dragonfly(struct net *n, int router)
{
    int p = n->r->extent, a = 2 * p, group = router / a, at = router % a;
    for (int to = 0; to < a; to++)
        if (to != at)
            join(n, router, p + to - (to > at), group * a + to, p + at - (at > to));
    for (int i = 0; i < p; i++) {
        int link = at * p + i, other = link + (link >= group), back = group - (group > other);
        join(n, router, p + a - 1 + i, other * a + back / p, p + a - 1 + back % p);
    }
}

/* ---- Routes: the port, and the class. At the last router true. */
static int router_of(const struct net *n, int node)
{
    int leaves = power(n->r->extent, n->r->dimensions - 1);
    return n->r->shape == PIPELINE_TREE ? (n->r->dimensions - 1) * leaves + node / n->r->extent
                                        : node / n->terminals;
}

static int go_grid(struct net *n, int router, int target, struct packet *p, int *class)
{
    int k = n->r->extent;
    for (int i = 0; i < n->r->dimensions; i++) {
        int from = digit(n, router, i), to = digit(n, target, i), up = (to - from + k) % k;
        if (from == to)
            continue;
        if (n->r->shape == PIPELINE_MESH)
            p->direction = 2 * i + (to < from);
        else if (p->direction < 0 || p->direction / 2 != i)
            p->direction = 2 * i + (2 * up == k ? draw(n) < 0.5 : 2 * up > k);
        *class = n->r->shape == PIPELINE_TORUS && (p->direction % 2 ? to < from : to > from);
        return n->terminals + p->direction;
    }
    return -1;
}

static int go_hyperx(const struct net *n, int router, int target)
{
    for (int i = 0; i < n->r->dimensions; i++)
        if (digit(n, router, i) != digit(n, target, i))
            return n->terminals + i * n->r->extent + digit(n, target, i);
    return -1;
}

static int go_tree(struct net *n, int router, int leaf)
{
    int k = n->r->extent, each = power(k, n->r->dimensions - 1), level = level_of(n, router);
    for (int i = 0; i < level; i++)
        if (digit(n, router % each, i) != digit(n, leaf % each, i))
            return k + (int)(draw(n) * k);
    return level + 1 == n->r->dimensions ? -1 : digit(n, leaf % each, level);
}

static int go_dragonfly(const struct net *n, int router, int target, struct packet *p, int *class)
{
    int h = n->r->extent, a = 2 * h, group = router / a, at = router % a, to = target / a, next = target % a;
    *class = p->phase;
    if (router == target)
        return -1;
    if (group != to) {
        int link = to - (to > group);
        next = link / h;
        if (next == at) {
            p->phase = 1;
            *class = 1;
            return h + a - 1 + link % h;
        }
    }
    return h + next - (next > at);
}

static int go(struct net *n, int router, int target, struct packet *p, int *class)
{
    *class = 0;
    switch (n->r->shape) {
    case PIPELINE_HYPERX:
        return go_hyperx(n, router, target);
    case PIPELINE_TREE:
        return go_tree(n, router, target);
    case PIPELINE_DRAGONFLY:
        return go_dragonfly(n, router, target, p, class);
    default:
        return go_grid(n, router, target, p, class);
    }
}

/* Flits behind an output: what credits have not come back for. */
static int queue_of(const struct net *n, int router, int port)
{
    int sum = 0;
    for (int c = 0; c < n->lanes; c++)
        sum += n->r->buffer - n->router[router].credit[port][c];
    return sum;
}

/* The minimal way when the other one's router or the target is in the source's group, or when it is better.
 */
static void decide(struct net *n, int router, struct packet *p)
{
    int class, minimal = go(n, router, router_of(n, p->target), p, &class);
    p->undecided = false;
    p->phase = 0;
    int group = n->r->shape == PIPELINE_DRAGONFLY ? 2 * n->r->extent : 1;
    if (p->via < 0 || p->via / group == router / group || router_of(n, p->target) / group == router / group) {
        p->via = -1;
        return;
    }
    int other = go(n, router, p->via, p, &class);
    p->phase = 0;
    if (queue_of(n, router, minimal) <= 2 * queue_of(n, router, other) + n->r->threshold)
        p->via = -1;
}

static void route(struct net *n, int router, struct lane *lane)
{
    struct packet *p = lane->flits[lane->first].packet;
    int class = 0, each = n->classes / (n->r->valiant ? 2 : 1);
    if (p->undecided)
        decide(n, router, p);
    if (p->via == router) {
        p->via = -1;
        p->direction = -1;
        p->phase = 0;
    }
    lane->port = go(n, router, p->via >= 0 ? p->via : router_of(n, p->target), p, &class);
    class += n->r->valiant && p->via < 0 ? each : 0;
    lane->low = class * n->r->channels;
    lane->high = lane->low + n->r->channels;
    if (lane->port >= 0)
        return;
    lane->port = p->target % n->terminals;
    if (n->r->shape == PIPELINE_DRAGONFLY)
        return; /* to the node by a channel of the class in which it has come */
    lane->low = 0;
    lane->high = n->lanes;
}

/* ---- Events. */
static void schedule(struct net *n, int64_t date, struct event what)
{
    struct event **place = &n->wheel[date % WHEEL], *e = malloc(sizeof *e);
    *e = what;
    e->next = *place;
    *place = e;
}

static int link_of(const struct net *n, int port)
{
    bool global = n->r->shape == PIPELINE_DRAGONFLY && port >= 3 * n->r->extent - 1;
    return global ? n->r->global : n->r->link;
}

static void deliver(struct net *n, const struct flit *f)
{
    struct packet *p = f->packet;
    if (n->now >= n->r->warm_up && n->now < n->r->warm_up + n->r->measured)
        n->arrived++;
    if (f->left > 0)
        return;
    if (p->measured) {
        n->sum += (double)(n->now - p->born);
        n->count++;
        n->open--;
    }
    free(p);
}

/* What comes goes into its queue; the stages begin with a packet that is first in it. */
static void come(struct net *n, struct router *r, struct lane *lane, struct flit flit)
{
    r->flits++;
    lane->flits[(lane->first + lane->count++) % n->r->buffer] = flit;
    if (lane->stage == IDLE) {
        int at = (int)(lane - r->in[0]);
        r->busy[at / LANES] |= 1U << at % LANES;
        lane->stage = n->r->routing ? ROUTING : CHANNEL;
        lane->from = n->tick;
        lane->port = -1;
    } else if (lane->stage == CROSSBAR && lane->count == 1) {
        lane->from = n->tick;
    }
}

static void happen(struct net *n, const struct event *e)
{
    if (e->router < 0 && e->flit.packet)
        deliver(n, &e->flit);
    else if (e->router < 0)
        n->node[e->port].credit[e->lane]++;
    else if (e->flit.packet)
        come(n, &n->router[e->router], &n->router[e->router].in[e->port][e->lane], e->flit);
    else
        n->router[e->router].credit[e->port][e->lane]++;
}

/* ---- Nodes. */
static void add(struct node *at, struct flit flit)
{
    if (at->count == at->capacity) {
        int capacity = at->capacity ? 2 * at->capacity : 64;
        struct flit *flits = malloc((size_t)capacity * sizeof *flits);
        for (int i = 0; i < at->count; i++)
            flits[i] = at->waiting[(at->first + i) % at->capacity];
        free(at->waiting);
        at->waiting = flits;
        at->first = 0;
        at->capacity = capacity;
    }
    at->waiting[(at->first + at->count++) % at->capacity] = flit;
}

static void generate(struct net *n, int node)
{
    int64_t begin = n->r->warm_up;
    if (draw(n) >= n->r->load / n->r->flits || n->now >= begin + 2 * n->r->measured)
        return;
    int to = (int)(draw(n) * (n->nodes - 1));
    struct packet *p = malloc(sizeof *p);
    bool measured = n->now >= begin && n->now < begin + n->r->measured;
    *p = (struct packet){
        .born = n->now, .target = to < node ? to : to + 1, .via = -1, .direction = -1, .measured = measured};
    if (n->r->next_group) {
        int group = 2 * n->r->extent * n->r->extent;
        p->target = ((node / group + 1) * group + (int)(draw(n) * group)) % n->nodes;
    }
    p->undecided = n->r->adaptive;
    if (n->r->valiant && router_of(n, p->target) != router_of(n, node))
        p->via = router_of(n, (int)(draw(n) * n->nodes));
    n->open += measured;
    for (int left = n->r->flits - 1; left >= 0; left--)
        add(&n->node[node], (struct flit){p, left});
}

static void inject(struct net *n, int node)
{
    struct node *at = &n->node[node];
    if (at->count == 0)
        return;
    struct flit flit = at->waiting[at->first];
    int lanes = n->r->new_in_all ? n->lanes : n->r->channels;
    for (int i = 1; at->lane < 0 && i <= lanes; i++)
        if (at->credit[(at->last + i) % lanes] > 0)
            at->lane = (at->last + i) % lanes;
    if (at->lane < 0 || at->credit[at->lane] == 0)
        return;
    if (n->r->routing == 0 && flit.packet->undecided)
        decide(n, router_of(n, node), flit.packet); /* the route is known before it comes */
    at->credit[at->lane]--;
    at->first = (at->first + 1) % at->capacity;
    at->count--;
    schedule(n, n->now + 1 + n->r->link,
             (struct event){
                 .flit = flit, .router = router_of(n, node), .port = node % n->terminals, .lane = at->lane});
    at->last = at->lane;
    if (flit.left == 0)
        at->lane = -1;
}

/* ---- The stages of a router. */
#define FOR_BUSY(c, r, input)                                                                                \
    for (uint32_t pf_left = (r)->busy[input], c; pf_left && (c = (uint32_t)__builtin_ctz(pf_left), true);    \
         pf_left &= pf_left - 1)

static int turn_of(const struct router *r, int asking, int output, int c)
{
    return (asking - r->channel_grant[output][c] + PORTS * LANES) % (PORTS * LANES);
}

/* Does an output's channel go to this one of those that ask? */
static bool is_granted(const struct router *r, const int *asking, int count, int i, int output, int c)
{
    int turn = turn_of(r, asking[i], output, c);
    for (int j = 0; j < count; j++) {
        const struct lane *other = &r->in[asking[j] / LANES][asking[j] % LANES];
        if (other->port == output && c >= other->low && c < other->high &&
            turn_of(r, asking[j], output, c) < turn)
            return false;
    }
    return !r->owner[output][c];
}

static void give_channels(struct net *n, struct router *r)
{
    int asking[PORTS * LANES], count = 0;
    for (int input = 0; input < n->ports; input++)
        FOR_BUSY(c, r, input)
    if (r->in[input][c].stage == CHANNEL && r->in[input][c].from <= n->tick)
        asking[count++] = input * LANES + (int)c;
    for (int i = 0; i < count; i++) {
        int input = asking[i] / LANES, c = asking[i] % LANES, best = -1, least = LANES;
        struct lane *lane = &r->in[input][c];
        for (int wanted = lane->low; wanted < lane->high; wanted++) {
            int rank = (wanted + lane->port * n->lanes - r->channel_accept[input][c] + n->lanes * n->ports) %
                       (n->lanes * n->ports);
            if ((best < 0 || rank < least) && is_granted(r, asking, count, i, lane->port, wanted)) {
                best = wanted;
                least = rank;
            }
        }
        if (best < 0)
            continue;
        r->owner[lane->port][best] = 1 + asking[i];
        r->channel_grant[lane->port][best] = (asking[i] + 1) % (PORTS * LANES);
        r->channel_accept[input][c] = (lane->port * n->lanes + best + 1) % (n->lanes * n->ports);
        lane->lane = best;
        lane->stage = CROSSBAR;
        lane->from = n->tick + 1;
        lane->held = false;
    }
}

static void send(struct net *n, int router, int input, int c)
{
    struct router *r = &n->router[router];
    struct lane *lane = &r->in[input][c];
    struct flit flit = lane->flits[lane->first];
    int output = lane->port;
    int64_t leaves = (n->tick + 1) / n->r->speedup + 1;
    lane->first = (lane->first + 1) % n->r->buffer;
    lane->count--;
    r->flits--;
    r->credit[output][lane->lane]--;
    if (leaves < r->free_at[output])
        leaves = r->free_at[output];
    r->free_at[output] = leaves + 1;
    struct event there = {
        .flit = flit, .router = r->peer[output], .port = r->peer_port[output], .lane = lane->lane};
    schedule(n, leaves + link_of(n, output), there);
    if (r->peer[output] < 0) /* the node gives the credit back at once */
        schedule(n, leaves + 2 * n->r->link + 1 + n->r->credit,
                 (struct event){.router = router, .port = output, .lane = lane->lane});
    struct event back = {.router = r->peer[input], .port = r->peer_port[input], .lane = c};
    int64_t later = n->r->credit;
    if (input < n->terminals && r->peer[input] < 0) {
        back.port = n->r->shape == PIPELINE_TREE
                        ? (router - (n->r->dimensions - 1) * power(n->r->extent, n->r->dimensions - 1)) *
                                  n->terminals +
                              input
                        : router * n->terminals + input;
        later = 0;
    }
    int64_t returns = r->credit_free_at[input] > n->now ? r->credit_free_at[input] : n->now;
    r->credit_free_at[input] = returns + 1;
    schedule(n, returns + 1 + link_of(n, input) + later, back);
    lane->held = n->r->hold && flit.left > 0;
    if (flit.left > 0)
        return;
    r->owner[output][lane->lane] = 0;
    lane->stage = lane->count == 0 ? IDLE : n->r->routing ? ROUTING : CHANNEL;
    if (lane->stage == IDLE)
        r->busy[input] &= ~(1U << c);
    lane->from = n->tick + 1;
    lane->port = -1;
}

static bool can_cross(const struct net *n, const struct router *r, const struct lane *lane)
{
    return lane->stage == CROSSBAR && lane->count > 0 && lane->from <= n->tick &&
           r->credit[lane->port][lane->lane] > 0;
}

/* The first one from a number on, in a circle. */
static int next_of(uint32_t set, int from)
{
    uint32_t rest = set >> from << from;
    return __builtin_ctz(rest ? rest : set);
}

static void cross(struct net *n, int router)
{
    struct router *r = &n->router[router];
    int wish[PORTS][PORTS], used[PORTS] = {0}, taken[PORTS] = {0};
    uint32_t wishing[PORTS] = {0},
             granted[PORTS] = {0}; /* inputs that wish an output; outputs that take an input */
    for (int input = 0; input < n->ports; input++)
        FOR_BUSY(c, r, input)
        {
            struct lane *lane = &r->in[input][c];
            if (!lane->held)
                continue;
            used[input] = taken[lane->port] = 1;
            if (can_cross(n, r, lane)) {
                send(n, router, input, (int)c);
            } else {
                lane->held = false; /* from the next step on the crossbar is free for others */
            }
        }
    for (int input = 0; input < n->ports; input++)
        for (int i = 0; i < n->lanes && !used[input] && r->busy[input]; i++) {
            int c = (r->turn[input] + i) % n->lanes;
            struct lane *lane = &r->in[input][c];
            if (can_cross(n, r, lane) && !taken[lane->port] && !(wishing[lane->port] >> input & 1)) {
                wish[input][lane->port] = c;
                wishing[lane->port] |= 1U << input;
            }
        }
    for (int output = 0; output < n->ports; output++)
        if (wishing[output])
            granted[next_of(wishing[output], r->grant[output])] |= 1U << output;
    for (int input = 0; input < n->ports; input++)
        if (granted[input]) {
            int output = next_of(granted[input], r->accept[input]), c = wish[input][output];
            r->grant[output] = (input + 1) % n->ports;
            r->accept[input] = (output + 1) % n->ports;
            r->turn[input] = (c + 1) % n->lanes;
            send(n, router, input, c);
        }
}

static void step(struct net *n, int router)
{
    struct router *r = &n->router[router];
    give_channels(n, r);
    cross(n, router);
}

/* With `routing` cycles 0 the route is known before. More than one end in the first step of the last of them,
 * in whichever step of the first one they begin. */
static int64_t end_of_routing(const struct net *n)
{
    int routing = n->r->routing, speedup = n->r->speedup;
    return routing > 1 ? (n->tick / speedup + routing - 1) * speedup + 1 : n->tick + routing;
}

static void prepare(struct net *n, int router)
{
    struct router *r = &n->router[router];
    for (int input = 0; input < n->ports; input++)
        FOR_BUSY(c, r, input)
        {
            struct lane *lane = &r->in[input][c];
            if ((lane->stage == ROUTING || lane->stage == CHANNEL) && lane->port < 0 &&
                lane->from <= n->tick) {
                route(n, router, lane);
                lane->stage = CHANNEL;
                lane->from = end_of_routing(n);
            }
        }
}

static void cycle(struct net *n)
{
    struct event *e = n->wheel[n->now % WHEEL];
    n->wheel[n->now % WHEEL] = NULL;
    for (struct event *next; e; e = next) {
        next = e->next;
        happen(n, e);
        free(e);
    }
    for (int node = 0; node < n->nodes; node++) {
        generate(n, node);
        inject(n, node);
    }
    for (int router = 0; router < n->routers; router++)
        for (int i = 0; i < n->r->speedup && (n->router[router].flits > 0 || n->r->hold); i++) {
            n->tick = n->now * n->r->speedup + i;
            prepare(n, router);
            step(n, router);
        }
    n->now++;
    n->tick = n->now * n->r->speedup;
}

static void make(struct net *n)
{
    const struct pipeline_request *r = n->r;
    int leaves = power(r->extent, r->dimensions - 1);
    n->terminals = r->shape == PIPELINE_TREE || r->shape == PIPELINE_DRAGONFLY ? r->extent : r->terminals;
    n->routers = power(r->extent, r->dimensions);
    n->ports = n->terminals + 2 * r->dimensions;
    if (r->shape == PIPELINE_HYPERX)
        n->ports = n->terminals + r->dimensions * r->extent;
    if (r->shape == PIPELINE_TREE) {
        n->routers = r->dimensions * leaves;
        n->ports = 2 * r->extent;
    }
    if (r->shape == PIPELINE_DRAGONFLY) {
        n->routers = 2 * r->extent * (2 * r->extent * r->extent + 1);
        n->ports = 4 * r->extent - 1;
    }
    n->nodes = r->shape == PIPELINE_TREE ? leaves * r->extent : n->routers * n->terminals;
    n->classes =
        (r->shape == PIPELINE_TORUS || r->shape == PIPELINE_DRAGONFLY ? 2 : 1) * (r->valiant ? 2 : 1);
    n->lanes = n->classes * r->channels;
    n->router = calloc((size_t)n->routers, sizeof *n->router);
    n->node = calloc((size_t)n->nodes, sizeof *n->node);
    for (int router = 0; router < n->routers; router++)
        for (int port = 0; port < n->ports; port++) {
            n->router[router].peer[port] = -1;
            for (int c = 0; c < n->lanes; c++) {
                n->router[router].credit[port][c] = r->buffer;
                n->router[router].in[port][c].flits = malloc((size_t)r->buffer * sizeof(struct flit));
            }
        }
    for (int node = 0; node < n->nodes; node++) {
        n->node[node].lane = -1;
        for (int c = 0; c < n->lanes; c++)
            n->node[node].credit[c] = r->buffer;
    }
    for (int router = 0; router < n->routers; router++)
        if (r->shape == PIPELINE_HYPERX)
            build_hyperx(n, router);
        else if (r->shape == PIPELINE_TREE)
            build_tree(n, router);
        else if (r->shape == PIPELINE_DRAGONFLY)
            build_dragonfly(n, router);
        else
            build_grid(n, router);
}

static void drop(struct flit *f)
{
    if (f->packet && f->left == 0)
        free(f->packet);
}

static void clear(struct net *n)
{
    for (int i = 0; i < WHEEL; i++)
        for (struct event *e = n->wheel[i], *next; e; e = next) {
            next = e->next;
            drop(&e->flit);
            free(e);
        }
    for (int router = 0; router < n->routers; router++)
        for (int port = 0; port < n->ports; port++)
            for (int c = 0; c < n->lanes; c++) {
                struct lane *lane = &n->router[router].in[port][c];
                for (int i = 0; i < lane->count; i++)
                    drop(&lane->flits[(lane->first + i) % n->r->buffer]);
                free(lane->flits);
            }
    for (int node = 0; node < n->nodes; node++) {
        struct node *at = &n->node[node];
        for (int i = 0; i < at->count; i++)
            drop(&at->waiting[(at->first + i) % at->capacity]);
        free(at->waiting);
    }
    free(n->router);
    free(n->node);
}

struct pipeline_result pipeline_run(const struct pipeline_request *request)
{
    struct net n = {.r = request, .random = request->seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    int64_t end = request->warm_up + request->measured;
    make(&n);
    while (n.now < end || (n.open > 0 && n.now < 2 * end))
        cycle(&n);
    struct pipeline_result result = {
        .latency = n.open == 0 && n.count > 0 ? n.sum / (double)n.count : 0.0,
        .accepted = (double)n.arrived / request->measured / n.nodes,
    };
    clear(&n);
    return result;
}
