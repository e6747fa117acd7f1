/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the tables by which messages are priced from the parameters and the platform. */
#include "adapters/analytic/cost/way.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/analytic/cost/parameters/derive.h"
#include "adapters/analytic/cost/parameters/quantity.h"
#include "base/config.h"
#include "base/memory.h"

/* LogGPS: the same threshold as SMPI's smpi/send-is-detached-thresh. */
#define DEFAULT_EAGER_MAX 65535

/* In the order of the words of the key `model`. */
enum formulae { LOGGPS, LOGGP, SMP };

/* Of the key `windows`. */
enum windows { BY_NICS, BY_MESSAGES, BY_WORDS };

/* Of the key `contention`. */
enum contention { ALONE, RECEIVING_NICS, LINKS };

/* So many links are numbered, and of so many the busy times are kept. More than any job needs. */
#define MOST_LINKS ((size_t)1 << 23)
#define MOST_LOADS ((size_t)1 << 20)

static const char *at_key(const struct pf_parameters *p, enum pf_parameter key, const char *reason)
{
    return pf_problem_write("%s: %s: %s", p->value[key].where, pf_parameter_name(key), reason);
}

static const char *refuse_both(const struct pf_parameters *p, enum pf_parameter a, enum pf_parameter b)
{
    char reason[120];
    if (!pf_parameters_has(p, a) || !pf_parameters_has(p, b))
        return NULL;
    snprintf(reason, sizeof reason, "cannot be combined with %s", pf_parameter_name(b));
    return at_key(p, a, reason);
}

static double by_word(const struct pf_parameters *p, enum pf_parameter key, double otherwise)
{
    return pf_parameters_at(p, key, 0, otherwise);
}

/* s/B from a key in B/s. */
static double byte_time(const struct pf_parameters *p, enum pf_parameter key, size_t bytes, double otherwise)
{
    return pf_parameters_has(p, key) ? 1 / pf_parameters_at(p, key, bytes, INFINITY) : otherwise;
}

/* The key of the transport for key `key` of the network: the keys of the memory follow in the same order. */
static enum pf_parameter of_transport(enum pf_parameter key, bool memory)
{
    return (enum pf_parameter)((int)key + (memory ? (int)PF_MEMORY_LATENCY - (int)PF_LATENCY : 0));
}

static int compare_sizes(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* The sizes at which anything of the transport changes, 0 first. */
static int transport_sizes(const struct pf_parameters *p, bool memory, size_t *sizes)
{
    int n = 0, count = 0;
    sizes[n++] = 0;
    for (int key = PF_LATENCY; key < PF_MEMORY_LATENCY; key++) {
        const struct pf_parameter_value *value = &p->value[of_transport((enum pf_parameter)key, memory)];
        for (int i = 0; i < value->count; i++)
            sizes[n++] = value->from[i];
    }
    qsort(sizes, (size_t)n, sizeof *sizes, compare_sizes);
    for (int i = 0; i < n; i++)
        if (i == 0 || sizes[i] != sizes[count - 1])
            sizes[count++] = sizes[i];
    return count;
}

static const char *check_transport(const struct pf_parameters *p, bool memory)
{
    static const enum pf_parameter excluded[][2] = {
        {PF_TIME, PF_LATENCY},          {PF_TIME, PF_BANDWIDTH},
        {PF_TIME, PF_BANDWIDTH_FACTOR}, {PF_BANDWIDTH, PF_BANDWIDTH_FACTOR},
        {PF_TIME, PF_HEADER},           {PF_TIME, PF_BUS_BANDWIDTH},
        {PF_NIC_TIME, PF_GAP},          {PF_NIC_TIME, PF_NIC_BANDWIDTH},
    };
    static const enum pf_parameter lines[] = {PF_TIME, PF_NIC_TIME};
    const char *wrong = NULL;
    const struct pf_parameter_value *factor = &p->value[of_transport(PF_BANDWIDTH_FACTOR, memory)];
    for (int k = 0; k < factor->count; k++)
        if (factor->number[k] < 1e-9)
            return at_key(p, of_transport(PF_BANDWIDTH_FACTOR, memory), "no byte would ever arrive");
    for (size_t i = 0; i < sizeof excluded / sizeof excluded[0] && !wrong; i++)
        wrong = refuse_both(p, of_transport(excluded[i][0], memory), of_transport(excluded[i][1], memory));
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const struct pf_parameter_value *line = &p->value[of_transport(lines[i], memory)];
        for (int k = 1; k < line->count && !wrong; k++)
            if (line->number[k] < line->number[k - 1])
                wrong = at_key(p, of_transport(lines[i], memory),
                               "a larger message must not be faster than a smaller one");
    }
    return wrong;
}

/* Linear interpolation between the two values around a size: `start` + m x `slope`. Constant before the first
 * value and for a single one; beyond the last value the last line continues. */
static void straight_line(const struct pf_parameter_value *value, size_t bytes, double *start, double *slope)
{
    int i = 0;
    while (i + 2 < value->count && value->from[i + 1] <= bytes)
        i++;
    *slope = 0;
    if (value->count > 1 && bytes >= value->from[0])
        *slope = (value->number[i + 1] - value->number[i]) / (double)(value->from[i + 1] - value->from[i]);
    *start = value->number[i] - *slope * (double)value->from[i];
}

/* The overheads of a transport with measured times are linear between sizes as well. */
static void fill_overhead(const struct pf_parameter_value *value, bool lines, size_t bytes, double *start,
                          double *slope)
{
    *start = *slope = 0;
    if (lines && value->count)
        straight_line(value, bytes, start, slope);
    for (int i = 0; !lines && i < value->count && value->from[i] <= bytes; i++)
        *start = value->number[i];
}

static void fill_range(const struct pf_parameters *p, bool memory, struct pf_cost_range *range)
{
    size_t bytes = range->from;
    const struct pf_parameter_value *time = &p->value[of_transport(PF_TIME, memory)];
    const struct pf_parameter_value *nic = &p->value[of_transport(PF_NIC_TIME, memory)];
    const struct pf_parameter_value *factor = &p->value[of_transport(PF_LATENCY_FACTOR, memory)];
    range->latency_factor = pf_parameters_at(p, of_transport(PF_LATENCY_FACTOR, memory), bytes, !time->count);
    if (time->count) {
        straight_line(time, bytes, &range->latency, &range->byte_time);
        range->byte_factor = time->count == 1; /* a single time has no slope: bytes take the path's time */
        if (factor->count)
            straight_line(factor, bytes, &range->latency_factor, &range->latency_slope);
    } else {
        range->latency = pf_parameters_at(p, of_transport(PF_LATENCY, memory), bytes, 0);
        double bandwidth = pf_parameters_at(p, of_transport(PF_BANDWIDTH, memory), bytes, 0);
        if (bandwidth > 0)
            range->byte_time = 1 / bandwidth;
        else
            range->byte_factor = 1 / pf_parameters_at(p, of_transport(PF_BANDWIDTH_FACTOR, memory), bytes, 1);
    }
    range->byte_time += byte_time(p, of_transport(PF_BUS_BANDWIDTH, memory), bytes, 0);
    range->least_byte_time = byte_time(p, of_transport(PF_BANDWIDTH_MAX, memory), bytes, 0);
    range->header = pf_parameters_at(p, of_transport(PF_HEADER, memory), bytes, 0);
    range->head = pf_parameters_at(p, of_transport(PF_HEAD_LATENCY, memory), bytes, 0);
    range->gap = pf_parameters_at(p, of_transport(PF_GAP, memory), bytes, 0);
    range->nic_byte_time = byte_time(p, of_transport(PF_NIC_BANDWIDTH, memory), bytes, memory ? 0 : -1);
    if (nic->count)
        straight_line(nic, bytes, &range->gap, &range->nic_byte_time);
    fill_overhead(&p->value[of_transport(PF_OVERHEAD_SEND, memory)], time->count, bytes,
                  &range->overhead_send, &range->send_byte_time);
    fill_overhead(&p->value[of_transport(PF_OVERHEAD_RECEIVE, memory)], time->count, bytes,
                  &range->overhead_receive, &range->receive_byte_time);
}

static const char *make_transport(struct pf_cost *cost, bool memory)
{
    enum { MOST = 1 + (PF_MEMORY_LATENCY - PF_LATENCY) * PF_PARAMETER_SIZES };
    struct pf_cost_transport *transport = memory ? &cost->memory : &cost->network;
    const char *wrong = check_transport(&cost->parameters, memory);
    if (wrong)
        return wrong;
    size_t *sizes = pf_malloc(MOST * sizeof *sizes);
    transport->count = transport_sizes(&cost->parameters, memory, sizes);
    transport->ranges = pf_calloc((size_t)transport->count + 1, sizeof *transport->ranges);
    transport->busy_out = pf_calloc((size_t)cost->nodes, sizeof *transport->busy_out);
    transport->command = pf_calloc((size_t)cost->nodes, sizeof *transport->command);
    transport->last = pf_calloc((size_t)cost->nodes * PF_COST_LASTS, sizeof *transport->last);
    for (int i = 0; i < transport->count; i++) {
        transport->ranges[i].from = sizes[i];
        fill_range(&cost->parameters, memory, &transport->ranges[i]);
    }
    free(sizes);
    transport->control_latency = pf_parameters_at(&cost->parameters, of_transport(PF_CONTROL_LATENCY, memory),
                                                  0, transport->ranges[0].latency);
    for (int i = 0; i < transport->count; i++)
        transport->ranges[i].acknowledgement =
            pf_parameters_at(&cost->parameters, of_transport(PF_ACK_LATENCY, memory),
                             transport->ranges[i].from, transport->control_latency);
    for (int bits = 0; bits <= 64; bits++) {
        size_t smallest = bits ? (size_t)1 << (bits - 1) : 0;
        int i = 0;
        while (i + 1 < transport->count && transport->ranges[i + 1].from <= smallest)
            i++;
        transport->first[bits] = (unsigned short)i;
    }
    return NULL;
}

/* SMP-SIM copies at the memory's bandwidth, which is that of a large message inside the node. */
static double memory_byte_time(struct pf_cost *cost)
{
    const struct pf_cost_range *large = &cost->memory.ranges[cost->memory.count - 1];
    return large->byte_factor == 0 ? large->byte_time
                                   : large->byte_factor * pf_cost_paths_get(cost->paths, 0, 0)->byte_time;
}

/* SIZE_MAX of an unlimited one. */
static size_t size_at(const struct pf_parameters *p, enum pf_parameter key, size_t otherwise)
{
    if (!pf_parameters_has(p, key))
        return otherwise;
    double size = pf_parameters_at(p, key, 0, 0);
    return isinf(size) ? SIZE_MAX : (size_t)size;
}

static const char *make_protocol(struct pf_cost *cost)
{
    const struct pf_parameters *p = &cost->parameters;
    enum formulae formulae = (enum formulae)by_word(p, PF_MODEL, LOGGPS);
    if (formulae == LOGGP && pf_parameters_has(p, PF_EAGER_MAX))
        return at_key(p, PF_EAGER_MAX, "model loggp sends everything at once; loggps has a threshold");
    cost->eager_max = size_at(p, PF_EAGER_MAX, formulae == LOGGP ? SIZE_MAX : DEFAULT_EAGER_MAX);
    size_t buffered = size_at(p, PF_BUFFERED_MAX, 0);
    cost->buffered_below =
        pf_parameters_has(p, PF_BUFFERED_MAX) && buffered < SIZE_MAX ? buffered + 1 : buffered;
    cost->blocks = pf_parameters_has(p, PF_BLOCKING_MAX);
    cost->blocking_max = size_at(p, PF_BLOCKING_MAX, cost->eager_max);
    cost->short_max = size_at(p, PF_SHORT_MAX, 0);
    cost->piece = size_at(p, PF_PIECE, SIZE_MAX);
    cost->piece_header = size_at(p, PF_PIECE_HEADER, 0);
    if (cost->piece == 0)
        return at_key(p, PF_PIECE, "a piece has one byte at least");
    if (cost->piece_header > cost->piece)
        return at_key(p, PF_PIECE_HEADER, "is longer than a piece");
    cost->register_time = pf_parameters_at(p, PF_REGISTER_TIME, 0, 0);
    cost->eager_meets = by_word(p, PF_EAGER, 0) > 0;
    cost->leaves_first = by_word(p, PF_LEAVE, 0) > 0;
    cost->protocol = (enum pf_cost_protocol)by_word(p, PF_PROTOCOL, PF_COST_RENDEZVOUS);
    cost->eager_done = (enum pf_cost_done)by_word(p, PF_EAGER_DONE, PF_COST_COPIED);
    cost->rendezvous_done =
        (enum pf_cost_done)by_word(p, PF_RENDEZVOUS_DONE, formulae == SMP ? PF_COST_COPIED : PF_COST_SENT);
    cost->call = pf_parameters_at(p, PF_CALL, 0, 0);
    cost->start = pf_parameters_at(p, PF_START, 0, 0);
    cost->type = pf_parameters_at(p, PF_TYPE, 0, 0);
    cost->post = pf_parameters_at(p, PF_POST, 0, 0);
    cost->network.reserve = pf_parameters_at(p, PF_RESERVE, 0, 0);
    cost->copy_byte_time = byte_time(p, PF_COPY_BANDWIDTH, 0, formulae == SMP ? memory_byte_time(cost) : 0);
    cost->copy_latency = pf_parameters_at(p, PF_COPY_LATENCY, 0, 0);
    cost->receive_latency = pf_parameters_at(p, PF_RECEIVE_LATENCY, 0, 0);
    cost->event_latency = pf_parameters_at(p, PF_EVENT_LATENCY, 0, 0);
    cost->write_latency = pf_parameters_at(p, PF_WRITE_LATENCY, 0, 0);
    cost->network.share_above = (size_t)pf_parameters_at(p, PF_SHARE_ABOVE, 0, 0);
    enum windows windows = (enum windows)by_word(p, PF_WINDOWS, BY_NICS);
    cost->window_words = windows == BY_WORDS;
    if (windows == BY_MESSAGES)
        cost->window_buffer = (size_t)fmax(256, pf_parameters_at(p, PF_WINDOW_BUFFER, 0, 8192));
    cost->pack_byte_time = byte_time(p, PF_PACK_BANDWIDTH, 0, 0);
    cost->own_byte_time = byte_time(p, PF_OWN_BANDWIDTH, 0, 0);
    cost->combine_byte_time = byte_time(p, PF_COMBINE_BANDWIDTH, 0, 0);
    return NULL;
}

/* The links between nodes: those of the platform, or of a topology. */
static void make_links(struct pf_cost *cost, pf_cost_links_fn *links, void *context)
{
    struct pf_cost_transport *network = &cost->network;
    struct pf_fabric_speeds speeds;
    if (cost->by_arithmetic) {
        if (!(cost->link_byte_time > 0) || (size_t)pf_fabric_links(cost->topology) > MOST_LINKS)
            return;
        pf_fabric_equal_links(&speeds, 1 / cost->link_byte_time, 0, 0);
        pf_fabric_wire(cost->topology, &speeds);
        links = pf_links_of_fabric;
        context = cost->topology;
    }
    if (!links || cost->nodes > PF_PATHS_TABLE)
        return;
    network->ports = pf_ports_new(cost->nodes, links, context);
    network->middle = pf_links_of_platform(cost->nodes, false, links, context);
    network->crowd = pf_crowd_new(cost->nodes, network->middle);
    if (network->ports)
        pf_links_count_ends(network->middle);
}

static const char *make_contention(struct pf_cost *cost, pf_cost_links_fn *links, void *context)
{
    const struct pf_parameters *p = &cost->parameters;
    struct pf_cost_transport *network = &cost->network;
    if (by_word(p, PF_TOGETHER, 0) > 0)
        network->batch = pf_calloc((size_t)cost->nodes, sizeof *network->batch);
    switch ((enum contention)by_word(p, PF_CONTENTION, ALONE)) {
    case ALONE:
        network->behind = pf_calloc((size_t)cost->nodes, sizeof *network->behind);
        return NULL;
    case RECEIVING_NICS:
        network->busy_in = pf_calloc((size_t)cost->nodes, sizeof *network->busy_in);
        if (network->batch && network->share_above > 0) {
            network->passing_out = pf_calloc((size_t)cost->nodes, sizeof *network->passing_out);
            network->passing_in = pf_calloc((size_t)cost->nodes, sizeof *network->passing_in);
            network->inflow = pf_calloc((size_t)cost->nodes, sizeof *network->inflow);
            if (cost->protocol == PF_COST_PORTALS && cost->eager_done == PF_COST_ACKNOWLEDGED)
                network->acknowledgement_bytes =
                    (double)(pf_config.nic_ack_bytes + (pf_config.nic_e2e ? pf_config.nic_e2e_ack_bytes : 0));
        }
        make_links(cost, links, context);
        return NULL;
    case LINKS:
        break;
    }
    if (!cost->by_arithmetic) {
        if (!links)
            return at_key(p, PF_CONTENTION, "the links of the platform are not known");
        network->links = pf_links_of_platform(cost->nodes, true, links, context);
        return NULL;
    }
    if (!pf_parameters_has(p, PF_LINK_BANDWIDTH))
        return at_key(p, PF_CONTENTION, "link needs link_bandwidth");
    if (cost->link_byte_time == 0)
        return at_key(p, PF_CONTENTION, "link needs a link_bandwidth that is not unlimited");
    if ((size_t)pf_fabric_links(cost->topology) > MOST_LOADS)
        return at_key(p, PF_CONTENTION, "the topology has too many links to keep the load of each");
    network->links = pf_links_by_arithmetic(cost->topology, cost->link_byte_time);
    return NULL;
}

static bool is_platform(const struct pf_parameters *p, enum pf_parameter key)
{
    return !pf_parameters_has(p, key) || strcmp(p->value[key].text, "platform") == 0;
}

/* With at least so many positions. */
static const char *read_topology(const struct pf_parameters *p, enum pf_parameter key, int positions,
                                 struct pf_fabric **out)
{
    char text[sizeof(*out)->text], error[300];
    const char *given = p->value[key].text;
    if (strchr(given, ' '))
        return at_key(
            p, key,
            "a topology is now written KIND:NUMBERS, and its first dimension varies fastest, such as "
            "torus:16x8 for torus 8x16 (docs/packet.md)");
    if (!pf_fabric_describe(given, positions, text, sizeof text, error, sizeof error) ||
        !(*out = pf_fabric_make(text, NULL, error, sizeof error)))
        return at_key(p, key, error);
    if ((*out)->nodes >= positions)
        return NULL;
    snprintf(error, sizeof error, "%s has %d positions, %d are needed", text, (*out)->nodes, positions);
    return at_key(p, key, error);
}

static const char *make_topology(struct pf_cost *cost)
{
    const struct pf_parameters *p = &cost->parameters;
    static const enum pf_parameter links[] = {PF_LINK_LATENCY, PF_LINK_BANDWIDTH};
    cost->by_arithmetic = !is_platform(p, PF_TOPOLOGY);
    if (!cost->by_arithmetic) {
        for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
            if (pf_parameters_has(p, links[i]))
                return at_key(p, links[i], "the platform has its own links; set topology to use this");
        return NULL;
    }
    const char *wrong = read_topology(p, PF_TOPOLOGY, cost->nodes, &cost->topology);
    if (wrong)
        return wrong;
    bool has_latency = pf_parameters_has(p, PF_LINK_LATENCY);
    bool has_bandwidth = pf_parameters_has(p, PF_LINK_BANDWIDTH) || pf_parameters_has(p, PF_BANDWIDTH) ||
                         pf_parameters_has(p, PF_TIME);
    if (!has_latency || !has_bandwidth)
        return at_key(p, PF_TOPOLOGY,
                      has_latency     ? "link_bandwidth is missing"
                      : has_bandwidth ? "link_latency is missing"
                                      : "link_latency and link_bandwidth are missing");
    cost->link_latency = pf_parameters_at(p, PF_LINK_LATENCY, 0, 0);
    cost->link_byte_time = byte_time(p, PF_LINK_BANDWIDTH, 0, 0);
    return NULL;
}

/* Ranks of one node have positions in the order of their ranks. */
static const char *make_node_topology(struct pf_cost *cost)
{
    const struct pf_parameters *p = &cost->parameters;
    cost->node_by_arithmetic = !is_platform(p, PF_NODE_TOPOLOGY);
    if (!cost->node_by_arithmetic)
        return pf_parameters_has(p, PF_NODE_LINK_LATENCY)
                   ? at_key(p, PF_NODE_LINK_LATENCY, "has no meaning without node.topology")
                   : NULL;
    int most = 0, *count = pf_calloc((size_t)cost->nodes, sizeof *count);
    cost->index_on_node = pf_calloc((size_t)cost->ranks, sizeof *cost->index_on_node);
    for (int rank = 0; rank < cost->ranks; rank++) {
        cost->index_on_node[rank] = count[cost->node_of_rank[rank]]++;
        if (count[cost->node_of_rank[rank]] > most)
            most = count[cost->node_of_rank[rank]];
    }
    free(count);
    const char *wrong = read_topology(p, PF_NODE_TOPOLOGY, most, &cost->node_topology);
    if (wrong)
        return wrong;
    if (!pf_parameters_has(p, PF_NODE_LINK_LATENCY))
        return at_key(p, PF_NODE_TOPOLOGY, "node.link_latency is missing");
    cost->node_link_latency = pf_parameters_at(p, PF_NODE_LINK_LATENCY, 0, 0);
    return NULL;
}

/* Drops derived parameters that the user gives by other keys. */
static void give_way(struct pf_parameters *derived, const struct pf_parameters *user, bool memory)
{
    static const struct {
        enum pf_parameter given, derived[7];
    } ways[] = {
        {PF_TIME,
         {PF_LATENCY, PF_LATENCY_FACTOR, PF_BANDWIDTH, PF_BANDWIDTH_FACTOR, PF_BANDWIDTH_MAX,
          PF_BUS_BANDWIDTH, PF_HEADER}},
        {PF_BANDWIDTH, {PF_BANDWIDTH_FACTOR, PF_BANDWIDTH_MAX, PF_BUS_BANDWIDTH, PF_HEADER}},
        {PF_BANDWIDTH_FACTOR, {PF_BANDWIDTH, PF_BANDWIDTH_MAX}},
        {PF_NIC_TIME, {PF_GAP, PF_NIC_BANDWIDTH}},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        for (int k = 0; k < 7 && pf_parameters_has(user, of_transport(ways[i].given, memory)); k++)
            if (ways[i].derived[k])
                derived->value[of_transport(ways[i].derived[k], memory)].count = 0;
}

/* Derives missing parameters from the simulated NIC, unless there is a file or another key `model`. */
static void derive(struct pf_cost *cost, pf_cost_route_fn *route, void *context)
{
    struct pf_parameters *user = &cost->parameters;
    bool plain = *pf_config.analytic_parameters || by_word(user, PF_MODEL, LOGGPS) != LOGGPS;
    if (by_word(user, PF_DEFAULTS, plain) > 0)
        return;
    struct pf_parameters *derived = pf_calloc(1, sizeof *derived);
    double latency = 0, bandwidth = pf_parameters_at(user, PF_LINK_BANDWIDTH, 0, 0);
    if (is_platform(user, PF_TOPOLOGY) && route && cost->nodes > 1)
        route(context, 0, 1, &latency, &bandwidth);
    pf_cost_derive(derived, bandwidth);
    give_way(derived, user, false);
    give_way(derived, user, true);
    for (int key = 0; key < PF_PARAMETER_COUNT; key++)
        if (!pf_parameters_has(user, (enum pf_parameter)key))
            user->value[key] = derived->value[key];
    free(derived);
}

static const char *read_parameters(struct pf_parameters *p)
{
    const char *wrong = NULL;
    if (*pf_config.analytic_parameters)
        wrong = pf_parameters_read_file(p, pf_config.analytic_parameters);
    if (!wrong && *pf_config.analytic_set)
        wrong = pf_parameters_read_text(p, pf_config.analytic_set, "PARFOCAL_ANALYTIC_SET");
    return wrong;
}

static const char *make(struct pf_cost *cost, int ranks, const int *nodes_of_ranks, pf_cost_route_fn *route,
                        pf_cost_links_fn *links, void *context)
{
    cost->ranks = ranks;
    cost->nodes = 1;
    cost->node_of_rank = pf_calloc((size_t)ranks, sizeof *cost->node_of_rank);
    for (int rank = 0; rank < ranks; rank++) {
        cost->node_of_rank[rank] = nodes_of_ranks[rank];
        if (nodes_of_ranks[rank] >= cost->nodes)
            cost->nodes = nodes_of_ranks[rank] + 1;
    }
    cost->paths = pf_cost_paths_new(cost->nodes, route, context);
    const char *wrong = read_parameters(&cost->parameters);
    if (!wrong) {
        derive(cost, route, context);
        wrong = make_topology(cost);
    }
    if (!wrong)
        wrong = make_node_topology(cost);
    if (!wrong)
        wrong = make_transport(cost, false);
    if (!wrong)
        wrong = make_transport(cost, true);
    if (!wrong)
        wrong = make_protocol(cost);
    if (!wrong && cost->protocol == PF_COST_UCX)
        cost->hands = pf_calloc((size_t)ranks, sizeof *cost->hands);
    return wrong ? wrong : make_contention(cost, links, context);
}

struct pf_cost *pf_cost_new(int ranks, const int *nodes_of_ranks, pf_cost_route_fn *route,
                            pf_cost_links_fn *links, void *context, char *why, size_t why_size)
{
    struct pf_cost *cost = pf_calloc(1, sizeof *cost);
    const char *wrong = make(cost, ranks, nodes_of_ranks, route, links, context);
    if (!wrong) {
        pf_cost_ways_begin(cost);
        return cost;
    }
    snprintf(why, why_size, "%s", wrong);
    pf_cost_free(cost);
    return NULL;
}

static void free_transport(struct pf_cost_transport *transport, size_t nodes)
{
    free(transport->ranges);
    pf_busy_free(transport->busy_out, nodes);
    pf_busy_free(transport->passing_out, nodes);
    pf_busy_free(transport->passing_in, nodes);
    free(transport->command);
    free(transport->last);
    free(transport->answered);
    pf_busy_free(transport->busy_in, nodes);
    pf_busy_free(transport->behind, nodes);
    free(transport->batch);
    pf_ports_free(transport->ports);
    pf_crowd_free(transport->crowd);
    pf_links_free(transport->links);
    pf_links_free(transport->middle);
}

void pf_cost_free(struct pf_cost *cost)
{
    if (!cost)
        return;
    for (int i = 0; cost->network.inflow && i < cost->nodes; i++)
        free(cost->network.inflow[i]);
    free(cost->network.inflow);
    free_transport(&cost->network, (size_t)cost->nodes);
    free_transport(&cost->memory, (size_t)cost->nodes);
    pf_fabric_free(cost->topology);
    pf_fabric_free(cost->node_topology);
    pf_cost_paths_free(cost->paths);
    free(cost->ways);
    pf_busy_free(cost->hands, (size_t)cost->ranks);
    free(cost->pairs);
    free(cost->index_on_node);
    free(cost->node_of_rank);
    free(cost);
}
