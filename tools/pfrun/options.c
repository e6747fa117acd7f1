/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of pfrun. */
#include "tools/pfrun/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xbt/base.h>

#include <simgrid/version.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/setting_file.h"
#include "tools/pfrun/helpers.h"
#include "tools/pfrun/paraver.h"
#include "tools/pfrun/smpi_trace.h"

/* smpirun takes each flag with one dash; two are accepted as well. They are read by hand because
 * getopt_long_only would take abbreviations, and "-np=4", unless each is compared again, and would move the
 * optind of the C library that the application's ranks share. */
enum flag {
    NP,
    APP,
    WORKLOAD,
    ON_FAILURE,
    PLATFORM,
    HOSTFILE,
    SETTING,
    FAIL,
    TRACE,
    REPLAY,
    REPLAY_SCALE,
    SAMPLE,
    UNITS,
    OF_SAMPLE,
    TMPDIR,
    KEEP_TEMPS,
    WRAPPER,
    SHORTHAND,
    MAP,
    NO_PRIVATIZE,
    EXPLAIN,
    EXPLAIN_IDEAL,
    WHAT_IF,
    PROGRESS,
    ANALYZE,
    QUIET,
    FOREGROUND,
    HELP,
    VERSION,
    UNSUPPORTED
};

#define ONE_RUN      "it is for one run"
#define ONE_DEBUGGER "several runs have no one debugger"

/* The one list: parsing, -help, the manual page, completion in shells and -sample read it. */
/* clang-format off */
static const struct flag_row {
    const char *name;
    enum flag flag;
    const char *value;     /* what follows it, NULL: nothing */
    const char *help;      /* NULL: another name of the row above; "": not listed */
    const char *no_sample; /* why -sample refuses it, NULL: it does not */
} flags[] = {
    {"np", NP, "N", "number of ranks (default: all entries of the hostfile)", NULL},
    {"n", NP, "N", NULL, NULL},
    {"app", APP, "FILE", "several programs, a line '-np N program arguments' for each", "it estimates one program"},
    {"workload", WORKLOAD, "FILE",
     "several jobs on one machine: a line '-name A -np N program arguments' for each (docs/workloads.md)", "it estimates one program"},
    {"on-failure", ON_FAILURE, "stop|continue", "-workload: when a job fails, all end (default), or the others go on", ONE_RUN},
    {"platform", PLATFORM, "FILE|NAME",
     "SimGrid platform, or a built-in topology, with optional :HOSTS or :NUMBERS "
     "(default: fattree; see pfinfo --platform)", NULL},
    {"machine", SETTING, "NAME|FILE",
     "simulated machine: platform, network and NIC (pfinfo --machine lists them)", NULL},
    {"calibrated", SETTING, "FILE", "settings of SimGrid that bring model smpi near to a finer model (pfinfo --fit)", NULL},
    {"hostfile", HOSTFILE, "FILE", "one host per line: 'host', 'host:4' or 'host slots=4'", NULL},
    {"machinefile", HOSTFILE, "FILE", NULL, NULL},
    {"model", SETTING, "M",
     "model in force at the start (default: smpi; pfinfo lists the models)", "-fine and -cheap name the models"},
    {"schedule", SETTING, "S",
     "which phase runs in which model: PHASE=MODEL,@start=MODEL,@coll:N=MODEL,@time:T=MODEL,every:K=M1|M2; or a file", "sampled regions are the schedule"},
    {"agree", SETTING, "follow|strict",
     "both sides of a message in one model: the second follows the first (default), or the run ends with a "
     "diagnosis", "sampled regions follow"},
    {"load", SETTING, "M,...", "load these models at start", NULL},
    {"report", SETTING, "DIR", "write DIR/report.html and summary.json, and print the table of phases", NULL},
    {"trace", TRACE, "FORMAT:FILE",
     "trace of MPI calls, switches and NICs: csv, paje, chrome, otf2, prv (Paraver); a sequence diagram: text, svg; for -replay: replay; SMPI's traces: smpi (Paje), ti. May be repeated", "several runs have no one trace"},
    {"replay", REPLAY, "TRACE",
     "run a recording instead of a program: files of -trace replay:FILE and of pfinfo --record-program=calls, SMPI's, OTF2, Paraver, GOAL, DUMPI (docs/replay.md)", "a recorded run has no sampled regions yet"},
    {"replay-scale", REPLAY_SCALE, "F", "the recording's computation takes F times as long (default: 1)", "it is for -replay"},
    {"sample", SAMPLE, "GOAL",
     "estimate the run's time in a fine model from a sample of its iterations; GOAL: half-width of the interval of 95 %, such as 2% (docs/sampling.md)", NULL},
    {"units", UNITS, NULL, "", NULL}, /* pfinfo --units */
    {"fine", OF_SAMPLE, "M", "-sample: the fine model (default: the finest)", NULL},
    {"cheap", OF_SAMPLE, "M", "-sample: the cheap model (default: the cheapest)", NULL},
    {"budget", OF_SAMPLE, "P", "-sample: share of the run that is simulated in the fine model at most (default: 10%)", NULL},
    {"iterations", OF_SAMPLE, "N", "", NULL},
    {"verify", OF_SAMPLE, NULL,
     "-sample: afterwards, run all in the fine model, for the true error", NULL},
    {"seed", OF_SAMPLE, "N", "-sample: seed of the random numbers (default: 1)", NULL},
    {"-cfg", UNSUPPORTED, "=KEY:VALUE", "setting of SimGrid, or of Parfocal as parfocal/KEY:VALUE (pfinfo -c lists them)", NULL},
    {"-log", UNSUPPORTED, "=SETTING", "logging of SimGrid", NULL},
    {"map", MAP, NULL, "print on which host each rank runs", ONE_RUN},
    {"tmpdir", TMPDIR, "DIR", "where temporary files go (default: $TMPDIR, else /tmp)", NULL},
    {"keep-temps", KEEP_TEMPS, NULL, "keep them", ONE_RUN},
    {"wrapper", WRAPPER, "COMMAND", "run under COMMAND", "several runs have no one wrapper"},
    {"gdb", SHORTHAND, NULL, "-wrapper 'gdb --args'", ONE_DEBUGGER},
    {"lldb", SHORTHAND, NULL, "-wrapper 'lldb --'", ONE_DEBUGGER},
    {"vgdb", SHORTHAND, NULL, "-wrapper 'valgrind --vgdb=yes --vgdb-error=0'", ONE_DEBUGGER},
    {"no-privatize", NO_PRIVATIZE, NULL, "let all ranks share the application's globals", NULL},
    {"background", SETTING, "TRAFFIC",
     "in model packet, background traffic: PATTERN:LOAD[:NODES], such as uniform:0.3 (docs/packet.md)", NULL},
    {"fail", FAIL, "LINK@T[:T2],...", "in model packet, links that go down at T and come back at T2 (simulated s)", NULL},
    {"explain", EXPLAIN, NULL, "with -report: critical path, efficiencies, who sends to whom; print what priced the messages of model analytic", ONE_RUN},
    {"explain=ideal", EXPLAIN_IDEAL, NULL, "the same, and the run on an ideal network afterwards, for serialisation and transfer (docs/summary.md)", ONE_RUN},
    {"what-if", WHAT_IF, "KEY=F,...", "predict the simulated time if F times as fast: compute, software, collectives, nic, latency, link_bw, rank:N, phase:NAME", ONE_RUN},
    {"progress", PROGRESS, NULL, "print how far the run is (SIGUSR1: once)", ONE_RUN},
    {"analyze", ANALYZE, NULL, "report allocations and timings at the end", ONE_RUN},
    {"quiet", QUIET, NULL, "print no table", NULL},
    {"foreground", FOREGROUND, NULL, "", NULL},
    {"bandwidth", UNSUPPORTED, "BANDWIDTH", "", NULL},
    {"latency", UNSUPPORTED, "LATENCY", "", NULL},
    {"help", HELP, NULL, "print this", NULL},
    {"h", HELP, NULL, NULL, NULL},
    {"version", VERSION, NULL, "print the versions of Parfocal and SimGrid", NULL},
    {"v", VERSION, NULL, NULL, NULL},
};
/* clang-format on */

#define MOST_RANKS 10000000
#define FLAG_COUNT (sizeof flags / sizeof flags[0])

/* Column of the text of -help, and where its lines end at the latest. */
enum { HELP_COLUMN = 26, HELP_WIDTH = 100 };

static void print_wrapped(const char *text, int column)
{
    for (;;) {
        size_t length = strlen(text), room = (size_t)(HELP_WIDTH - HELP_COLUMN);
        if (length > room)
            for (length = room; length > 1 && text[length] != ' ';)
                length--;
        printf("%*s%.*s\n", HELP_COLUMN - column, "", (int)length, text);
        if (!text[length])
            return;
        text += length + 1;
        column = 0;
    }
}

static void print_help(void)
{
    fputs("Usage: pfrun -np N [options] ./app [arguments] [: -np N ./app [arguments]]...\n"
          "       pfrun -workload FILE [options]\n"
          "       pfrun -replay TRACE [options]\n"
          "Runs an MPI application that was built with pfcc or pfcxx on a simulated cluster, or a recorded "
          "one.\n"
          "\n",
          stdout);
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        if (!flags[i].help || !*flags[i].help)
            continue;
        int column = 0;
        for (size_t k = i; k == i || (k < FLAG_COUNT && !flags[k].help); k++) {
            const char *value = flags[k].value ? flags[k].value : "";
            column += printf("%s-%s%s%s", k == i ? "  " : ", ", flags[k].name,
                             *value && *value != '=' ? " " : "", value);
        }
        if (column >= HELP_COLUMN - 1) {
            putchar('\n');
            column = 0;
        }
        print_wrapped(flags[i].help, column);
    }
}

static const struct flag_row *find_flag(const char *name)
{
    for (size_t i = 0; i < FLAG_COUNT; i++)
        if (strcmp(flags[i].name, name) == 0)
            return &flags[i];
    return NULL;
}

static void unknown_flag(const char *argument)
{
    const char *names[FLAG_COUNT];
    for (size_t i = 0; i < FLAG_COUNT; i++)
        names[i] = flags[i].name;
    const char *near = pf_nearest_word(argument + strspn(argument, "-"), names, FLAG_COUNT);
    if (near)
        pf_die("unknown option '%s', maybe -%s? (pfrun -help lists all)", argument, near);
    pf_die("unknown option '%s' (pfrun -help lists all)", argument);
}

static void add_simgrid(struct options *options, const char *key, const char *value)
{
    options->simgrid = pf_reallocarray(options->simgrid, (size_t)options->simgrid_count + 1, sizeof(char *));
    options->simgrid[options->simgrid_count++] = pf_asprintf("%s%s", key, value);
}

/* A whole number of ranks; ends the process with one line where `text` is none. */
static int parse_np(const char *text)
{
    char *end;
    errno = 0;
    long np = strtol(text, &end, 10);
    if (end == text || *end || errno || np < 1 || np > MOST_RANKS)
        pf_die("-np needs a whole number of ranks from 1 to %d, not '%s'", MOST_RANKS, text);
    return (int)np;
}

double options_parse_scale(const char *text)
{
    char *end;
    double scale = strtod(text, &end);
    if (end == text || *end || !(scale >= 0 && scale <= 1e9))
        pf_die("-replay-scale needs a number from 0 to 1e9, not '%s'", text);
    return scale;
}

/* The command line wins over the environment; its own traces add up. The formats are checked when the files
 * are opened. */
static void add_trace(const char *text)
{
    static char *all;
    char *longer = pf_asprintf("%s%s%s", all ? all : "", all ? "," : "", text);
    free(all);
    all = longer;
    pf_config_give("-trace", "trace", all);
}

/* FORMAT:FILE. SMPI's own traces with the settings that smpirun gives them; the others are ours. */
static void parse_trace(struct options *options, const char *text)
{
    const char *file = strchr(text, ':');
    bool ti = strncmp(text, "ti:", 3) == 0, smpi = strncmp(text, "smpi:", 5) == 0;
    if (!file || !file[1])
        pf_die("-trace needs FORMAT:FILE, for instance csv:run.csv, not '%s'", text);
    if (strncmp(text, "replay:", 7) == 0) {
        pf_config_give("-trace", "replay_record", file + 1);
        return;
    }
    if (strncmp(text, "prv:", 4) == 0) {
        paraver_expect(file + 1);
        return;
    }
    if (!ti && !smpi) {
        add_trace(text);
        return;
    }
    smpi_trace_expect(file + 1);
    add_simgrid(options, "--cfg=tracing:", "yes");
    add_simgrid(options, "--cfg=tracing/filename:", file + 1);
    add_simgrid(options, "--cfg=tracing/smpi:", "yes");
    if (ti) {
        add_simgrid(options, "--cfg=tracing/smpi/format:", "TI");
        add_simgrid(options, "--cfg=tracing/smpi/computing:", "yes");
    }
}

/* SimGrid's parser ends in a backtrace. It takes CATEGORY.KEY:VALUE, several with blanks between, and any
 * abbreviation of a key. */
static void check_log(const char *argument)
{
    static const char *const keys[] = {"threshold", "additivity", "fmt", "appender"};
    for (const char *text = argument + strlen("--log="); *(text += strspn(text, " "));) {
        size_t length = strcspn(text, " "), category = strcspn(text, ". "), end = strcspn(text, ": ");
        bool known = false;
        for (size_t i = 0; category + 1 < end && i < sizeof keys / sizeof keys[0]; i++)
            known |= strncmp(text + category + 1, keys[i], end - category - 1) == 0;
        if (!known || category == 0 || end + 1 >= length)
            pf_die("'%s': a setting is --log=CATEGORY.KEY:VALUE, for instance --log=root.threshold:warning",
                   argument);
        text += length;
    }
}

/* SimGrid's settings pass through; those named parfocal/... are ours. */
/* What SimGrid takes, and cannot go on with in the middle of the run. */
static void check_cfg(const char *argument)
{
    char why[300];
    const char *colon = strchr(argument, ':');
    if (strncmp(argument, "--cfg=", 6) != 0 || !colon)
        return;
    char *key = pf_strndup(argument + 6, (size_t)(colon - argument - 6));
    if (!pf_setting_simgrid_good(key, colon + 1, why, sizeof why))
        pf_die("--cfg=%s", why);
    free(key);
}

static void parse_cfg(struct options *options, const char *argument)
{
    static const char ours[] = "--cfg=parfocal/";
    if (strncmp(argument, "--log=", 6) == 0)
        check_log(argument);
    if (strncmp(argument, ours, sizeof ours - 1) != 0) {
        if (strncmp(argument, "--cfg=", 6) == 0 && !strchr(argument, ':'))
            pf_die("'%s': a setting is --cfg=KEY:VALUE", argument);
        check_cfg(argument);
        if ((strncmp(argument, "--cfg=contexts/nthreads:", 24) == 0 && strcmp(argument + 24, "1") != 0) ||
            strcmp(argument, "--cfg=contexts/factory:thread") == 0)
            pf_die("'%s': all ranks share one thread here", argument);
        add_simgrid(options, argument, "");
        return;
    }
    char *given = strdup(argument), *colon = given ? strchr(given + sizeof ours - 1, ':') : NULL;
    if (!colon)
        pf_die("'%s': a setting is --cfg=parfocal/KEY:VALUE", argument);
    *colon = 0;
    pf_config_give(given, given + sizeof ours - 1, colon + 1);
    free(given);
}

static void print_version(void)
{
    int major, minor, patch;
    sg_version_get(&major, &minor, &patch);
    printf("pfrun (Parfocal) %s, SimGrid %d.%d.%d\n", PF_VERSION, major, minor, patch);
}

static void set_config(const char *flag, const char *name, const char *value)
{
    char given[32];
    snprintf(given, sizeof given, "-%s", flag);
    pf_config_give(given, name, value);
}

static void analyze(struct options *options)
{
    add_simgrid(options, "--cfg=smpi/display-timing:", "yes");
    add_simgrid(options, "--cfg=smpi/display-allocs:", "yes");
    add_simgrid(options, "--cfg=smpi/list-leaks:", "50");
    add_simgrid(options, "--cfg=smpi/pedantic:", "true");
}

/* Its help is the wrapper that it stands for, in quotes. */
static void use_shorthand(struct options *options, const char *help)
{
    const char *command = strchr(help, '\'') + 1;
    options->wrapper = pf_strndup(command, strlen(command) - 1);
    options->keep_temps = true;
}

static void choose_failure(struct options *options, const char *value)
{
    options->goes_on = strcmp(value, "continue") == 0;
    if (!options->goes_on && strcmp(value, "stop") != 0)
        pf_die("-on-failure needs stop or continue, not '%s'", value);
}

static void apply(struct options *options, const struct flag_row *row, const char *value)
{
    switch (row->flag) {
    case NP:
        options->np = parse_np(value);
        break;
    case APP:
        options->app_file = value;
        break;
    case WORKLOAD:
        options->workload = value;
        break;
    case ON_FAILURE:
        choose_failure(options, value);
        break;
    case PLATFORM:
        options->platform = value;
        break;
    case HOSTFILE:
        options->hostfile = value;
        break;
    case SETTING:
        set_config(row->name, row->name, value);
        break;
    case FAIL:
        set_config(row->name, "net_fail", value);
        break;
    case TRACE:
        parse_trace(options, value);
        break;
    case REPLAY:
        options->replay = value;
        break;
    case REPLAY_SCALE:
        options->replay_scale = options_parse_scale(value);
        break;
    case TMPDIR:
        options->tmpdir = value;
        break;
    case WRAPPER:
        options->wrapper = value;
        break;
    case SHORTHAND:
        use_shorthand(options, row->help);
        break;
    case KEEP_TEMPS:
        options->keep_temps = true;
        break;
    case QUIET:
        options->quiet = true;
        break;
    case MAP:
        options->map = true;
        break;
    case NO_PRIVATIZE:
        options->no_privatize = true;
        break;
    case ANALYZE:
        analyze(options);
        break;
    case EXPLAIN:
        set_config(row->name, "analytic_explain", "yes");
        break;
    case EXPLAIN_IDEAL:
        set_config(row->name, "explain_ideal", "yes");
        break;
    case WHAT_IF:
        set_config(row->name, "what_if", value);
        break;
    case PROGRESS:
        set_config(row->name, "progress", isatty(STDERR_FILENO) ? "0.5" : "10");
        break;
    case UNITS:
    case SAMPLE: /* options_parse() has handed over */
        break;
    case OF_SAMPLE:
        pf_die("-%s is for -sample only", row->name);
    case FOREGROUND:
        break; /* smpirun accepts it and does nothing */
    case HELP:
        print_help();
        exit(0);
    case VERSION:
        print_version();
        exit(0);
    case UNSUPPORTED:
        pf_die("-%s: pfrun does not support this option of smpirun", row->name);
    }
}

static bool is_simgrid(const char *argument)
{
    return strncmp(argument, "--cfg=", 6) == 0 || strncmp(argument, "--log=", 6) == 0;
}

/* The row of an option of the command line; NULL: --cfg or --log. */
static const struct flag_row *row_of(const char *argument)
{
    const struct flag_row *row;
    if (is_simgrid(argument))
        return NULL;
    row = find_flag(argument + (argument[1] == '-' ? 2 : 1));
    if (!row)
        unknown_flag(argument);
    return row;
}

static bool is_option(const char *word)
{
    return word && word[0] == '-' && strcmp(word, "--") != 0;
}

/* The row's value, which is the next word; NULL: it has none. */
static const char *value_of(const struct flag_row *row, char **word)
{
    if (!row->value)
        return NULL;
    if (!word[1])
        pf_die("%s needs a value (pfrun -help describes it)", word[0]);
    if (!*word[1])
        pf_die("%s: its value is empty (leave the option out, or give it one; pfrun -help describes it)",
               word[0]);
    return word[1];
}

/* Adds NAME=VALUE, by the first of the row's names, behind a separator that stands in no argument. */
static void add_given(char **given, const struct flag_row *row, const char *value)
{
    while (!row->help)
        row--;
    char *longer = pf_asprintf("%s%s=%s\036", *given, row->name, value);
    free(*given);
    *given = longer;
}

/* With -sample, another program goes on, which gets the options as they have been read here. */
static void hand_over(char **argv)
{
    const struct flag_row *sample = NULL, *refused = NULL;
    char *given = pf_strdup(""), **word;
    for (word = argv + 1; is_option(*word); word++) {
        const struct flag_row *row = row_of(*word);
        if (!row) { /* --cfg=... or --log=... */
            add_given(&given, find_flag((*word)[2] == 'c' ? "-cfg" : "-log"), *word + strlen("--cfg="));
            continue;
        }
        const char *value = value_of(row, word);
        if (row->flag == HELP || row->flag == VERSION || row->flag == UNSUPPORTED)
            apply(NULL, row, value);
        sample = row->flag == SAMPLE || row->flag == UNITS ? row : sample;
        refused = row->no_sample ? row : refused;
        add_given(&given, row, value ? value : "yes");
        word += value != NULL;
    }
    if (sample && refused)
        pf_die("-%s is not for -sample: %s", refused->name, refused->no_sample);
    if (sample)
        helper_sample(given, argv, (int)(word - argv));
    free(given);
}

/* A program of several: "-np N program arguments". `np` is what stands before the first, `where` begins a
 * message. */
static void add_part(struct options *options, char **words, int count, int np, const char *where)
{
    int i = 0;
    for (; i < count && is_option(words[i]); i += 2) {
        const struct flag_row *row = row_of(words[i]);
        if (row && row->flag == REPLAY)
            pf_die("%s: -replay: a trace is all of a run and cannot be one of its programs", where);
        if (!row || row->flag != NP)
            pf_die("%s: '%s' must come before the first program", where, words[i]);
        np = parse_np(value_of(row, words + i));
    }
    if (i >= count)
        pf_die("%s is missing (-np N ./app [arguments])", where);
    if (!np)
        pf_die(
            "%s, '%s': -np is missing: how many ranks run it? (With -- before the first program, ':' is its "
            "argument)",
            where, words[i]);
    char **app = pf_calloc((size_t)(count - i) + 1, sizeof *app);
    memcpy(app, words + i, (size_t)(count - i) * sizeof *app);
    options->parts = pf_reallocarray(options->parts, (size_t)options->part_count + 1, sizeof *options->parts);
    options->parts[options->part_count++] = (struct part){.np = np, .app = app, .app_argc = count - i};
    options->np += np;
    if (options->np > MOST_RANKS)
        pf_die("%s, '%s': more than %d ranks with it", where, words[i], MOST_RANKS);
}

/* mpirun's "a : -np N b". */
void options_add_programs(struct options *options, char **words, int count, int np, const char *where)
{
    int first = options->part_count;
    for (int at = 0, end = 0; end < count || !at; at = end + 1) {
        char *program =
            pf_asprintf("%s%sprogram %d", where, *where ? ": " : "", options->part_count - first + 1);
        for (end = at; end < count && strcmp(words[end], ":") != 0;)
            end++;
        if (end == at && at)
            pf_die("%s is missing after ':'", program);
        add_part(options, words + at, end - at, np, program);
        free(program);
        np = 0;
    }
}

/* Ends the next word of a line; blanks in quotes, and behind a backslash, belong to it. Where the line goes
 * on; NULL: there was no word. */
static char *cut_word(char *text, char **word, const char *where)
{
    char quote = 0, *out = text += strspn(text, " \t\r\n");
    if (!*text || *text == '#')
        return NULL;
    for (*word = text; *text && (quote || !strchr(" \t\r\n", *text)); text++)
        if (*text == '\\' && text[1] && quote != '\'' &&
            (quote ? strchr("\"\\$`", text[1]) != NULL : text[1] != '\n'))
            *out++ = *++text;
        else if (*text == quote || (!quote && strchr("'\"", *text)))
            quote = quote ? 0 : *text;
        else
            *out++ = *text;
    if (quote)
        pf_die("%s: unclosed %c", where, quote);
    text += *text != 0;
    *out = 0;
    return text;
}

char **options_cut_line(const char *line, int *count, const char *where)
{
    char **words = pf_calloc(strlen(line) + 1, sizeof *words), *rest = pf_strdup(line);
    *count = 0;
    while ((rest = cut_word(rest, &words[*count], where)))
        ++*count;
    return words;
}

/* The file of -app: a program in each line. */
static void read_parts(struct options *options)
{
    char *line = NULL, where[400];
    size_t room = 0;
    FILE *file = fopen(options->app_file, "r");
    if (!file)
        pf_die("-app: cannot read '%s': %s", options->app_file, strerror(errno));
    if (options->np)
        pf_die("-np: the file of -app has these numbers (leave -np out)");
    for (int number = 1; getline(&line, &room, file) > 0; number++) {
        int count;
        snprintf(where, sizeof where, "%s: line %d: the program", options->app_file, number);
        char **words = options_cut_line(line, &count, where);
        if (count)
            add_part(options, words, count, 0, where);
        free(words);
    }
    free(line);
    fclose(file);
    if (!options->part_count)
        pf_die("-app: the file '%s' names no program", options->app_file);
}

/* What is run, from the words that no option takes. */
static void choose_programs(struct options *options, char **words, bool colons)
{
    if (options->replay && (options->app_file || *words))
        pf_die("-replay: a trace is played instead of a program, and there is '%s'",
               options->app_file ? options->app_file : *words);
    if (options->replay && options->workload)
        pf_die("-replay: a trace is played instead of the jobs of -workload");
    if (options->replay)
        return;
    if (options->workload && (options->app_file || options->np || *words))
        pf_die("-workload: the file has all programs and numbers of ranks, and there is '%s'",
               options->app_file ? "-app"
               : options->np     ? "-np"
                                 : *words);
    if (options->workload)
        return;
    if (options->goes_on)
        pf_die("-on-failure is for -workload only");
    if (options->app_file && *words)
        pf_die("-app: the file names all programs, and there is '%s'", *words);
    if (options->app_file) {
        read_parts(options);
        return;
    }
    if (!*words)
        pf_die("no application given (usage: pfrun -np N [options] ./app [arguments])");
    options->rest = words;
    for (char **word = words; *word && colons; word++)
        if (strcmp(*word, ":") == 0) {
            int np = options->np, count = 0;
            while (words[count])
                count++;
            options->np = 0;
            options_add_programs(options, words, count, np, "");
            return;
        }
    options->parts = pf_calloc(1, sizeof *options->parts);
    options->part_count = 1;
    options->parts[0] = (struct part){.np = options->np, .app = words};
    while (words[options->parts[0].app_argc])
        options->parts[0].app_argc++;
}

void options_parse(struct options *options, int argc, char **argv)
{
    int i = 1;
    hand_over(argv);
    options->replay_scale = -1;
    for (; is_option(argv[i]); i++) {
        const struct flag_row *row = row_of(argv[i]);
        if (!row) {
            parse_cfg(options, argv[i]);
            continue;
        }
        apply(options, row, value_of(row, argv + i));
        i += row->value != NULL;
    }
    bool dashes = i < argc && strcmp(argv[i], "--") == 0;
    if (options->replay_scale >= 0 && !options->replay)
        pf_die("-replay-scale is for -replay only");
    choose_programs(options, argv + i + dashes, !dashes);
}

static bool is_wrapper(const struct flag_row *row)
{
    return row && (row->flag == WRAPPER || row->flag == SHORTHAND);
}

char **options_without_wrapper(int argc, char **argv)
{
    char **result = pf_calloc((size_t)argc + 2, sizeof *result);
    int n = 0, i = 1;
    result[n++] = argv[0];
    for (; is_option(argv[i]); i++) {
        const struct flag_row *row = row_of(argv[i]);
        if (is_wrapper(row)) {
            i += row->value != NULL;
            continue;
        }
        result[n++] = argv[i];
        if (row && row->value)
            result[n++] = argv[++i];
    }
    while (i < argc)
        result[n++] = argv[i++];
    return result;
}
