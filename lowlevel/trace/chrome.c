/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trace Event Format, for Perfetto and chrome://tracing: a process per node, a thread per row, an arrow per
 * message from the sending to the receiving row, an instant where a rank changes its model. Events stand in
 * the order of their ends; the viewers sort.
 */
#include <inttypes.h>
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

static void event(struct pf_trace_sink *sink, const struct pf_trace_record *record, char phase, double date)
{
    struct chrome *chrome = sink->state;
    pf_trace_print(&sink->output, "%s{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d,\"ts\":%.6f", chrome->separator,
                   phase, process_id(record), thread_id(record), microseconds(date));
    chrome->separator = ",\n";
}

/* Host names come from the user's platform file. */
static void print_quoted(struct pf_trace_output *output, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            pf_trace_print(output, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            pf_trace_print(output, "\\u%04x", (unsigned)*text);
        else
            pf_trace_print(output, "%c", *text);
    }
}

static void name_row(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    char name[64];
    event(sink, record, 'M', 0.0);
    pf_trace_print(&sink->output, ",\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}",
                   pf_trace_row_name(record, name, sizeof name));
    event(sink, record, 'M', 0.0);
    pf_trace_print(&sink->output, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%d}}",
                   thread_id(record));
}

static void name_node(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    int node = pf_trace_node(record);
    event(sink, record, 'M', 0.0);
    pf_trace_print(&sink->output, ",\"name\":\"process_name\",\"args\":{\"name\":\"nid %d: ", node);
    print_quoted(&sink->output, pf_trace_host_name(node));
    pf_trace_print(&sink->output, "\"}}");
    event(sink, record, 'M', 0.0);
    pf_trace_print(&sink->output, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%d}}", node);
}

static void chrome_begin(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    struct chrome *chrome = sink->state;
    if (pf_trace_new_node(&chrome->rows, pf_trace_node(record)))
        name_node(sink, record);
    if (pf_trace_new_row(&chrome->rows, record))
        name_row(sink, record);
}

static void print_party(struct pf_trace_output *output, const char *name, struct pf_trace_party party)
{
    if (party.rank < 0)
        pf_trace_print(output, "\"%s\":\"nid %d\",", name, party.node);
    else
        pf_trace_print(output, "\"%s\":\"nid %d, rank %d\",", name, party.node, party.rank);
}

static void print_arguments(struct pf_trace_output *output, const struct pf_trace_record *record)
{
    pf_trace_print(output, ",\"args\":{");
    print_party(output, "initiator", record->from);
    print_party(output, "target", record->to);
    pf_trace_print(output, "\"bytes\":%" PRIu64, record->bytes);
    if (record->message)
        pf_trace_print(output, ",\"wire_bytes\":%" PRIu64 ",\"attempt\":%d", record->wire_bytes,
                       record->attempt);
    pf_trace_print(output, ",\"outcome\":\"%s\"}}", pf_trace_outcome_name(record->outcome));
}

/* The arrow begins in the message's bar at the source and ends in the one at the destination. */
static void print_flow(struct pf_trace_sink *sink, const struct pf_trace_record *record, char phase)
{
    event(sink, record, phase, record->start);
    pf_trace_print(&sink->output, ",\"cat\":\"message\",\"name\":\"%s\",\"id\":%" PRIu64 "%s}",
                   pf_trace_type_name(record->type), record->message, phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void print_model(struct pf_trace_output *output, const struct pf_trace_record *record)
{
    pf_trace_print(output, ",\"args\":{\"model\":\"%s\",\"phase\":\"", record->model);
    print_quoted(output, record->phase);
    pf_trace_print(output, "\"");
}

static void print_switch(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    event(sink, record, 'i', record->start);
    pf_trace_print(&sink->output, ",\"s\":\"t\",\"cat\":\"switch\",\"name\":\"%s to %s\"", record->from_model,
                   record->model);
    print_model(&sink->output, record);
    pf_trace_print(&sink->output, ",\"from_model\":\"%s\"}}", record->from_model);
}

static const char *category(const struct pf_trace_record *record)
{
    return record->call ? "mpi" : record->message ? "message" : "node";
}

static void chrome_end(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    if (pf_trace_is_mark(record)) {
        print_switch(sink, record);
        return;
    }
    event(sink, record, 'X', record->start);
    pf_trace_print(&sink->output, ",\"dur\":%.6f,\"cat\":\"%s\",\"name\":\"%s%s\"",
                   microseconds(record->end - record->start), category(record), pf_trace_name(record),
                   record->outcome == PF_TRACE_LOST ? " (lost)" : "");
    if (record->track == PF_TRACE_RANK) {
        print_model(&sink->output, record);
        pf_trace_print(&sink->output, ",\"outcome\":\"%s\"}}", pf_trace_outcome_name(record->outcome));
        return;
    }
    print_arguments(&sink->output, record);
    if (record->message && record->track == PF_TRACE_RX)
        print_flow(sink, record, 'f');
    else if (record->message && record->arrived)
        print_flow(sink, record, 's');
}

static void chrome_close(struct pf_trace_sink *sink, double date)
{
    struct chrome *chrome = sink->state;
    (void)date;
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
