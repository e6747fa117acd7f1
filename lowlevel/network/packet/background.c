/* SPDX-License-Identifier: BSD-3-Clause */
/* Background traffic. */
#include "lowlevel/network/packet/background.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/pool.h"
#include "lowlevel/network/packet/pattern.h"
#include "lowlevel/topology/topology.h"

enum {
    MOST_QUEUED = 500, /* packets of a node under way; it offers no more then */
    WARM_UP = 1000     /* packet times of a pause that are simulated */
};

struct source {
    struct pf_packet_timer timer;
    double rate; /* packets per second */
    double next; /* date */
    uint64_t draws;
    int under_way, waiting; /* packets; of them before the node */
    struct message *sending;
};

/* A packet's worth. A node sends one after the other, so that they take turns with the program's as one. */
struct message {
    struct pf_packet_message base;
    struct source *source;
};

static struct pf_pool messages = PF_POOL(struct message);
static struct pf_packet_sim *sim;
static struct pf_pattern *pattern;
static struct source *sources; /* of all nodes; rate 0: silent */
static int32_t node_count;
static double packet; /* bytes */
static double warm_up, skipped_up_to;

static uint64_t draw(struct source *s)
{
    uint64_t node = (uint64_t)(s - sources);
    return pf_topology_hash(pf_topology_hash((uint64_t)pf_config.net_seed ^ (node + 1) << 32) + s->draws++);
}

/* Exponential. */
static double draw_time(struct source *s)
{
    return -log(((double)(draw(s) >> 11) + 1) * 0x1p-53) / s->rate;
}

static void send_next(struct source *s, double date);

static void message_sent(struct pf_packet_message *base, double date)
{
    struct source *s = ((struct message *)base)->source;
    s->sending = NULL;
    send_next(s, date);
}

static void message_ends(struct pf_packet_message *base, double date)
{
    struct message *m = (struct message *)base;
    m->source->under_way--;
    if (m->source->sending == m) /* lost before it was sent */
        message_sent(base, date);
    pf_pool_put(&messages, m);
}

static void nothing(struct pf_packet_message *base, double date)
{
}

static const struct pf_packet_message_ops ops = {sizeof ops, nothing, message_sent, message_ends,
                                                 message_ends};

static void send_next(struct source *s, double date)
{
    int32_t node = (int32_t)(s - sources);
    while (s->waiting > 0 && !s->sending) {
        int32_t to = pf_pattern_destination(pattern, node, draw(s));
        s->waiting--;
        if (to < 0 || to == node) {
            s->under_way--;
            continue;
        }
        struct message *m = s->sending = pf_pool_get(&messages);
        *m = (struct message){.base = {.ops = &ops,
                                       .bytes = (double)pf_config.net_packet_bytes,
                                       .source = node,
                                       .destination = to,
                                       .streams = true},
                              .source = s};
        pf_packet_sim_send(sim, &m->base, date);
    }
}

static void offer(struct source *s, double date)
{
    if (s->under_way == MOST_QUEUED)
        return;
    s->under_way++;
    s->waiting++;
    send_next(s, date);
}

static void rings(struct pf_packet_timer *timer, double date)
{
    struct source *s = (struct source *)timer;
    if (date < skipped_up_to)
        s->next = skipped_up_to; /* arrivals have no memory */
    else
        offer(s, date);
    s->next += draw_time(s);
    pf_packet_sim_at(sim, timer, s->next);
}

void pf_packet_background_resume(double date)
{
    skipped_up_to = date - warm_up;
    pf_packet_sim_advance(sim, date);
}

/* ---- What the user says. */
static void refuse(const char *why)
{
    pf_die("%s: '%.80s': %s", pf_config_given("background"), pf_config.background, why);
}

static bool read_load(const char *text, double *load)
{
    char *end;
    *load = strtod(text, &end);
    return end != text && !*end && *load > 0.0 && *load <= 1.0;
}

/* "0-3,8": marks them. */
static void read_nodes(const char *text, bool *chosen)
{
    for (;; text++) {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (end == text)
            refuse("nodes are numbers, such as 0-3,8");
        text = end;
        if (*text == '-') {
            last = strtol(text + 1, &end, 10);
            text = end;
        }
        if (first < 0 || last < first || last >= node_count || (*text && *text != ','))
            refuse("nodes are numbers of the platform's hosts, such as 0-3,8");
        for (long i = first; i <= last; i++)
            chosen[i] = true;
        if (!*text)
            return;
    }
}

/* Takes the last part behind a colon away, "" when there is none. */
static char *cut_last(char *text)
{
    char *colon = strrchr(text, ':');
    if (!colon)
        return text + strlen(text);
    *colon = 0;
    return colon + 1;
}

/* PATTERN:LOAD or PATTERN:LOAD:NODES; patterns have colons, too, so a load before nodes has a point. */
static void read_words(char *text, double *load, bool *chosen)
{
    char *last = cut_last(text), *before = strrchr(text, ':');
    double is_load;
    if (!strchr(last, '.') && before && strchr(before, '.') && read_load(before + 1, &is_load)) {
        read_nodes(last, chosen);
        last = cut_last(text);
    } else {
        for (int32_t n = 0; n < node_count; n++)
            chosen[n] = true;
    }
    if (!read_load(last, load))
        refuse(
            "it must be PATTERN:LOAD or PATTERN:LOAD:NODES, such as uniform:0.3 or uniform:0.3:8-15, with a "
            "load above 0 and at most 1");
}

/* What a node can send: as fast as its link, and as its router's fastest one. */
static double rate_of(const struct pf_fabric *f, int32_t node)
{
    int32_t router = pf_fabric_router_of(f, node);
    double fastest = 0.0;
    for (int32_t port = f->first_port[router]; port < f->first_port[router + 1]; port++)
        if (f->ports[port].peer >= 0 && f->ports[port].peer != f->routers + node)
            fastest = fmax(fastest, f->ports[port].rate);
    double own = f->ports[f->first_port[f->routers + node]].rate;
    return fastest > 0.0 ? fmin(own, fastest) : own;
}

bool pf_packet_background_open(struct pf_packet_sim *simulator, const struct pf_fabric *fabric)
{
    char error[300], *text = pf_strdup(pf_config.background);
    double load = 0.0, fastest = 0.0;
    if (!*text) {
        free(text);
        return false;
    }
    sim = simulator;
    node_count = fabric->nodes;
    packet = (double)(pf_config.net_packet_bytes + pf_config.net_packet_header);
    bool *chosen = pf_calloc((size_t)node_count + 1, sizeof *chosen);
    read_words(text, &load, chosen);
    pattern = pf_pattern_make(text, fabric, (uint64_t)pf_config.net_seed, error, sizeof error);
    if (!pattern)
        refuse(error);
    sources = pf_calloc((size_t)node_count + 1, sizeof *sources);
    for (int32_t n = 0; n < node_count; n++) {
        struct source *s = &sources[n];
        double rate = rate_of(fabric, n);
        if (!chosen[n] || isinf(rate))
            continue;
        fastest = fmax(fastest, rate);
        *s = (struct source){.timer = {rings}, .rate = load * rate / packet};
        s->next = draw_time(s);
        pf_packet_sim_at(sim, &s->timer, s->next);
    }
    warm_up = fastest > 0.0 ? WARM_UP * packet / fastest : 0.0;
    free(chosen);
    free(text);
    return true;
}
