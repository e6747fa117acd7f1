/* SPDX-License-Identifier: BSD-3-Clause */
/* One line per operation, in the order of their ends. */
#include <string.h>

#include "lowlevel/trace/sink.h"

static void csv_open(struct pf_trace_sink *sink)
{
    sink->output.places = 12;
    pf_trace_print(&sink->output,
                   "type,initiator_nid,initiator_rank,target_nid,target_rank,start,end,bytes,wire_bytes,"
                   "attempt,outcome,model,phase,call,from_model\n");
}

/* A rank that is not known is an empty field. */
static void put_party(struct pf_trace_output *output, struct pf_trace_party party)
{
    pf_trace_put(output, ",", party.node, ",");
    if (party.rank >= 0)
        pf_trace_put_int(output, party.rank);
}

/* A phase has the name that the application gives it: most often that of the record before. */
static void put_phase(struct pf_trace_output *output, const char *text)
{
    static const char *plain;
    if (!text || text == plain || !strpbrk(text, ",\"\r\n")) {
        plain = text;
        pf_trace_put_text(output, text ? text : "");
        return;
    }
    pf_trace_print(output, "\"");
    for (; *text; text++)
        pf_trace_print(output, *text == '"' ? "\"\"" : "%c", *text);
    pf_trace_print(output, "\"");
}

static void no_begin(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
}

static void csv_end(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    struct pf_trace_output *output = &sink->output;
    if (record->track == PF_TRACE_RX)
        return;
    pf_trace_put_text(output, pf_trace_type_name(record->type));
    put_party(output, record->from);
    put_party(output, record->to);
    pf_trace_put(output, ",", record->start, ",", record->end, ",", record->bytes, ",");
    if (record->message)
        pf_trace_put(output, record->wire_bytes, ",", record->attempt);
    else
        pf_trace_put_text(output, ",");
    pf_trace_put(output, ",", pf_trace_outcome_name(record->outcome), ",", record->model ? record->model : "",
                 ",");
    put_phase(output, record->phase);
    pf_trace_put(output, ",", record->call ? record->call : "", ",",
                 record->from_model ? record->from_model : "", "\n");
}

static void csv_close(struct pf_trace_sink *sink, double date)
{
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
