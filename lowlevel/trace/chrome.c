/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trace Event Format, for Perfetto and chrome://tracing: a process per node, a thread per row, an arrow per
 * message from the sending to the receiving row, an instant where a rank changes its model. Events stand in
 * the order of their ends; the viewers sort.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lowlevel/trace/places.h"
#include "lowlevel/trace/rows.h"
#include "lowlevel/trace/sink.h"

struct chrome {
    struct pf_trace_rows rows;
    const char *separator;
};

static double microseconds(double seconds)
{
    return seconds * 1e6;
}

static void chrome_open(struct pf_trace_sink *sink)
{
    struct chrome *chrome = pf_calloc(1, sizeof *chrome);
    chrome->separator = "\n";
    sink->output.places = 6;
    sink->state = chrome;
    pf_trace_print(&sink->output,
                   "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"Parfocal " PF_VERSION
                   "\"},\"traceEvents\":[");
}

/* Process 0 means something else to the viewers. */
static int process_id(const struct pf_trace_record *record)
{
    return pf_trace_node(record) + 1;
}

/* Ranks first, then the NIC's rows; lanes of one track stand together. */
static int thread_id(const struct pf_trace_record *record)
{
    enum { LANES = 100000000 };
    return record->track == PF_TRACE_RANK ? record->from.rank + 1
                                          : (int)record->track * LANES + record->lane + 1;
}

static void event(struct pf_trace_sink *sink, const struct pf_trace_record *record, const char *phase,
                  double date)
{
    struct chrome *chrome = sink->state;
    pf_trace_put(&sink->output, chrome->separator, "{\"ph\":\"", phase, "\",\"pid\":", process_id(record),
                 ",\"tid\":", thread_id(record), ",\"ts\":", microseconds(date));
    chrome->separator = ",\n";
}

/* Host names come from the user's platform file. */
static void put_quoted(struct pf_trace_output *output, const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20) {
            pf_trace_print(output, "\\u%04x", (unsigned)*text);
            continue;
        }
        if (*text == '"' || *text == '\\')
            pf_trace_put_char(output, '\\');
        pf_trace_put_char(output, *text);
    }
}

static void name_row(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    event(sink, record, "M", 0.0);
    pf_trace_put_text(&sink->output, ",\"name\":\"thread_name\",\"args\":{\"name\":\"");
    pf_trace_put_row_name(&sink->output, record);
    pf_trace_put_text(&sink->output, "\"}}");
    event(sink, record, "M", 0.0);
    pf_trace_put(&sink->output,
                 ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":", thread_id(record), "}}");
}

static void name_node(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    int node = pf_trace_node(record);
    event(sink, record, "M", 0.0);
    pf_trace_put(&sink->output, ",\"name\":\"process_name\",\"args\":{\"name\":\"nid ", node, ": ");
    put_quoted(&sink->output, pf_trace_host_name(node));
    pf_trace_put_text(&sink->output, "\"}}");
    event(sink, record, "M", 0.0);
    pf_trace_put(&sink->output, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":", node, "}}");
}

static void chrome_begin(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    struct chrome *chrome = sink->state;
    if (pf_trace_new_node(&chrome->rows, pf_trace_node(record)))
        name_node(sink, record);
    if (pf_trace_new_row(&chrome->rows, record))
        name_row(sink, record);
}

static void put_party(struct pf_trace_output *output, const char *name, struct pf_trace_party party)
{
    pf_trace_put(output, "\"", name, "\":\"nid ", party.node);
    if (party.rank >= 0)
        pf_trace_put(output, ", rank ", party.rank);
    pf_trace_put_text(output, "\",");
}

static void put_arguments(struct pf_trace_output *output, const struct pf_trace_record *record)
{
    pf_trace_put_text(output, ",\"args\":{");
    put_party(output, "initiator", record->from);
    put_party(output, "target", record->to);
    pf_trace_put(output, "\"bytes\":", record->bytes);
    if (record->message)
        pf_trace_put(output, ",\"wire_bytes\":", record->wire_bytes, ",\"attempt\":", record->attempt);
    pf_trace_put(output, ",\"outcome\":\"", pf_trace_outcome_name(record->outcome), "\"}}");
}

/* The arrow begins in the message's bar at the source and ends in the one at the destination. */
static void put_flow(struct pf_trace_sink *sink, const struct pf_trace_record *record, const char *phase,
                     const char *more)
{
    event(sink, record, phase, record->start);
    pf_trace_put(&sink->output, ",\"cat\":\"message\",\"name\":\"", pf_trace_type_name(record->type),
                 "\",\"id\":", record->message, more, "}");
}

static void put_model(struct pf_trace_output *output, const struct pf_trace_record *record)
{
    pf_trace_put(output, ",\"args\":{\"model\":\"", record->model, "\",\"phase\":\"");
    put_quoted(output, record->phase);
    pf_trace_put_text(output, "\"");
}

static void put_switch(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    event(sink, record, "i", record->start);
    pf_trace_put(&sink->output, ",\"s\":\"t\",\"cat\":\"switch\",\"name\":\"", record->from_model, " to ",
                 record->model, "\"");
    put_model(&sink->output, record);
    pf_trace_put(&sink->output, ",\"from_model\":\"", record->from_model, "\"}}");
}

static const char *category(const struct pf_trace_record *record)
{
    return record->call ? "mpi" : record->message ? "message" : "node";
}

static void chrome_end(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    struct pf_trace_output *output = &sink->output;
    if (pf_trace_is_mark(record)) {
        put_switch(sink, record);
        return;
    }
    event(sink, record, "X", record->start);
    pf_trace_put(output, ",\"dur\":", microseconds(record->end - record->start), ",\"cat\":\"",
                 category(record), "\",\"name\":\"", pf_trace_name(record),
                 record->outcome == PF_TRACE_LOST ? " (lost)\"" : "\"");
    if (record->track == PF_TRACE_RANK) {
        put_model(output, record);
        pf_trace_put(output, ",\"outcome\":\"", pf_trace_outcome_name(record->outcome), "\"}}");
        return;
    }
    put_arguments(output, record);
    if (record->message && record->track == PF_TRACE_RX)
        put_flow(sink, record, "f", ",\"bp\":\"e\"");
    else if (record->message && record->arrived)
        put_flow(sink, record, "s", "");
}

static void chrome_close(struct pf_trace_sink *sink, double date)
{
    struct chrome *chrome = sink->state;
    pf_trace_print(&sink->output, "\n]}\n");
    pf_trace_rows_free(&chrome->rows);
    free(chrome);
}

const struct pf_trace_sink_ops pf_trace_chrome = {
    .size = sizeof(struct pf_trace_sink_ops),
    .name = "chrome",
    .suffix = "",
    .open = chrome_open,
    .begin = chrome_begin,
    .end = chrome_end,
    .close = chrome_close,
};
