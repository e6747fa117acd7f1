/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paje, for ViTE and PajeNG: containers node / row, states on the rows, links for the messages, marks where
 * one is lost and where a rank changes its model. MPI calls have a value for each function in each model.
 * Events stand in the order of their dates, as the format wants it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
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

/* The number of a call's value, which is defined when it is first used; */
static int call_number(struct pf_trace_output *output, struct pf_trace_names *names,
                       const struct pf_trace_record *record)
{
    bool is_new;
    int number = pf_trace_number_of_lasting(names, record->call, record->model, &is_new);
    if (is_new)
        define_value(output, "Operation", "c", number, pf_trace_named(names, number),
                     pf_trace_colour(record));
    return number;
}

/* of a switch's. */
static int switch_number(struct pf_trace_output *output, struct pf_trace_names *names,
                         const struct pf_trace_record *record)
{
    char text[128];
    bool is_new;
    snprintf(text, sizeof text, "%s to %s", record->from_model, record->model);
    int number = pf_trace_number(names, text, &is_new);
    if (is_new)
        define_value(output, "Switch", "s", number, text, pf_trace_colour(record));
    return number;
}

/* Names that the user gives. */
static void put_name(struct pf_trace_output *output, const char *text)
{
    for (; *text; text++)
        pf_trace_put_char(output, *text == '"' || (unsigned char)*text < 0x20 ? '?' : *text);
}

static void paje_open(struct pf_trace_sink *sink)
{
    struct pf_trace_output *output = &sink->output;
    sink->state = pf_calloc(1, sizeof(struct paje));
    output->places = 12;
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
static void put_row(struct pf_trace_output *output, const struct pf_trace_record *record)
{
    static const char *const tracks[] = {"-rank-", "-tx-", "-rx-", "-pcie-"};
    int index = record->track == PF_TRACE_RANK ? record->from.rank : record->lane;
    pf_trace_put(output, "n", pf_trace_node(record), tracks[record->track], index);
}

/* What an event that concerns a row begins with. */
static void put_event(struct pf_trace_output *output, int kind, double date, const char *type,
                      const struct pf_trace_record *record)
{
    pf_trace_put(output, kind, " ", date, type);
    put_row(output, record);
}

static void create_containers(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    struct paje *paje = sink->state;
    struct pf_trace_output *output = &sink->output;
    int node = pf_trace_node(record);
    if (pf_trace_new_node(&paje->rows, node)) {
        pf_trace_put(output, CREATE_CONTAINER, " ", record->start, " n", node, " Node machine \"nid ", node,
                     ": ");
        put_name(output, pf_trace_host_name(node));
        pf_trace_put_text(output, "\"\n");
    }
    if (!pf_trace_new_row(&paje->rows, record))
        return;
    put_event(output, CREATE_CONTAINER, record->start, " ", record);
    pf_trace_put(output, " Row n", node, " \"");
    pf_trace_put_row_name(output, record);
    pf_trace_put(output, " of nid ", node, "\"\n");
}

static void end_link(struct pf_trace_sink *sink, const struct pf_trace_record *record, double date)
{
    put_event(&sink->output, END_LINK, date, " Message machine ", record);
    pf_trace_put(&sink->output, " m", (int)record->type, " ", record->message, "\n");
}

static void begin_call(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    struct paje *paje = sink->state;
    int number = call_number(&sink->output, &paje->calls, record);
    put_event(&sink->output, PUSH_CALL, record->start, " Operation ", record);
    pf_trace_put(&sink->output, " c", number, " ", record->model, " \"");
    put_name(&sink->output, record->phase);
    pf_trace_put_text(&sink->output, "\"\n");
}

static void note_switch(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    struct paje *paje = sink->state;
    int number = switch_number(&sink->output, &paje->switches, record);
    put_event(&sink->output, NEW_EVENT, record->start, " Switch ", record);
    pf_trace_put(&sink->output, " s", number, "\n");
}

static void paje_begin(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    struct pf_trace_output *output = &sink->output;
    create_containers(sink, record);
    if (record->call || pf_trace_is_mark(record)) {
        (record->call ? begin_call : note_switch)(sink, record);
        return;
    }
    put_event(output, PUSH_STATE, record->start, " Operation ", record);
    pf_trace_put(output, " o", (int)record->type, " ", record->bytes, "\n");
    if (record->track == PF_TRACE_TX) {
        put_event(output, START_LINK, record->start, " Message machine ", record);
        pf_trace_put(output, " m", (int)record->type, " ", record->message, " ", record->bytes, "\n");
    } else if (record->track == PF_TRACE_RX) {
        end_link(sink, record, record->start);
    }
}

/* A message that has not arrived goes back to where it came from: a link must end somewhere. */
static void paje_end(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    if (pf_trace_is_mark(record))
        return;
    put_event(&sink->output, POP_STATE, record->end, " Operation ", record);
    pf_trace_put_text(&sink->output, "\n");
    if (record->track != PF_TRACE_TX || record->arrived)
        return;
    if (record->outcome == PF_TRACE_LOST) {
        put_event(&sink->output, NEW_EVENT, record->end, " Loss ", record);
        pf_trace_put_text(&sink->output, " lost\n");
    }
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
