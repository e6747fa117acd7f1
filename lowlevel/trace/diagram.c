/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects operations for the sequence diagrams. */
#include "lowlevel/trace/diagram.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"

void pf_diagram_open(struct pf_trace_sink *sink)
{
    sink->state = pf_calloc(1, sizeof(struct pf_diagram));
}

static void count_operation(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    struct pf_diagram *diagram = sink->state;
    if (++diagram->operations <= pf_config.trace_diagram_max)
        return;
    diagram->is_full = true;
    pf_warn("trace: the sequence diagram '%s' ends at simulated time %.9g s, behind %ld operations "
            "(PARFOCAL_TRACE_DIAGRAM_MAX is the limit; csv, paje, chrome and otf2 have none)",
            sink->output.path, record->start, pf_config.trace_diagram_max);
}

/* Only at its end is it known whether a call is drawn. */
void pf_diagram_begin(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    const struct pf_diagram *diagram = sink->state;
    if (record->track != PF_TRACE_RX && record->type != PF_TRACE_CALL && !diagram->is_full)
        count_operation(sink, record);
}

/* A call that takes no simulated time is left out. */
void pf_diagram_end(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    struct pf_diagram *diagram = sink->state;
    if (diagram->is_full || (record->type == PF_TRACE_CALL && record->end <= record->start))
        return;
    if (record->type == PF_TRACE_CALL)
        count_operation(sink, record);
    if (diagram->is_full)
        return;
    PF_ARRAY_ROOM(diagram->records, diagram->capacity, diagram->count + 1);
    diagram->records[diagram->count] = *record;
    diagram->records[diagram->count].message = (uint64_t)diagram->count; /* the order in which they ended */
    diagram->count++;
}

static int by_start(const void *a, const void *b)
{
    const struct pf_trace_record *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if ((x->track == PF_TRACE_RANK) != (y->track == PF_TRACE_RANK)) /* a call before what it does */
        return x->track == PF_TRACE_RANK ? -1 : 1;
    return x->message < y->message ? -1 : x->message > y->message;
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void find_nodes(struct pf_diagram *diagram)
{
    int *nodes = pf_calloc(2 * (size_t)diagram->count + 1, sizeof *nodes);
    int all = 0, different = 0;
    for (int i = 0; i < diagram->count; i++) {
        nodes[all++] = diagram->records[i].from.node;
        nodes[all++] = diagram->records[i].to.node;
    }
    qsort(nodes, (size_t)all, sizeof *nodes, by_number);
    for (int i = 0; i < all; i++)
        if (i == 0 || nodes[i] != nodes[i - 1])
            nodes[different++] = nodes[i];
    diagram->nodes = nodes;
    diagram->node_count = different;
    diagram->mirrored = different == 2;
}

struct pf_diagram *pf_diagram_ready(struct pf_trace_sink *sink)
{
    struct pf_diagram *diagram = sink->state;
    if (diagram->count > 0)
        qsort(diagram->records, (size_t)diagram->count, sizeof *diagram->records, by_start);
    find_nodes(diagram);
    return diagram;
}

void pf_diagram_free(struct pf_trace_sink *sink)
{
    struct pf_diagram *diagram = sink->state;
    free(diagram->records);
    free(diagram->nodes);
    free(diagram);
}

static int column_of(const struct pf_diagram *diagram, int node, bool is_nic)
{
    int place = 0;
    while (diagram->nodes[place] != node)
        place++;
    bool nic_first = diagram->mirrored && place == 1;
    return 2 * place + (is_nic != nic_first);
}

/* Node and kind of a column, the other way round. */
static int node_of(const struct pf_diagram *diagram, int column)
{
    return diagram->nodes[column / 2];
}

static bool is_nic_column(const struct pf_diagram *diagram, int column)
{
    return column_of(diagram, node_of(diagram, column), true) == column;
}

static bool is_message(const struct pf_trace_record *record)
{
    return record->track == PF_TRACE_TX || record->track == PF_TRACE_RX;
}

int pf_diagram_from(const struct pf_diagram *diagram, const struct pf_trace_record *record)
{
    bool is_nic = is_message(record) || (record->track == PF_TRACE_PCIE && record->to_memory);
    return column_of(diagram, record->from.node, is_nic);
}

int pf_diagram_to(const struct pf_diagram *diagram, const struct pf_trace_record *record)
{
    bool is_nic = is_message(record) || (record->track == PF_TRACE_PCIE && !record->to_memory);
    return column_of(diagram, record->to.node, is_nic);
}

const char *pf_diagram_title(const struct pf_diagram *diagram, int column, char *text, size_t size)
{
    int node = node_of(diagram, column), first = -1, ranks = 0;
    if (is_nic_column(diagram, column)) {
        snprintf(text, size, "NIC");
        return text;
    }
    for (int i = 0; i < diagram->count; i++) {
        const struct pf_trace_party *ends[] = {&diagram->records[i].from, &diagram->records[i].to};
        for (int j = 0; j < 2; j++) {
            if (ends[j]->node != node || ends[j]->rank < 0 || ends[j]->rank == first)
                continue;
            ranks++;
            first = first < 0 ? ends[j]->rank : first;
        }
    }
    if (ranks == 0)
        snprintf(text, size, "host");
    else if (ranks == 1)
        snprintf(text, size, "rank %d", first);
    else
        snprintf(text, size, "ranks");
    return text;
}
