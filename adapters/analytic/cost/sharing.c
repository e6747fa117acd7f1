/* SPDX-License-Identifier: BSD-3-Clause */
/* NICs and links that messages share: how late that makes one, and what exchanges of flows know of them. */
#include "adapters/analytic/cost/way.h"

#include <math.h>

/* How late a send ends, and because of which link; at NICs that is the last one. */
static double late(const struct pf_cost *cost, const struct pf_cost_inflow *inflow, int *at)
{
    int link;
    *at = PF_CHAIN_LAST;
    if (!inflow->node)
        return 0;
    if (inflow->answers)
        return pf_links_look(cost->network.middle, inflow->node - 1, inflow->from,
                             cost->network.acknowledgement_bytes, inflow->end);
    double late =
        pf_inflow_late(cost->network.inflow[inflow->node - 1], inflow->number, inflow->work, inflow->end);
    if (inflow->bytes <= 0)
        return fmax(0, late - inflow->spare);
    double shared = inflow->begun + inflow->alone +
                    pf_links_late(cost->network.middle, inflow->from, inflow->node - 1, inflow->crossing,
                                  inflow->bytes, inflow->begun, inflow->alone, &link);
    if (shared - inflow->through > late) {
        *at = link;
        late = shared - inflow->through;
    }
    return fmax(0, late - inflow->spare);
}

double pf_cost_late(const struct pf_cost *cost, const struct pf_cost_inflow *inflow)
{
    int at;
    return late(cost, inflow, &at);
}

int pf_cost_late_at(const struct pf_cost *cost, const struct pf_cost_inflow *inflow)
{
    int at;
    late(cost, inflow, &at);
    return at;
}

/* The way of a message that is acknowledged over links; NULL: it is long, or stays in its node. */
static struct pf_cost_way *way_back(struct pf_cost *cost, int src, int dst, size_t bytes)
{
    if (cost->network.acknowledgement_bytes <= 0 || bytes > cost->network.share_above)
        return NULL;
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, bytes);
    return way->from == way->to ? NULL : way;
}

void pf_cost_answer_to(struct pf_cost *cost, int src, int dst, size_t bytes, double known,
                       struct pf_cost_inflow *inflow)
{
    struct pf_cost_way *way = way_back(cost, src, dst, bytes);
    inflow->node = 0;
    if (!way || pf_cost_way_is_free(way))
        return;
    *inflow = (struct pf_cost_inflow){.node = way->to + 1,
                                      .answers = true,
                                      .from = way->from,
                                      .end = known - pf_cost_way_acknowledged(cost, way)};
}

double pf_cost_answer_leaves(struct pf_cost *cost, int src, int dst, size_t bytes, double known)
{
    struct pf_cost_way *way = way_back(cost, src, dst, bytes);
    return way ? known - pf_cost_way_acknowledged(cost, way) : -INFINITY;
}

double pf_cost_answer_late(struct pf_cost *cost, int src, int dst, size_t bytes, double known)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, bytes);
    double answer = cost->network.acknowledgement_bytes, takes = answer * way->least, late = 0;
    if (!pf_cost_way_is_free(way))
        late = pf_links_look(cost->network.middle, way->to, way->from, answer,
                             known - pf_cost_way_acknowledged(cost, way));
    return late + pf_busy_waits(&cost->network.passing_in[way->from], known - takes + late, takes);
}

bool pf_cost_flows(const struct pf_cost *cost, size_t bytes)
{
    return cost->protocol == PF_COST_PORTALS && bytes > cost->network.share_above && cost->network.batch &&
           cost->network.busy_in && !cost->network.links && cost->ranks == cost->nodes;
}

bool pf_cost_are_all(const struct pf_cost *cost, int ranks)
{
    return ranks == cost->ranks;
}

double pf_cost_link_taken(const struct pf_cost *cost, int number, double date)
{
    return pf_links_taken(cost->network.middle, number, date);
}

void pf_cost_link_take(struct pf_cost *cost, int number, double begun, double work)
{
    pf_links_take(cost->network.middle, number, begun, work);
}

bool pf_cost_is_busy(const struct pf_cost *cost, int rank, double date)
{
    int node = cost->node_of_rank[rank];
    return pf_busy_end(&cost->network.busy_out[node]) > date ||
           pf_busy_end(&cost->network.busy_in[node]) > date;
}

double pf_cost_flow_ended(struct pf_cost *cost, int src, int dst, size_t bytes, double begin, double end)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, bytes);
    return cost->network.crowd
               ? pf_crowd_wait(cost->network.crowd, src, way->from, way->to, 0, 0, begin, end, 0)
               : end;
}

double pf_cost_flow_time(struct pf_cost *cost, int src, int dst, size_t bytes)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, bytes);
    return way->busy;
}

int pf_cost_flow_links(struct pf_cost *cost, int src, int dst, const int **numbers)
{
    return cost->network.middle ? pf_links_route(cost->network.middle, cost->node_of_rank[src],
                                                 cost->node_of_rank[dst], numbers)
                                : 0;
}

double pf_cost_link_rate(const struct pf_cost *cost, int number)
{
    return pf_links_rate(cost->network.middle, number);
}

double pf_cost_nic_rate(struct pf_cost *cost, int rank)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, rank, rank ? 0 : 1, SIZE_MAX);
    return 1 / (cost->network.middle ? way->range->least_byte_time : way->least);
}

void pf_cost_flows_ended(struct pf_cost *cost, int rank, double out_until, double out_work, double in_until,
                         double in_work)
{
    int node = cost->node_of_rank[rank];
    if (out_work > 0)
        pf_busy_take(&cost->network.busy_out[node], out_until - out_work, out_work);
    if (in_work > 0)
        pf_busy_take(&cost->network.busy_in[node], in_until - in_work, in_work);
}
