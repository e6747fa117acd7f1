/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paje, for ViTE and PajeNG: containers node / row, states on the rows, links for the messages, marks where
 * one is lost and where a rank changes its model. MPI calls have a value for each function in each model.
 * Events stand in the order of their dates, as the format wants it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lowlevel/trace/format.h"
#include "lowlevel/trace/names.h"
#include "lowlevel/trace/places.h"
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
    END_LINK,
    PUSH_CALL
};

struct paje {
    struct pf_trace_rows rows;
    struct pf_trace_names calls, switches; /* that have a value */
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
                                  "%EndEventDef\n"
                                  "%EventDef PajePushState 12\n"
                                  "% Time date\n% Type string\n% Container string\n% Value string\n"
                                  "% Model string\n% Phase string\n"
                                  "%EndEventDef\n";

static void define_value(struct pf_trace_output *output, const char *type, const char *prefix, int number,
                         const char *name, unsigned int colour)
{
    pf_trace_print(output, "%d %s%d %s \"%s\" \"%.3f %.3f %.3f\"\n", DEFINE_VALUE, prefix, number, type, name,
                   (colour >> 16) / 255.0, (colour >> 8 & 0xff) / 255.0, (colour & 0xff) / 255.0);
}

static void define_values(struct pf_trace_output *output, const char *type, const char *prefix)
{
    for (int i = 0; i < PF_TRACE_TYPE_COUNT; i++)
        define_value(output, type, prefix, i, pf_trace_type_name(i), pf_trace_type_colour(i));
}

/* The number of a value that is defined when it is first used. */
static int number_of(struct pf_trace_output *output, struct pf_trace_names *names,
                     const struct pf_trace_record *record)
{
    char text[128];
    bool is_new, is_mark = pf_trace_is_mark(record);
    if (is_mark)
        pf_trace_format(text, sizeof text, "%s to %s", record->from_model, record->model);
    else
        pf_trace_format(text, sizeof text, "%s (%s)", record->call, record->model);
    int number = pf_trace_number(names, text, &is_new);
    if (is_new)
        define_value(output, is_mark ? "Switch" : "Operation", is_mark ? "s" : "c", number, text,
                     pf_trace_colour(record));
    return number;
}

/* Names that the user gives. */
static void print_name(struct pf_trace_output *output, const char *text)
{
    for (; *text; text++)
        pf_trace_print(output, "%c", *text == '"' || (unsigned char)*text < 0x20 ? '?' : *text);
}

static void paje_open(struct pf_trace_sink *sink)
{
    struct pf_trace_output *output = &sink->output;
    sink->state = pf_calloc(1, sizeof(struct paje));
    pf_trace_print(output, "%s", definitions);
    pf_trace_print(output, "%d Machine 0 \"machine\"\n%d Node Machine \"node\"\n%d Row Node \"row\"\n",
                   DEFINE_CONTAINER, DEFINE_CONTAINER, DEFINE_CONTAINER);
    pf_trace_print(output, "%d Operation Row \"operation\"\n", DEFINE_STATE);
    pf_trace_print(output, "%d Loss Row \"loss\" \"1 0 0\"\n", DEFINE_EVENT);
    pf_trace_print(output, "%d Switch Row \"switch\" \"0.82 0.14 0.18\"\n", DEFINE_EVENT);
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
    pf_trace_format(text, size, "n%d-%s-%d", pf_trace_node(record), tracks[record->track], index);
    return text;
}

static void create_containers(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    struct paje *paje = sink->state;
    char alias[64], name[64];
    int node = pf_trace_node(record);
    if (pf_trace_new_node(&paje->rows, node)) {
        pf_trace_print(&sink->output, "%d %.12f n%d Node machine \"nid %d: ", CREATE_CONTAINER, record->start,
                       node, node);
        print_name(&sink->output, pf_trace_host_name(node));
        pf_trace_print(&sink->output, "\"\n");
    }
    if (pf_trace_new_row(&paje->rows, record))
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

static void begin_call(struct pf_trace_sink *sink, const struct pf_trace_record *record, const char *alias)
{
    struct paje *paje = sink->state;
    int number = number_of(&sink->output, &paje->calls, record);
    pf_trace_print(&sink->output, "%d %.12f Operation %s c%d %s \"", PUSH_CALL, record->start, alias, number,
                   record->model);
    print_name(&sink->output, record->phase);
    pf_trace_print(&sink->output, "\"\n");
}

static void note_switch(struct pf_trace_sink *sink, const struct pf_trace_record *record, const char *alias)
{
    struct paje *paje = sink->state;
    int number = number_of(&sink->output, &paje->switches, record);
    pf_trace_print(&sink->output, "%d %.12f Switch %s s%d\n", NEW_EVENT, record->start, alias, number);
}

static void paje_begin(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    char alias[64];
    create_containers(sink, record);
    row_alias(record, alias, sizeof alias);
    if (record->call || pf_trace_is_mark(record)) {
        (record->call ? begin_call : note_switch)(sink, record, alias);
        return;
    }
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
    if (pf_trace_is_mark(record))
        return;
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
    struct paje *paje = sink->state;
    pf_trace_print(&sink->output, "%d %.12f Machine machine\n", DESTROY_CONTAINER, date);
    pf_trace_rows_free(&paje->rows);
    pf_trace_names_free(&paje->calls);
    pf_trace_names_free(&paje->switches);
    free(paje);
}

const struct pf_trace_sink_ops pf_trace_paje = {
    .size = sizeof(struct pf_trace_sink_ops),
    .name = "paje",
    .suffix = "",
    .open = paje_open,
    .begin = paje_begin,
    .end = paje_end,
    .close = paje_close,
};
