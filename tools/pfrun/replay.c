/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded runs instead of programs. */
#include "tools/pfrun/replay.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/host.h>
#include <xbt/config.h>
#include <xbt/log.h>

#include "adapters/analytic/replay/program.h"
#include "base/config.h"
#include "base/helper.h"
#include "base/log.h"
#include "base/memory.h"
#include "middleware/account/accounting.h"
#include "middleware/core/workload.h"
#include "middleware/observing/start.h"
#include "middleware/process/handed.h"
#include "middleware/process/job.h"
#include "tools/pfrun/engine.h"
#include "tools/pfrun/paraver.h"
#include "tools/pfreplay/compile.h"
#include "tools/pfreplay/source.h"

static struct replay_source *source; /* of -replay, NULL: none */
static struct {
    struct replay_source **of; /* traces of -replay or of jobs */
    int *first;                /* their first ranks */
    int count;
} traces;
static struct an_program program;
static pf_self_t *selves;
static void (*start_again)(void);

static char *find_player(void)
{
    char *path = pf_helper_find("pfreplay");
    if (!path)
        pf_die("-replay: the program that plays traces is not there: " PF_LIBEXEC "/pfreplay");
    return path;
}

static int add(struct replay_source *trace, int first)
{
    traces.of = pf_reallocarray(traces.of, (size_t)traces.count + 1, sizeof *traces.of);
    traces.first = pf_reallocarray(traces.first, (size_t)traces.count + 1, sizeof *traces.first);
    traces.of[traces.count] = trace;
    traces.first[traces.count] = first;
    pf_hand(traces.of);
    return traces.count++;
}

int replay_job(const char *trace, double scale, int first, char **words)
{
    struct replay_source *opened = replay_source_open(trace, NULL);
    if (scale >= 0)
        opened->scale = scale;
    words[0] = find_player();
    words[1] = pf_asprintf("%d", add(opened, first));
    return opened->ranks;
}

void replay_prepare(struct options *options)
{
    options->parts = pf_calloc(1, sizeof *options->parts);
    options->parts[0].app = pf_calloc(2, sizeof(char *));
    options->parts[0].app[0] = find_player();
    options->part_count = options->parts[0].app_argc = 1;
}

/* What only ranks do; NULL if nothing of it is asked for. */
static const char *what_needs_ranks(const struct options *options, unsigned models)
{
    static const char *const tracing[] = {"--cfg=tracing", "--cfg=cpu/", "--cfg=host/"};
    if ((models & ~(1u << PF_MODEL_SMPI)) != 1u << PF_MODEL_ANALYTIC ||
        strcmp(pf_config.model, "analytic") != 0 || *pf_config.schedule || *pf_config.load ||
        *pf_config.regions)
        return "";
    for (int i = 0; i < options->simgrid_count; i++)
        for (size_t k = 0; k < sizeof tracing / sizeof tracing[0]; k++)
            if (strncmp(options->simgrid[i], tracing[k], strlen(tracing[k])) == 0)
                return options->simgrid[i];
    if (options->map)
        return "-map";
    if (pf_config.check)
        return "the checks";
    if (pf_config.count_calls || pf_config.rank_times || pf_config.timeline)
        return "the times and calls of ranks";
    if (*pf_config.trace || *pf_config.replay_record || paraver_expected() || *pf_config.markers ||
        *pf_config.computation_record)
        return "a trace of the run";
    return pf_config.engine_run_ahead ? NULL : "PARFOCAL_ENGINE_RUN_AHEAD=no";
}

static void note(const char *why)
{
    if (*why && !pf_config.replay_ranks)
        fprintf(stderr, "parfocal: note: ranks play the trace, which takes longer: %s\n", why);
}

/* The ranks do it, in a new start of this process, and say what is wrong. */
static _Noreturn void restart(const char *why)
{
    note(why);
    setenv("PARFOCAL_REPLAY_RANKS", "yes", 1);
    start_again();
    abort();
}

static void failed(void)
{
    restart("a call fails");
}

static void play(void)
{
    char why[256];
    struct pf_account **accounts = pf_calloc((size_t)program.size, sizeof(struct pf_account *));
    for (int i = 0; i < program.size; i++)
        accounts[i] = pf_account_open(i, "start", PF_MODEL_ANALYTIC, 0);
    if (an_replay(&program, why, sizeof why))
        pf_die("model analytic cannot be used: %s", why);
    for (int i = 0; i < program.size; i++) {
        struct pf_account_slot *slot = accounts[i]->slot;
        slot->calls = program.ranks[i].calls;
        slot->messages = program.ranks[i].messages;
        slot->bytes = program.ranks[i].bytes;
        pf_account_close(accounts[i], program.ranks[i].end);
        source->done[i] = true;
    }
    free(accounts);
    pf_job_play_alone();
    xbt_log_control_set("smpi.thres:error"); /* or SMPI would miss MPI_Finalize */
}

/* LogGOPSim's rules, if they are asked for. */
static const struct an_loggops *read_loggops(void)
{
    static struct an_loggops all = {2500, 1500, 1000, 6, 0, 65535};
    double *const numbers[] = {&all.latency,  &all.overhead,      &all.gap,
                               &all.byte_gap, &all.byte_overhead, &all.eager};
    static const char keys[] = "LogGOS"; /* in the order of the numbers */
    char *rest = pf_strdup(pf_config.replay_loggops);
    for (char *word; (word = strsep(&rest, ","));) {
        const char *key = *word ? strchr(keys, *word) : NULL;
        char *end = word;
        double value = key && word[1] == '=' ? strtod(word + 2, &end) : -1;
        if (end == word || end == word + 2 || *end || !(value >= 0 && value <= 1e18))
            pf_die("%s: '%s' is not one of L, o, g, G, O, S with a number, such as L=2500 (ns, B)",
                   pf_config_given("replay_loggops"), word);
        *numbers[key - keys] = value;
    }
    return &all;
}

/* They hold without ranks, and for one kind of trace. */
static void check_loggops(const char *reason)
{
    const char *given = pf_config_given("replay_loggops");
    if (!*pf_config.replay_loggops)
        return;
    if (reason || pf_config.replay_ranks)
        pf_die("%s: LogGOPSim's rules need -model analytic, and no ranks%s%s", given,
               reason && *reason ? ", which play the trace for " : "", reason ? reason : "");
    if (!program.graphs)
        pf_die("%s: LogGOPSim's rules are for GOAL schedules", given);
}

bool replay_open(struct options *options, unsigned models, void (*again)(void))
{
    char why[600] = "";
    const char *reason = what_needs_ranks(options, models);
    bool alone = !reason && !pf_config.replay_ranks;
    if (*pf_config.replay_loggops)
        program.loggops = read_loggops();
    source = replay_source_open(options->replay, alone ? &program : NULL);
    if (options->np && options->np != source->ranks)
        pf_die("-np %d: the trace '%s' has %d ranks (leave -np out)", options->np, options->replay,
               source->ranks);
    check_loggops(reason);
    if (alone && pf_config.analytic_explain && *pf_config.report)
        pf_warn(
            "-explain: a trace that is played without ranks has no efficiencies (PARFOCAL_REPLAY_RANKS=yes)");
    options->np = source->ranks;
    start_again = again;
    if (alone && replay_compile(source, &program, why, sizeof why))
        source->play_alone = play;
    else if (!options->quiet)
        note(reason ? reason : why);
    if (source->refused)
        source = replay_source_open(options->replay, NULL);
    if (options->replay_scale >= 0)
        source->scale = options->replay_scale;
    add(source, 0);
    return source->play_alone;
}

static int compare_hosts(const void *a, const void *b)
{
    uintptr_t first = (uintptr_t) * (const sg_host_t *)a, second = (uintptr_t) * (const sg_host_t *)b;
    return (first > second) - (first < second);
}

static bool shares_cores(void)
{
    size_t size = (size_t)program.size;
    sg_host_t *hosts = pf_calloc(size, sizeof(sg_host_t));
    int together = 0;
    bool shares = false;
    for (size_t i = 0; i < size; i++)
        hosts[i] = selves[i].host;
    qsort(hosts, size, sizeof(sg_host_t), compare_hosts);
    for (size_t i = 0; i < size && !shares; i++) {
        together = i > 0 && hosts[i] == hosts[i - 1] ? together + 1 : 1;
        shares = together > sg_host_core_count(hosts[i]);
    }
    free(hosts);
    return shares;
}

static void speed_changes(void)
{
    restart("the speed of a host changes");
}

/* Where SimGrid would do more than to divide the work of a rank by the speed of its core. */
static void check_computation(void)
{
    if (program.loggops || (!(program.works[0] && program.computes) && !program.works[1]))
        return;
    if (!engine_computes_plainly(speed_changes))
        restart("SimGrid's model of processors is another one");
    if (shares_cores())
        restart("ranks share a core");
}

void replay_place(const struct hosts *hosts)
{
    sg_host_t *all = sg_host_list();
    size_t count = sg_host_count();
    if (!source->play_alone)
        return;
    selves = pf_calloc((size_t)source->ranks, sizeof *selves);
    for (int i = 0; i < source->ranks; i++)
        selves[i] = (pf_self_t){.rank = i,
                                .size = source->ranks,
                                .host = hosts->count ? sg_host_by_name(hosts->names[i % hosts->count])
                                                     : all[(size_t)i % count]};
    program.selves = selves;
    program.scale = source->scale;
    program.computes = source->computes;
    program.precision = sg_cfg_get_double("surf/precision");
    program.failed = failed;
    free(all);
    check_computation();
}

void replay_stuck(void)
{
    if (source && source->play_alone)
        restart("no rank can go on");
}

void replay_choose_time(void)
{
    bool computes = sg_cfg_get_boolean("smpi/simulate-computation");
    for (int i = 0; i < traces.count; i++)
        traces.of[i]->computes = computes;
    if (!source)
        return;
    sg_cfg_set_boolean("smpi/simulate-computation", "no");
    pf_recording_charges(computes);
}

/* As many as fit a screen. */
#define MOST_PLACES 20

static void print_place(FILE *out, const struct replay_source *trace, int first, int rank)
{
    char name[256];
    fprintf(out, "parfocal: %s is at %s: line %ld\n", pf_workload_rank_name(first + rank, name, sizeof name),
            trace->ops->file(trace, rank), trace->ops->line(trace, rank));
}

void replay_print_places(FILE *out)
{
    int printed = 0;
    for (int i = 0; i < traces.count; i++)
        for (int rank = 0; rank < traces.of[i]->ranks && printed < MOST_PLACES; rank++)
            if (!traces.of[i]->done[rank] && ++printed)
                print_place(out, traces.of[i], traces.first[i], rank);
}
