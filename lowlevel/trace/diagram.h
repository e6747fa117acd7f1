/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/trace/sink.h"

/*
 * What both sequence diagrams share: they collect the operations of a small run and draw them at its end.
 * Every node has two lifelines, its processes with their memory and its NIC.
 */
struct pf_diagram {
    struct pf_trace_record *records; /* by start, then as they ended */
    int count, capacity;
    long operations; /* begun */
    bool is_full;    /* the run goes on, the diagram does not */
    int *nodes;      /* in ascending order */
    int node_count;
    bool mirrored; /* two nodes: their NICs stand next to each other */
};

/* Of the table of a format. */
void pf_diagram_open(struct pf_trace_sink *sink);
void pf_diagram_begin(struct pf_trace_sink *sink, const struct pf_trace_record *record);
void pf_diagram_end(struct pf_trace_sink *sink, const struct pf_trace_record *record);

/* At the end: sorts, and finds the nodes. */
struct pf_diagram *pf_diagram_ready(struct pf_trace_sink *sink);
void pf_diagram_free(struct pf_trace_sink *sink);

/* Lifelines are columns, from the left. */
static inline int pf_diagram_columns(const struct pf_diagram *diagram)
{
    return 2 * diagram->node_count;
}
/* Where an operation begins and ends; the same for computation, and for a message from a node to itself. */
int pf_diagram_from(const struct pf_diagram *diagram, const struct pf_trace_record *record);
int pf_diagram_to(const struct pf_diagram *diagram, const struct pf_trace_record *record);
/* "rank 3", "2 ranks", "host", or "NIC". */
const char *pf_diagram_title(const struct pf_diagram *diagram, int column, char *text, size_t size);
