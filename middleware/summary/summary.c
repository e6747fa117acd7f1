/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary at the end of a run, as text and JSON. */
#include "middleware/summary/summary.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <xbt/base.h> /* version.h does not include what it uses */

#include <simgrid/version.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "lowlevel/network/packet/report.h"
#include "lowlevel/portals/runtime.h"
#include "lowlevel/storage/storage.h"
#include "lowlevel/ucx/runtime.h"
#include "middleware/account/accounting.h"
#include "middleware/compute/compute.h"
#include "middleware/compute/critical_path.h"
#include "middleware/compute/interpreter.h"
#include "middleware/core/workload.h"
#include "middleware/summary/communication.h"
#include "middleware/summary/jobs.h"
#include "middleware/summary/live.h"
#include "middleware/summary/page.h"
#include "middleware/account/timeline.h"

#define MAX_VERSIONS 8
#define MAX_SECTIONS 8

static struct {
    char **command;
    int argc;
    int np;
    char *executable, *platform;
    struct {
        char *component, *version;
    } versions[MAX_VERSIONS];
    int version_count;
    int portals_ranks; /* that have a simulated NIC; below, the sum of their counters */
    struct pf_portals_counters portals;
    int ucx_ranks; /* that have a copy of Open MPI over UCX */
    struct pf_ucx_counters ucx;
    struct {
        const char *name;
        json_t *(*make)(void);
    } sections[MAX_SECTIONS];
    int section_count;
    double ideal;         /* simulated time on an ideal network, if there are phases of it: */
    json_t *ideal_phases; /* their simulated times by name */
    bool failed;          /* something could not be written */
    bool finished;
} job;

static char *copy(const char *text)
{
    char *result = pf_strdup(text ? text : "");
    return result;
}

void pf_summary_set_command(int argc, char *const *argv)
{
    job.command = pf_calloc((size_t)argc + 1, sizeof *job.command);
    for (job.argc = 0; job.argc < argc; job.argc++)
        job.command[job.argc] = copy(argv[job.argc]);
}

void pf_summary_set_job(int np, const char *executable, const char *platform)
{
    job.np = np;
    free(job.executable);
    free(job.platform);
    job.executable = copy(executable);
    job.platform = copy(platform);
}

void pf_summary_add_version(const char *component, const char *version)
{
    for (int i = 0; i < job.version_count; i++)
        if (strcmp(job.versions[i].component, component) == 0)
            return;
    if (job.version_count == MAX_VERSIONS)
        return;
    job.versions[job.version_count].component = copy(component);
    job.versions[job.version_count++].version = copy(version);
}

bool pf_summary_read_ideal(FILE *in)
{
    json_t *summary = json_loadf(in, 0, NULL);
    fclose(in);
    if (!summary || json_object_get(summary, "partial")) {
        json_decref(summary);
        return false;
    }
    job.ideal = json_number_value(json_object_get(summary, "simulated_s"));
    job.ideal_phases = json_object();
    size_t i;
    json_t *phase;
    json_array_foreach(json_object_get(summary, "phases"), i, phase)
        json_object_set(job.ideal_phases, json_string_value(json_object_get(phase, "phase")),
                        json_object_get(phase, "simulated_s"));
    json_decref(summary);
    return true;
}

void pf_summary_add_portals(const struct pf_portals_counters *counters)
{
    job.portals_ranks++;
    job.portals.messages += counters->messages;
    job.portals.bytes_put += counters->bytes_put;
    job.portals.bytes_got += counters->bytes_got;
    job.portals.unexpected += counters->unexpected;
    job.portals.dropped += counters->dropped;
    job.portals.parks += counters->parks;
}

void pf_summary_add_ucx(const struct pf_ucx_counters *counters)
{
    job.ucx_ranks++;
    job.ucx.sends_short += counters->sends_short;
    job.ucx.sends_bcopy += counters->sends_bcopy;
    job.ucx.sends_zcopy += counters->sends_zcopy;
    job.ucx.sends_rndv += counters->sends_rndv;
    job.ucx.unexpected += counters->unexpected;
}

void pf_summary_add_section(const char *name, json_t *(*make)(void))
{
    if (job.section_count == MAX_SECTIONS)
        pf_die("the summary has no room for section %s: please report this", name);
    job.sections[job.section_count].name = name;
    job.sections[job.section_count++].make = make;
}

/* Seconds with a unit that keeps four digits. */
static const char *human_seconds(double seconds, char *buffer, size_t size)
{
    if (seconds >= 1 || seconds <= 0)
        snprintf(buffer, size, "%.4g s", seconds > 0 ? seconds : 0.0);
    else if (seconds >= 1e-3)
        snprintf(buffer, size, "%.4g ms", seconds * 1e3);
    else
        snprintf(buffer, size, "%.4g us", seconds * 1e6);
    return buffer;
}

static const char *human_bytes(double bytes, char *buffer, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    snprintf(buffer, size, "%.4g %s", bytes, units[unit]);
    return buffer;
}

static const char *human_slowdown(double wall, double simulated, char *buffer, size_t size)
{
    if (simulated > 0)
        snprintf(buffer, size, wall / simulated >= 9999.5 ? "%.2e" : "%.4g", wall / simulated);
    else
        snprintf(buffer, size, "-");
    return buffer;
}

static void print_row(FILE *out, const char *phase, const char *model, double simulated, double app,
                      double overhead, const struct pf_account_slot *total)
{
    char text[6][24];
    fprintf(out, "%-14.14s %-8s %11s %11s %11s %10llu %10s %9s %9s\n", phase, model,
            human_seconds(simulated, text[0], sizeof text[0]), human_seconds(app, text[1], sizeof text[1]),
            human_seconds(overhead, text[2], sizeof text[2]), (unsigned long long)total->messages,
            human_bytes((double)total->bytes, text[3], sizeof text[3]),
            human_slowdown(overhead, simulated, text[4], sizeof text[4]),
            human_slowdown(overhead + app, simulated, text[5], sizeof text[5]));
}

/* The per-phase table for a terminal. */
static void print_table(FILE *out)
{
    struct pf_account_row *rows;
    size_t count = pf_account_rows(&rows, 0, INT_MAX);
    struct pf_account_slot all = {0};
    double app = 0, overhead = 0;
    if (count == 0 && *pf_end_reason()) {
        free(rows);
        return;
    }
    fprintf(out, "%-14s %-8s %11s %11s %11s %10s %10s %9s %9s\n", "", "", "simulated", "application",
            "simulation", "", "", "slowdown", "slowdown");
    fprintf(out, "%-14s %-8s %11s %11s %11s %10s %10s %9s %9s\n", "phase", "model", "time", "CPU", "overhead",
            "messages", "bytes", "(no app)", "(all)");
    for (size_t i = 0; i < count; i++) {
        const struct pf_account_slot *total = &rows[i].total;
        double row_app = pf_account_seconds(total->app_ticks);
        double row_overhead = pf_account_seconds(total->overhead_ticks);
        print_row(out, rows[i].phase, pf_model_name(rows[i].model), total->simulated, row_app, row_overhead,
                  total);
        app += row_app;
        overhead += row_overhead;
        all.messages += total->messages;
        all.bytes += total->bytes;
    }
    print_row(out, "all", "", pf_account_simulated(), app, overhead, &all);
    pf_summary_print_jobs(out);
    char startup[24], wall[24];
    fprintf(out, "wall-clock %s, of which start-up %s\n", human_seconds(pf_account_wall(), wall, sizeof wall),
            human_seconds(pf_account_startup(), startup, sizeof startup));
    double share;
    unsigned long samples;
    if (pf_interpreter_share(&share, &samples))
        fprintf(out, "of the measured computation %.0f %% is the interpreter's (%lu samples)\n", 100 * share,
                samples);
    pf_critical_path_print(out);
    if (*pf_end_reason())
        fprintf(out, "partial, not the whole run: %s\n", pf_end_reason());
    free(rows);
}

static json_t *configuration(void)
{
#define JSON_BOOL(value)   json_boolean(value)
#define JSON_INT(value)    json_integer(value)
#define JSON_SIZE(value)   json_integer((json_int_t)(value))
#define JSON_DOUBLE(value) json_real(value)
#define JSON_STR(value)    json_string(value)
    json_t *object = json_object();
#define PF_CFG(type, field, def, unit, range, help)                                                          \
    json_object_set_new(object, #field, JSON_##type(pf_config.field));
#include "base/config.def"
#undef PF_CFG
    return object;
}

static json_t *versions(void)
{
    int major, minor, patch;
    char simgrid[32];
    sg_version_get(&major, &minor, &patch);
    snprintf(simgrid, sizeof simgrid, "%d.%d.%d", major, minor, patch);
    json_t *object = json_pack("{s:s, s:s}", "parfocal", PF_VERSION, "simgrid", simgrid);
    for (int i = 0; i < job.version_count; i++)
        json_object_set_new(object, job.versions[i].component, json_string(job.versions[i].version));
    return object;
}

/* Slowdowns have no value where no simulated time passed. */
static json_t *slowdown(double wall, double simulated)
{
    return simulated > 0 ? json_real(wall / simulated) : json_null();
}

/* As the centre of excellence POP defines them (https://pop-coe.eu/node/69): of what ranks have computed, in
 * all and at most; and of the time on an ideal network, negative if that is not known. */
static void set_efficiency(json_t *object, double sum, double most, int ranks, double time, double ideal)
{
    if (!pf_compute_on || !(time > 0))
        return;
    double mean = sum / ranks;
    json_t *efficiency = json_pack("{s:f, s:f, s:f}", "parallel", mean / time, "load_balance",
                                   most > 0 ? mean / most : 1.0, "communication", most / time);
    if (ideal > 0)
        json_object_set_new(efficiency, "serialisation", json_real(most / ideal));
    if (ideal >= 0)
        json_object_set_new(efficiency, "transfer", json_real(ideal / time));
    json_object_set_new(object, "efficiency", efficiency);
}

/* In how many rows, of several models, each phase is; NULL: it is not asked. */
static json_t *rows_by_phase(const struct pf_account_row *rows, size_t count)
{
    json_t *by_phase = job.ideal_phases ? json_object() : NULL;
    for (size_t i = 0; by_phase && i < count; i++) {
        json_int_t before = json_integer_value(json_object_get(by_phase, rows[i].phase));
        json_object_set_new(by_phase, rows[i].phase, json_integer(before + 1));
    }
    return by_phase;
}

/* On the ideal network a phase is one, whatever models it has here; negative: not known. */
static double ideal_of(const json_t *rows, const char *phase)
{
    const json_t *ideal = json_object_get(job.ideal_phases, phase);
    return ideal && json_integer_value(json_object_get(rows, phase)) == 1 ? json_number_value(ideal) : -1;
}

static json_t *phase_object(const struct pf_account_row *row, double ideal)
{
    const struct pf_account_slot *t = &row->total;
    double app = pf_account_seconds(t->app_ticks), overhead = pf_account_seconds(t->overhead_ticks);
    json_t *object =
        json_pack("{s:s, s:s, s:i, s:f, s:f, s:f, s:f}", "phase", row->phase, "model",
                  pf_model_name(row->model), "ranks", row->ranks, "simulated_s", t->simulated, "wall_clock_s",
                  app + overhead, "application_cpu_s", app, "overhead_s", overhead);
    set_efficiency(object, t->computed, row->most_computed, row->ranks, t->simulated, ideal);
    json_object_set_new(object, "slowdown", slowdown(app + overhead, t->simulated));
    json_object_set_new(object, "slowdown_without_application", slowdown(overhead, t->simulated));
    const struct {
        const char *name;
        uint64_t value;
    } counters[] = {{"visits", t->visits},           {"calls", t->calls},
                    {"messages", t->messages},       {"bytes", t->bytes},
                    {"switches", t->switches},       {"fallback_calls", t->promoted},
                    {"promoted_calls", t->promoted}, /* the old name: docs/changes.md */

                    {"followed_calls", t->followed}, {"followed_messages", t->followed_messages},
                    {"shadows", t->shadows}};
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
        json_object_set_new(object, counters[i].name, json_integer((json_int_t)counters[i].value));
    json_object_set_new(object, "shadow_wall_clock_s", json_real(pf_account_seconds(t->shadow_ticks)));
    json_object_set_new(object, "shadow_simulated_s", json_real(t->shadow_simulated));
    return object;
}

static json_t *phases_of(int first, int ranks)
{
    struct pf_account_row *rows;
    size_t count = pf_account_rows(&rows, first, ranks);
    json_t *array = json_array(), *by_phase = rows_by_phase(rows, count);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, phase_object(&rows[i], ideal_of(by_phase, rows[i].phase)));
    json_decref(by_phase);
    free(rows);
    return array;
}

static json_t *portals(void)
{
    const struct pf_portals_counters *c = &job.portals;
    const struct {
        const char *name;
        uint64_t value;
    } counters[] = {{"messages", c->messages},     {"bytes_put", c->bytes_put}, {"bytes_got", c->bytes_got},
                    {"unexpected", c->unexpected}, {"dropped", c->dropped},     {"parks", c->parks}};
    json_t *object = json_pack("{s:i}", "ranks", job.portals_ranks);
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
        json_object_set_new(object, counters[i].name, json_integer((json_int_t)counters[i].value));
    return object;
}

static json_t *file_system(enum pf_storage which)
{
    const struct pf_storage_counters *c = pf_storage_counters(which);
    return json_pack("{s:I, s:I, s:I, s:I, s:f}", "reads", (json_int_t)c->accesses[0], "writes",
                     (json_int_t)c->accesses[1], "bytes_read", (json_int_t)c->bytes[0], "bytes_written",
                     (json_int_t)c->bytes[1], "rank_s", c->seconds);
}

static json_t *files(void)
{
    return json_pack("{s:o, s:o}", "own", file_system(PF_STORAGE_OWN), "shared",
                     file_system(PF_STORAGE_SHARED));
}

static json_t *ucx(void)
{
    const struct pf_ucx_counters *c = &job.ucx;
    return json_pack("{s:i, s:I, s:I, s:I, s:I, s:I}", "ranks", job.ucx_ranks, "short",
                     (json_int_t)c->sends_short, "bcopy", (json_int_t)c->sends_bcopy, "zcopy",
                     (json_int_t)c->sends_zcopy, "rndv", (json_int_t)c->sends_rndv, "unexpected",
                     (json_int_t)c->unexpected);
}

static json_t *warnings(void)
{
    json_t *array = json_array();
    const char *text;
    for (int i = 0; (text = pf_warning(i)); i++)
        json_array_append_new(array, json_string(text));
    return array;
}

/* The network's links, in short: of packets more is in the table of PARFOCAL_NET_STATISTICS. */
static json_t *network(const struct pf_network_sums *sums)
{
    enum { MOST = 8 };
    struct pf_network_link links[MOST];
    int count = pf_network_busiest(links, MOST);
    json_t *array = json_array();
    for (int i = 0; i < count; i++) {
        json_t *link = json_pack("{s:s, s:f, s:I, s:f}", "link", links[i].name, "utilisation",
                                 links[i].utilisation, sums->priced ? "messages" : "packets",
                                 (json_int_t)links[i].packets, "bytes", links[i].bytes);
        if (!sums->priced)
            json_object_set_new(link, "wait_s", json_real(links[i].wait));
        json_array_append_new(array, link);
    }
    if (sums->priced)
        return json_pack("{s:s, s:s, s:o}", "fabric", sums->fabric, "routing", sums->routing, "busiest_links",
                         array);
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:o}", "fabric", sums->fabric, "routing", sums->routing,
                     "packets", (json_int_t)sums->packets, "dropped", (json_int_t)sums->dropped,
                     "packet_hops", (json_int_t)sums->hops, "busiest_links", array);
}

static json_t *summary(int status)
{
    json_t *command = json_array();
    for (int i = 0; i < job.argc; i++)
        json_array_append_new(command, json_string(job.command[i]));
    json_t *object =
        json_pack("{s:i, s:i, s:i, s:s, s:s, s:o, s:o}", "format", 1, "exit_status", status, "ranks", job.np,
                  "executable", job.executable ? job.executable : "", "platform",
                  job.platform ? job.platform : "", "command", command, "versions", versions());
    if (*pf_end_reason()) {
        json_object_set_new(object, "partial", json_true());
        json_object_set_new(object, "partial_reason", json_string(pf_end_reason()));
    }
    json_object_set_new(object, "simulated_s", json_real(pf_account_simulated()));
    json_object_set_new(object, "wall_clock_s", json_real(pf_account_wall()));
    json_object_set_new(object, "startup_s", json_real(pf_account_startup()));
    double share;
    unsigned long samples;
    if (pf_interpreter_share(&share, &samples))
        json_object_set_new(object, "interpreter",
                            json_pack("{s:f, s:I}", "share", share, "samples", (json_int_t)samples));
    json_object_set_new(object, "phases", phases_of(0, INT_MAX));
    if (pf_workload_count())
        json_object_set_new(object, "jobs", pf_summary_jobs(phases_of));
    if (job.portals_ranks)
        json_object_set_new(object, "portals", portals());
    if (job.ucx_ranks)
        json_object_set_new(object, "ucx", ucx());
    if (pf_storage_on())
        json_object_set_new(object, "files", files());
    struct pf_network_sums sums;
    if (pf_network_sums(&sums))
        json_object_set_new(object, "network", network(&sums));
    if (pf_compute_on) {
        double most, sum = pf_account_computed(&most);
        set_efficiency(object, sum, most, job.np, pf_account_simulated(), job.ideal_phases ? job.ideal : -1);
        json_object_set_new(object, "rank_times", pf_compute_json());
    }
    json_t *path = pf_critical_path_json();
    if (path)
        json_object_set_new(object, "critical_path", path);
    json_t *sent = pf_communication_json();
    if (sent)
        json_object_set_new(object, "communication", sent);
    if (pf_config.timeline > 0)
        json_object_set_new(object, "timeline", pf_timelines_json());
    for (int i = 0; i < job.section_count; i++)
        json_object_set_new(object, job.sections[i].name, job.sections[i].make());
    if (pf_warning(0))
        json_object_set_new(object, "warnings", warnings());
    json_object_set_new(object, "configuration", configuration());
    return object;
}

/* The run goes to its end, and its exit status says that something is missing. */
static void failed(const char *what, const char *name)
{
    int error = errno;
    fflush(stdout);
    fprintf(stderr, "parfocal: error: cannot %s '%s': %s\n", what, name, strerror(error));
    job.failed = true;
}

static bool print_json(const json_t *object, FILE *out)
{
    return pf_page_print_json(object, JSON_INDENT(2), out) && fputc('\n', out) != EOF;
}

/* A plain file appears under its name only when it is complete. */
static void write_file(const json_t *object, const char *name, bool (*print)(const json_t *object, FILE *out))
{
    struct stat info;
    bool whole = stat(name, &info) != 0 || S_ISREG(info.st_mode); /* a pipe or a device stays what it is */
    char *part = pf_asprintf("%s%s", name, whole ? ".part" : "");
    FILE *file = pf_output_open(part, "w");
    bool good = file && print(object, file);
    if (file && fclose(file) != 0)
        good = false;
    if (!good || (whole && rename(part, name) != 0)) {
        failed("write the summary", name);
        if (whole)
            unlink(part);
    }
    free(part);
}

static void write_report(const json_t *object, const char *directory)
{
    char *name = pf_asprintf("%s/summary.json", directory), *page = pf_asprintf("%s/report.html", directory);
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        failed("make the report directory", directory);
    } else {
        write_file(object, name, print_json);
        write_file(object, page, pf_page_print);
    }
    free(page);
    free(name);
}

bool pf_summary_finish(int status)
{
    if (job.finished)
        return !job.failed;
    job.finished = true;
    pf_live_stop();
    if (*pf_config.summary || *pf_config.report) {
        json_t *object = summary(status);
        if (*pf_config.summary)
            write_file(object, pf_config.summary, print_json);
        if (*pf_config.report)
            write_report(object, pf_config.report);
        json_decref(object);
    }
    if (pf_config.rank_times)
        pf_compute_print(stderr);
    if (pf_config.table)
        print_table(stderr);
    return !job.failed;
}
