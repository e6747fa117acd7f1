/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a run's traces, from the setting to the end. */
#include "lowlevel/trace/trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/platform/platform.h"
#include "lowlevel/trace/filter.h"
#include "lowlevel/trace/layers.h"
#include "lowlevel/trace/places.h"
#include "lowlevel/trace/sink.h"
#include "lowlevel/trace/timeline.h"

static struct {
    struct pf_trace_sink *sinks;
    int count;
    bool opened, started, written, finished;
    bool used; /* there has been an operation */
} trace;

static const struct pf_trace_sink_ops *const formats[] = {&pf_trace_csv,  &pf_trace_paje, &pf_trace_chrome,
#ifdef PF_HAVE_OTF2
                                                          &pf_trace_otf2,
#endif
                                                          &pf_trace_text, &pf_trace_svg};
#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

static const struct pf_trace_sink_ops *find_format(const char *name)
{
    const char *names[FORMAT_COUNT];
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        names[i] = formats[i]->name;
        if (strcmp(name, names[i]) == 0)
            return formats[i];
    }
    if (strcmp(name, "otf2") == 0)
        pf_die("trace: this Parfocal has been built without OTF2 (package libopen-trace-format2-dev)");
    const char *near = pf_nearest_word(name, names, FORMAT_COUNT);
    if (near)
        pf_die("trace: unknown format '%s', maybe %s? (csv, paje, chrome, otf2, text, svg)", name, near);
    pf_die("trace: unknown format '%s'; there are csv, paje, chrome, otf2, text, svg", name);
}

static void refuse_same_file(const struct pf_trace_sink *sink)
{
    struct stat mine, other;
    if (fstat(sink->output.fd, &mine) != 0 || !S_ISREG(mine.st_mode))
        return;
    for (const struct pf_trace_sink *s = trace.sinks; s < sink; s++)
        if (fstat(s->output.fd, &other) == 0 && mine.st_dev == other.st_dev && mine.st_ino == other.st_ino)
            pf_die("trace: two traces in one file '%s'; give each its own", sink->output.path);
}

static void open_sink(char *text)
{
    char *colon = strchr(text, ':');
    if (!colon || !colon[1] || colon == text)
        pf_die("trace: '%s' is not FORMAT:FILE, for instance csv:run.csv (formats: csv, paje, chrome, otf2, "
               "text, svg)",
               text);
    *colon = 0;
    struct pf_trace_sink *sink = &trace.sinks[trace.count];
    sink->ops = find_format(text);
    const char *suffix = sink->ops->suffix;
    size_t length = strlen(colon + 1);
    if (length <= strlen(suffix) || strcmp(colon + 1 + length - strlen(suffix), suffix) != 0)
        pf_die("trace: '%s': the name of a file in the format %s ends in %s", colon + 1, text, suffix);
    pf_trace_output_open(&sink->output, colon + 1);
    trace.count++;
    refuse_same_file(sink);
}

static void begin_record(const struct pf_trace_record *record)
{
    if (!pf_trace_filter_keeps(record))
        return;
    trace.used = true;
    for (int i = 0; i < trace.count; i++)
        trace.sinks[i].ops->begin(&trace.sinks[i], record);
}

static void end_record(const struct pf_trace_record *record)
{
    if (!pf_trace_filter_keeps(record))
        return;
    for (int i = 0; i < trace.count; i++)
        trace.sinks[i].ops->end(&trace.sinks[i], record);
}

static void close_all(void)
{
    if (trace.finished)
        return;
    trace.finished = true;
    double date = trace.written ? pf_timeline_finish() : 0.0;
    for (int i = 0; i < trace.count; i++) {
        if (trace.sinks[i].opened)
            trace.sinks[i].ops->close(&trace.sinks[i], date);
        pf_trace_output_close(&trace.sinks[i].output);
    }
}

/* The heads of the formats: when the first thing happens, or at the end of a run without any. */
static void begin_files(void)
{
    trace.written = true;
    for (int i = 0; i < trace.count; i++) {
        trace.sinks[i].ops->open(&trace.sinks[i]);
        trace.sinks[i].opened = true;
    }
}

void pf_trace_open(void)
{
    pf_config_load();
    if (trace.opened || !*pf_config.trace)
        return;
    trace.opened = true;
    pf_trace_filter_open();
    size_t most = 1;
    for (const char *c = pf_config.trace; *c; c++)
        most += *c == ',';
    char *list = pf_strdup(pf_config.trace), *save;
    trace.sinks = pf_calloc(most, sizeof *trace.sinks);
    pf_at_end(close_all);
    for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save))
        open_sink(word);
    free(list);
}

static bool is_on(void)
{
    return trace.count > 0;
}

/* A program that main() ends, without a launcher. */
static void at_exit(void)
{
    if (trace.started && !trace.finished)
        pf_trace_finish();
}

/* Of the ranks of a job. */
static struct place {
    sg_host_t host;
    int node;
} * places;
static int place_count;

static void note_place(int rank, sg_host_t host)
{
    int node = pf_platform_node(host);
    pf_timeline_work_off(); /* what came before knows nothing of it */
    pf_trace_place_host(node, sg_host_get_name(host));
    pf_trace_filter_place(rank, node);
}

static void start(void)
{
    if (trace.started)
        return;
    trace.started = true;
    atexit(at_exit);
    begin_files();
    pf_timeline_start(begin_record, end_record);
}

void pf_trace_process(const pf_self_t *self)
{
    static bool stacked;
    pf_trace_open();
    if (!is_on() || !pf_trace_layers.nic)
        return;
    start();
    if (!stacked) {
        pf_trace_stack_network();
        pf_trace_stack_bus();
    }
    stacked = true;
    note_place(self->rank, self->host);
    pf_trace_place_process(pf_platform_node(self->host), self->rank);
}

bool pf_trace_calls(void)
{
    return is_on() && pf_trace_layers.mpi;
}

bool pf_trace_wants_recording(void)
{
    for (int i = 0; i < trace.count; i++)
        if (trace.sinks[i].ops->recorded)
            return pf_trace_calls();
    return false;
}

void pf_trace_recorded(int fd)
{
    for (int i = 0; i < trace.count; i++)
        if (trace.sinks[i].ops->recorded && trace.sinks[i].opened)
            trace.sinks[i].ops->recorded(&trace.sinks[i], fd);
    close(fd);
}

/* In the order of the ranks, as the NICs number their nodes, whichever calls MPI_Init first. */
void pf_trace_job(pf_self_t *const *ranks, int count)
{
    if (!pf_trace_calls() || trace.finished)
        return;
    start();
    places = pf_calloc((size_t)count, sizeof *places);
    place_count = count;
    for (int i = 0; i < count; i++) {
        if (!ranks[i]->host)
            continue;
        note_place(i, ranks[i]->host);
        places[i] = (struct place){ranks[i]->host, pf_platform_node(ranks[i]->host)};
    }
}

void pf_trace_finish(void)
{
    if (!is_on() || trace.finished)
        return;
    if (!trace.written)
        begin_files();
    close_all();
    if (!trace.used)
        pf_warn("the trace is empty: %s", pf_trace_layers.mpi ? "no rank that is traced has called MPI"
                                                              : "nothing went through the simulated NICs, "
                                                                "which not every model uses");
}

static int node_of(const pf_self_t *self)
{
    bool known = self->rank >= 0 && self->rank < place_count && places[self->rank].host == self->host;
    return known ? places[self->rank].node : pf_platform_node(self->host);
}

pf_trace_span pf_trace_begin(const pf_self_t *self, const struct pf_trace_record *what)
{
    if (!trace.started || trace.finished)
        return 0;
    struct pf_trace_record record = *what;
    record.track = PF_TRACE_RANK;
    record.from = record.to = (struct pf_trace_party){node_of(self), self->rank};
    return pf_timeline_begin(&record);
}

void pf_trace_end(pf_trace_span span, double date)
{
    pf_timeline_end(span, date, PF_TRACE_DONE);
}

void pf_trace_end_later(pf_trace_span span, double date)
{
    pf_timeline_end_later(span, date);
}

void pf_trace_alter(pf_trace_span span, const struct pf_trace_record *what)
{
    pf_timeline_alter(span, what);
}
