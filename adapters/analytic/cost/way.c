/* SPDX-License-Identifier: BSD-3-Clause */
/* What lies between two ranks. */
#include "adapters/analytic/cost/way.h"

#include "base/memory.h"

enum { FEWEST_BITS = 6, MOST_BITS = 15, WAYS_PER_RANK = 16 };

void pf_cost_ways_begin(struct pf_cost *cost)
{
    int bits = FEWEST_BITS;
    while (bits < MOST_BITS && 1 << bits < cost->ranks * WAYS_PER_RANK)
        bits++;
    cost->ways = pf_calloc_lines((size_t)1 << bits, sizeof *cost->ways);
    cost->ways_shift = 32 - bits + 1;
    for (int i = 0; i < 1 << bits; i++)
        cost->ways[i].src = -1;
}

struct pf_cost_path pf_cost_path_between(const struct pf_cost *cost, int src, int dst)
{
    int from = cost->node_of_rank[src], to = cost->node_of_rank[dst];
    if (from == to && cost->node_by_arithmetic) {
        struct pf_cost_path path = *pf_cost_paths_get(cost->paths, from, from);
        path.latency = cost->node_link_latency * pf_fabric_hops(cost->node_topology, cost->index_on_node[src],
                                                                cost->index_on_node[dst]);
        return path;
    }
    if (from != to && cost->by_arithmetic) {
        struct pf_cost_path path = {cost->link_latency * pf_fabric_hops(cost->topology, from, to),
                                    cost->link_byte_time};
        return path;
    }
    return *pf_cost_paths_get(cost->paths, from, to);
}

static double busy_time(const struct pf_cost_range *range, size_t bytes, double least, double byte_time)
{
    if (range->header > 0 && range->nic_byte_time < 0) {
        double served = (range->header + (double)bytes * range->byte_factor) * least;
        return range->gap > served ? range->gap : served;
    }
    return range->gap + (double)bytes * (range->nic_byte_time < 0 ? byte_time : range->nic_byte_time);
}

void pf_cost_way_fill(struct pf_cost *cost, struct pf_cost_way *way, int src, int dst, size_t size,
                      size_t bytes)
{
    int from = cost->node_of_rank[src], to = cost->node_of_rank[dst];
    struct pf_cost_transport *transport = from == to ? &cost->memory : &cost->network;
    struct pf_cost_range *range = pf_cost_range_of(transport, size);
    struct pf_cost_path path = pf_cost_path_between(cost, src, dst);
    double least = path.byte_time > range->least_byte_time ? path.byte_time : range->least_byte_time;
    double byte_time = range->byte_time + range->byte_factor * least + range->latency_slope * path.latency;
    double busy = busy_time(range, bytes, least, byte_time);
    bool passes = transport->passing_out && bytes <= transport->share_above;
    struct pf_busy *in = passes ? transport->passing_in : transport->busy_in;
    *way = (struct pf_cost_way){
        .src = src,
        .dst = dst,
        .bytes = bytes,
        .range = range,
        .transport = transport,
        .from = from,
        .to = to,
        .passes = passes,
        .latency = path.latency,
        .back = -1,
        .least = least,
        .byte_time = byte_time,
        .busy = busy,
        .overhead_send = range->overhead_send + (double)bytes * range->send_byte_time,
        .overhead_receive = range->overhead_receive + (double)bytes * range->receive_byte_time,
        .out = busy > 0 ? &(passes ? transport->passing_out : transport->busy_out)[from] : NULL,
        .in = busy > 0 && in ? &in[to] : NULL};
}

struct pf_cost_way *pf_cost_way_look_up(struct pf_cost *cost, struct pf_cost_way *ways, int src, int dst,
                                        size_t bytes)
{
    if (pf_cost_way_is(&ways[1], src, dst, bytes))
        return &ways[1];
    ways[1] = ways[0];
    pf_cost_way_fill(cost, &ways[0], src, dst, bytes, bytes);
    return &ways[0];
}

bool pf_cost_way_ask(struct pf_cost_way *way)
{
    const struct pf_cost_transport *transport = way->transport;
    const int *links;
    way->free = !transport->middle || way->bytes > transport->share_above || pf_cost_way_wire(way) == 0 ||
                pf_links_route(transport->middle, way->from, way->to, &links) <= (transport->ports ? 0 : 2);
    way->asked = true;
    return way->free;
}
