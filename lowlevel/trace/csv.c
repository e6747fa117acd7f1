/* SPDX-License-Identifier: BSD-3-Clause */
/* One line per operation, in the order of their ends. */
#include <inttypes.h>
#include <string.h>

#include "lowlevel/trace/format.h"
#include "lowlevel/trace/sink.h"

static void csv_open(struct pf_trace_sink *sink)
{
    pf_trace_print(&sink->output,
                   "type,initiator_nid,initiator_rank,target_nid,target_rank,start,end,bytes,wire_bytes,"
                   "attempt,outcome,model,phase,call,from_model\n");
}

/* A rank that is not known is an empty field. */
static const char *rank_text(int rank, char *text, size_t size)
{
    if (rank < 0)
        return "";
    pf_trace_format(text, size, "%d", rank);
    return text;
}

/* A phase has the name that the application gives it. */
static void print_text(struct pf_trace_output *output, const char *text)
{
    if (!text || !strpbrk(text, ",\"\r\n")) {
        pf_trace_print(output, ",%s", text ? text : "");
        return;
    }
    pf_trace_print(output, ",\"");
    for (; *text; text++)
        pf_trace_print(output, *text == '"' ? "\"\"" : "%c", *text);
    pf_trace_print(output, "\"");
}

static void no_begin(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    (void)sink, (void)record;
}

static void csv_end(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    char from[16], to[16];
    if (record->track == PF_TRACE_RX)
        return;
    pf_trace_print(&sink->output, "%s,%d,%s,%d,%s,%.12f,%.12f,%" PRIu64 ",", pf_trace_type_name(record->type),
                   record->from.node, rank_text(record->from.rank, from, sizeof from), record->to.node,
                   rank_text(record->to.rank, to, sizeof to), record->start, record->end, record->bytes);
    if (record->message)
        pf_trace_print(&sink->output, "%" PRIu64 ",%d", record->wire_bytes, record->attempt);
    else
        pf_trace_print(&sink->output, ",");
    pf_trace_print(&sink->output, ",%s", pf_trace_outcome_name(record->outcome));
    print_text(&sink->output, record->model);
    print_text(&sink->output, record->phase);
    print_text(&sink->output, record->call);
    print_text(&sink->output, record->from_model);
    pf_trace_print(&sink->output, "\n");
}

static void csv_close(struct pf_trace_sink *sink, double date)
{
    (void)sink, (void)date;
}

const struct pf_trace_sink_ops pf_trace_csv = {
    .size = sizeof(struct pf_trace_sink_ops),
    .name = "csv",
    .suffix = "",
    .open = csv_open,
    .begin = no_begin,
    .end = csv_end,
    .close = csv_close,
};
