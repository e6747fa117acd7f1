/* SPDX-License-Identifier: BSD-3-Clause */
/* What pfrun -explain prints: the price of a message, term by term. */
#include "adapters/analytic/cost/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "adapters/analytic/cost/parameters/derive.h"
#include "adapters/analytic/cost/parameters/quantity.h"
#include "base/config.h"
#include "base/memory.h"

static const char *const models[] = {"loggps", "loggp", "smp"};
static const char *const done[] = {"copied", "sent", "arrived", "acknowledged", "received"};
static const char *const met[] = {
    "request, answer, data: data leave one latency after request and receive have met",
    "data leave when both sides are there",
    "data go with the request; a receive that comes later fetches them",
    "data go with the request into the NIC that matches; a receive that comes later fetches them",
};

static const char *write(double value, enum pf_quantity kind, char text[40])
{
    pf_quantity_show(value, kind, text, 40);
    return text;
}

static void explain_line(const struct pf_cost_range *range, FILE *out)
{
    char text[40];
    if (range->latency != 0)
        fprintf(out, "%s%s + ", range->latency < 0 ? "-" : "",
                write(fabs(range->latency), PF_QUANTITY_TIME, text));
    if (range->latency_factor != 0)
        fprintf(out, "%.4g x path latency + ", range->latency_factor);
    if (range->latency_slope != 0)
        fprintf(out, "%.4g m x path latency + ", range->latency_slope);
    if (range->header > 0)
        fprintf(out, "%g B / path bandwidth + ", range->header);
    if (range->byte_factor != 0 && range->byte_time > 0)
        fprintf(out, "m / %s + ", write(1 / range->byte_time, PF_QUANTITY_RATE, text));
    if (range->byte_factor != 0)
        fprintf(out, "m / (%.4g x path bandwidth)", 1 / range->byte_factor);
    else if (range->byte_time > 0)
        fprintf(out, "m / %s", write(1 / range->byte_time, PF_QUANTITY_RATE, text));
    else
        fputs("0", out);
}

static void explain_busy(const struct pf_cost_transport *transport, const struct pf_cost_range *range,
                         FILE *out)
{
    char text[40];
    if (range->gap == 0 && range->nic_byte_time == 0)
        return;
    fprintf(out, "; %s busy", transport->busy_in ? "each NIC" : "sender");
    if (range->gap != 0)
        fprintf(out, " %s%s", range->gap < 0 ? "-" : "", write(fabs(range->gap), PF_QUANTITY_TIME, text));
    if (range->gap != 0 && range->nic_byte_time != 0)
        fputs(" +", out);
    if (range->nic_byte_time > 0)
        fprintf(out, " m / %s", write(1 / range->nic_byte_time, PF_QUANTITY_RATE, text));
    else if (range->nic_byte_time < 0)
        fputs(" while its bytes leave", out);
}

static void explain_range(const struct pf_cost_transport *transport, int i, FILE *out)
{
    static const char *const kinds[PF_COST_KINDS] = {"eager", "rendezvous", "one-sided"};
    const struct pf_cost_range *range = &transport->ranges[i];
    char from[40], to[40], text[40];
    for (int kind = 0; kind < PF_COST_KINDS; kind++) {
        if (!range->tally[kind].messages)
            continue;
        fprintf(out, "  %s", write((double)range->from, PF_QUANTITY_SIZE, from));
        if (i + 1 < transport->count)
            fprintf(out, " to below %s", write((double)transport->ranges[i + 1].from, PF_QUANTITY_SIZE, to));
        else
            fputs(" and more", out);
        fprintf(out, ", %s: %" PRIu64 " messages, %" PRIu64 " bytes\n    arrives after ", kinds[kind],
                range->tally[kind].messages, range->tally[kind].bytes);
        explain_line(range, out);
        explain_busy(transport, range, out);
        if (range->overhead_send > 0)
            fprintf(out, "; o_s %s", write(range->overhead_send, PF_QUANTITY_TIME, text));
        if (range->overhead_receive > 0 && kind != PF_COST_ACCESS)
            fprintf(out, "; o_r %s", write(range->overhead_receive, PF_QUANTITY_TIME, text));
        fputc('\n', out);
    }
}

static void explain_transport(const struct pf_cost_transport *transport, const char *name, FILE *out)
{
    uint64_t messages = 0;
    for (int i = 0; i < transport->count; i++)
        for (int kind = 0; kind < PF_COST_KINDS; kind++)
            messages += transport->ranges[i].tally[kind].messages;
    fprintf(out, "%s: %" PRIu64 " messages of m bytes\n", name, messages);
    for (int i = 0; i < transport->count; i++)
        explain_range(transport, i, out);
}

static void explain_topology(const struct pf_cost *cost, FILE *out)
{
    char latency[40];
    fprintf(out, "topology: %d ranks on %d nodes, ", cost->ranks, cost->nodes);
    if (cost->by_arithmetic) {
        fprintf(out, "%s; path latency = hops x %s\n", cost->topology->text,
                write(cost->link_latency, PF_QUANTITY_TIME, latency));
    } else {
        fputs("paths are the routes of the platform\n", out);
    }
    if (!cost->node_by_arithmetic)
        return;
    fprintf(out, "inside a node: %s; path latency = hops x %s\n", cost->node_topology->text,
            write(cost->node_link_latency, PF_QUANTITY_TIME, latency));
}

void pf_cost_explain(const struct pf_cost *cost, FILE *out)
{
    char text[40];
    fprintf(out, "analytic model: %s\n", models[(int)pf_parameters_at(&cost->parameters, PF_MODEL, 0, 0)]);
    explain_topology(cost, out);
    if (cost->eager_max == SIZE_MAX)
        fputs("all standard sends are eager", out);
    else
        fprintf(out, "standard sends up to %s are eager",
                write((double)cost->eager_max, PF_QUANTITY_SIZE, text));
    fprintf(out, ", their data leave %s, their buffers are safe when %s\n",
            cost->eager_meets ? "when the receive is there" : "at once",
            done[cost->eager_meets ? PF_COST_COPIED : cost->eager_done]);
    if (cost->eager_max != SIZE_MAX)
        fprintf(out, "rendezvous: %s; buffer safe when %s\n", met[cost->protocol],
                done[cost->rendezvous_done]);
    explain_transport(&cost->network, "network", out);
    explain_transport(&cost->memory, "memory of a node", out);
    fprintf(out, "parameters given (file: %s; those with # were derived; the rest are defaults):\n",
            *pf_config.analytic_parameters ? pf_config.analytic_parameters : "none");
    pf_parameters_write(&cost->parameters, out);
}

void pf_cost_print_derived(FILE *out)
{
    struct pf_parameters *parameters = pf_calloc(1, sizeof *parameters);
    fputs("# Parameters of model analytic, derived from the simulated NIC (docs/analytic.md)\n", out);
    pf_cost_derive(parameters, 0);
    pf_parameters_write(parameters, out);
    free(parameters);
}
