/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call costs besides its messages, and how the stack works that is imitated. */
#include "adapters/analytic/cost/way.h"

double pf_cost_call(const struct pf_cost *cost)
{
    return cost->call;
}

double pf_cost_post(const struct pf_cost *cost, size_t bytes)
{
    return bytes > cost->eager_max ? cost->post : 0;
}

double pf_cost_gap(const struct pf_cost *cost, size_t bytes)
{
    return pf_cost_range_of(&cost->network, bytes)->gap;
}

bool pf_cost_post_blocks(const struct pf_cost *cost, size_t bytes)
{
    return cost->protocol == PF_COST_PORTALS && pf_cost_post(cost, bytes) > 0;
}

double pf_cost_mprobe_gain(const struct pf_cost *cost)
{
    return cost->protocol == PF_COST_PORTALS ? cost->receive_latency / 2 : 0;
}

bool pf_cost_sends_ahead(const struct pf_cost *cost)
{
    return cost->protocol == PF_COST_GET || cost->protocol == PF_COST_PORTALS;
}

size_t pf_cost_asks_above(const struct pf_cost *cost)
{
    return cost->protocol == PF_COST_UCX ? cost->eager_max : SIZE_MAX;
}

bool pf_cost_in_pieces(const struct pf_cost *cost)
{
    return cost->protocol == PF_COST_UCX;
}

bool pf_cost_by_nic(const struct pf_cost *cost)
{
    return cost->protocol == PF_COST_PORTALS;
}

double pf_cost_combine(const struct pf_cost *cost, size_t bytes)
{
    return (double)bytes * cost->combine_byte_time;
}

double pf_cost_first_poll(const struct pf_cost *cost)
{
    return cost->copy_latency;
}

double pf_cost_pack(const struct pf_cost *cost, size_t bytes)
{
    return (double)bytes * cost->pack_byte_time;
}

double pf_cost_gaps(const struct pf_cost *cost, size_t bytes)
{
    bool copied = cost->protocol == PF_COST_UCX && bytes > cost->eager_max;
    return copied ? (double)bytes * cost->copy_byte_time : 0;
}

double pf_cost_asking(struct pf_cost *cost, int src, int dst, size_t bytes)
{
    if (cost->protocol != PF_COST_UCX || bytes <= cost->eager_max)
        return 0;
    return cost->call + pf_cost_way_find(cost, src, dst, bytes)->overhead_send + cost->register_time;
}

double pf_cost_start(const struct pf_cost *cost, int count)
{
    return count * cost->start;
}

double pf_cost_types(const struct pf_cost *cost, int count)
{
    return count * cost->type;
}

double pf_cost_copy_own(const struct pf_cost *cost, size_t bytes)
{
    return (double)bytes * cost->own_byte_time;
}
