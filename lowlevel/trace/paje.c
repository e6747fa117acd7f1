/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paje, for ViTE and PajeNG: containers node / row, states on the rows, links for the messages, a mark where
 * one is lost. Events stand in the order of their dates, as the format wants it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "lowlevel/trace/rows.h"
#include "lowlevel/trace/sink.h"

/* The kinds of events that the head defines. */
enum {
    DEFINE_CONTAINER,
    DEFINE_STATE,
    DEFINE_EVENT,
    DEFINE_LINK,
    DEFINE_VALUE,
    CREATE_CONTAINER,
    DESTROY_CONTAINER,
    PUSH_STATE,
    POP_STATE,
    NEW_EVENT,
    START_LINK,
    END_LINK
};

static const char definitions[] = "%EventDef PajeDefineContainerType 0\n"
                                  "% Alias string\n% Type string\n% Name string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajeDefineStateType 1\n"
                                  "% Alias string\n% Type string\n% Name string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajeDefineEventType 2\n"
                                  "% Alias string\n% Type string\n% Name string\n% Color color\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajeDefineLinkType 3\n"
                                  "% Alias string\n% Type string\n% StartContainerType string\n"
                                  "% EndContainerType string\n% Name string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajeDefineEntityValue 4\n"
                                  "% Alias string\n% Type string\n% Name string\n% Color color\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajeCreateContainer 5\n"
                                  "% Time date\n% Alias string\n% Type string\n% Container string\n"
                                  "% Name string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajeDestroyContainer 6\n"
                                  "% Time date\n% Type string\n% Name string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajePushState 7\n"
                                  "% Time date\n% Type string\n% Container string\n% Value string\n"
                                  "% Bytes string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajePopState 8\n"
                                  "% Time date\n% Type string\n% Container string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajeNewEvent 9\n"
                                  "% Time date\n% Type string\n% Container string\n% Value string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajeStartLink 10\n"
                                  "% Time date\n% Type string\n% Container string\n"
                                  "% StartContainer string\n% Value string\n% Key string\n% Bytes string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajeEndLink 11\n"
                                  "% Time date\n% Type string\n% Container string\n"
                                  "% EndContainer string\n% Value string\n% Key string\n"
                                  "%EndEventDef\n";

static void define_values(struct pf_trace_output *output, const char *type, const char *prefix)
{
    for (int i = 0; i < PF_TRACE_TYPE_COUNT; i++) {
        unsigned int colour = pf_trace_type_colour(i);
        pf_trace_print(output, "%d %s%d %s \"%s\" \"%.3f %.3f %.3f\"\n", DEFINE_VALUE, prefix, i, type,
                       pf_trace_type_name(i), (colour >> 16) / 255.0, (colour >> 8 & 0xff) / 255.0,
                       (colour & 0xff) / 255.0);
    }
}

static void paje_open(struct pf_trace_sink *sink)
{
    struct pf_trace_output *output = &sink->output;
    sink->state = calloc(1, sizeof(struct pf_trace_rows));
    if (!sink->state)
        pf_die("out of memory for the trace");
    pf_trace_print(output, "%s", definitions);
    pf_trace_print(output, "%d Machine 0 \"machine\"\n%d Node Machine \"node\"\n%d Row Node \"row\"\n",
                   DEFINE_CONTAINER, DEFINE_CONTAINER, DEFINE_CONTAINER);
    pf_trace_print(output, "%d Operation Row \"operation\"\n", DEFINE_STATE);
    pf_trace_print(output, "%d Loss Row \"loss\" \"1 0 0\"\n", DEFINE_EVENT);
    pf_trace_print(output, "%d Message Machine Row Row \"message\"\n", DEFINE_LINK);
    define_values(output, "Operation", "o");
    define_values(output, "Message", "m");
    pf_trace_print(output, "%d lost Loss \"lost\" \"1 0 0\"\n", DEFINE_VALUE);
    pf_trace_print(output, "%d 0.000000000000 machine Machine 0 \"machine\"\n", CREATE_CONTAINER);
}

/* "n3-tx-1": the alias of the container of a record. */
static const char *row_alias(const struct pf_trace_record *record, char *text, size_t size)
{
    static const char *const tracks[] = {"rank", "tx", "rx", "pcie"};
    int index = record->track == PF_TRACE_RANK ? record->from.rank : record->lane;
    snprintf(text, size, "n%d-%s-%d", pf_trace_node(record), tracks[record->track], index);
    return text;
}

static void create_containers(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    char alias[64], name[64];
    int node = pf_trace_node(record);
    if (pf_trace_new_node(sink->state, node)) {
        pf_trace_print(&sink->output, "%d %.12f n%d Node machine \"nid %d: ", CREATE_CONTAINER, record->start,
                       node, node);
        for (const char *c = pf_trace_host_name(node); *c; c++)
            pf_trace_print(&sink->output, "%c", *c == '"' || (unsigned char)*c < 0x20 ? '?' : *c);
        pf_trace_print(&sink->output, "\"\n");
    }
    if (pf_trace_new_row(sink->state, record))
        pf_trace_print(&sink->output, "%d %.12f %s Row n%d \"%s of nid %d\"\n", CREATE_CONTAINER,
                       record->start, row_alias(record, alias, sizeof alias), node,
                       pf_trace_row_name(record, name, sizeof name), node);
}

static void end_link(struct pf_trace_sink *sink, const struct pf_trace_record *record, double date)
{
    char alias[64];
    pf_trace_print(&sink->output, "%d %.12f Message machine %s m%d %" PRIu64 "\n", END_LINK, date,
                   row_alias(record, alias, sizeof alias), record->type, record->message);
}

static void paje_begin(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    char alias[64];
    create_containers(sink, record);
    row_alias(record, alias, sizeof alias);
    pf_trace_print(&sink->output, "%d %.12f Operation %s o%d %" PRIu64 "\n", PUSH_STATE, record->start, alias,
                   record->type, record->bytes);
    if (record->track == PF_TRACE_TX)
        pf_trace_print(&sink->output, "%d %.12f Message machine %s m%d %" PRIu64 " %" PRIu64 "\n", START_LINK,
                       record->start, alias, record->type, record->message, record->bytes);
    else if (record->track == PF_TRACE_RX)
        end_link(sink, record, record->start);
}

/* A message that has not arrived goes back to where it came from: a link must end somewhere. */
static void paje_end(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    char alias[64];
    row_alias(record, alias, sizeof alias);
    pf_trace_print(&sink->output, "%d %.12f Operation %s\n", POP_STATE, record->end, alias);
    if (record->track != PF_TRACE_TX || record->arrived)
        return;
    if (record->outcome == PF_TRACE_LOST)
        pf_trace_print(&sink->output, "%d %.12f Loss %s lost\n", NEW_EVENT, record->end, alias);
    end_link(sink, record, record->end);
}

static void paje_close(struct pf_trace_sink *sink, double date)
{
    pf_trace_print(&sink->output, "%d %.12f Machine machine\n", DESTROY_CONTAINER, date);
    pf_trace_rows_free(sink->state);
    free(sink->state);
}

const struct pf_trace_sink_ops pf_trace_paje = {
    .size = sizeof(struct pf_trace_sink_ops),
    .name = "paje",
    .open = paje_open,
    .begin = paje_begin,
    .end = paje_end,
    .close = paje_close,
};
