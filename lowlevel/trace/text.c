/* SPDX-License-Identifier: BSD-3-Clause */
/* A sequence diagram as text: a line per operation, in the order of their starts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lowlevel/trace/diagram.h"

enum { MARGIN = 6, STEP_IN = 10, STEP_OUT = 18 };

/* Lifelines of one node stand closer together than those of different nodes. */
static int place_of(int column)
{
    return MARGIN + column / 2 * (STEP_IN + STEP_OUT) + column % 2 * STEP_IN;
}

static void clear(const struct pf_diagram *diagram, char *line, char mark)
{
    int columns = pf_diagram_columns(diagram), width = columns ? place_of(columns - 1) + MARGIN : 0;
    memset(line, ' ', (size_t)width);
    line[width] = 0;
    for (int i = 0; i < columns; i++)
        line[place_of(i)] = mark;
}

static void centre(char *line, int place, const char *text)
{
    int start = place - (int)strlen(text) / 2;
    for (char *to = line + (start > 0 ? start : 0); *text; text++)
        *to++ = *text;
}

static void arrow(char *line, int from, int to, bool arrives)
{
    int low = from < to ? from : to, high = from < to ? to : from;
    memset(line + low + 1, '-', (size_t)(high - low - 1));
    if (arrives)
        line[from < to ? to - 1 : to + 1] = from < to ? '>' : '<';
    else
        line[(from + to) / 2] = 'X';
}

static void print_record(struct pf_trace_sink *sink, const struct pf_diagram *diagram, char *line,
                         const struct pf_trace_record *record)
{
    char size[32];
    int from = place_of(pf_diagram_from(diagram, record)), to = place_of(pf_diagram_to(diagram, record));
    clear(diagram, line, '|');
    if (record->track == PF_TRACE_RANK)
        line[from] = pf_trace_is_mark(record) ? '*' : record->call ? '=' : '#';
    else if (from == to)
        line[from + 1] = '<', line[from + 2] = '>'; /* through the NIC's loopback */
    else
        arrow(line, from, to, record->outcome == PF_TRACE_DONE);
    pf_trace_print(&sink->output, "%14.6f %14.6f %s %s", record->start * 1e6, record->end * 1e6, line,
                   pf_trace_name(record));
    if (pf_trace_is_mark(record))
        pf_trace_print(&sink->output, " from %s to %s", record->from_model, record->model);
    if (record->call)
        pf_trace_print(&sink->output, " (%s)", record->model);
    if (record->bytes > 0)
        pf_trace_print(&sink->output, " %s", pf_trace_bytes_text(record->bytes, size, sizeof size));
    if (record->attempt > 1)
        pf_trace_print(&sink->output, ", attempt %d", record->attempt);
    if (record->outcome != PF_TRACE_DONE)
        pf_trace_print(&sink->output, ", %s", pf_trace_outcome_name(record->outcome));
    pf_trace_print(&sink->output, "\n");
}

static char *trimmed(char *line)
{
    size_t length = strlen(line);
    while (length > 0 && line[length - 1] == ' ')
        line[--length] = 0;
    return line;
}

static void print_head(struct pf_trace_sink *sink, const struct pf_diagram *diagram, char *line)
{
    char title[32];
    clear(diagram, line, ' ');
    for (int i = 0; i < diagram->node_count; i++) {
        snprintf(title, sizeof title, "nid %d", diagram->nodes[i]);
        centre(line, place_of(2 * i) + STEP_IN / 2, title);
    }
    pf_trace_print(&sink->output, "%14s %14s %s\n", "start", "end", trimmed(line));
    clear(diagram, line, ' ');
    for (int i = 0; i < pf_diagram_columns(diagram); i++)
        centre(line, place_of(i), pf_diagram_title(diagram, i, title, sizeof title));
    pf_trace_print(&sink->output, "%14s %14s %s\n", "us", "us", trimmed(line));
}

static void text_close(struct pf_trace_sink *sink, double date)
{
    struct pf_diagram *diagram = pf_diagram_ready(sink);
    int width = place_of(pf_diagram_columns(diagram)) + 2 * MARGIN;
    char *line = pf_calloc((size_t)width + 64, 1);
    print_head(sink, diagram, line);
    for (int i = 0; i < diagram->count; i++)
        if (diagram->records[i].track != PF_TRACE_RX)
            print_record(sink, diagram, line, &diagram->records[i]);
    free(line);
    pf_diagram_free(sink);
}

const struct pf_trace_sink_ops pf_trace_text = {
    .size = sizeof(struct pf_trace_sink_ops),
    .name = "text",
    .suffix = "",
    .open = pf_diagram_open,
    .begin = pf_diagram_begin,
    .end = pf_diagram_end,
    .close = text_close,
};
