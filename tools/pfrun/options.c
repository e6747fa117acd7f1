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
#include "tools/pfrun/beside.h"
#include "tools/pfrun/smpi_trace.h"

/* smpirun takes each flag with one dash; two are accepted as well. They are read by hand because
 * getopt_long_only would take abbreviations, and "-np=4", unless each is compared again, and would move the
 * optind of the C library that the application's ranks share. */
enum flag {
    NP,
    PLATFORM,
    HOSTFILE,
    MODEL,
    SCHEDULE,
    AGREE,
    LOAD,
    MACHINE,
    CALIBRATED,
    TRACE,
    REPORT,
    TMPDIR,
    WRAPPER,
    GDB,
    VGDB,
    LLDB,
    KEEP_TEMPS,
    QUIET,
    MAP,
    NO_PRIVATIZE,
    ANALYZE,
    EXPLAIN,
    BACKGROUND,
    FAIL,
    REPLAY,
    REPLAY_SCALE,
    PROGRESS,
    FOREGROUND,
    SAMPLE,
    OF_SAMPLE,
    HELP,
    VERSION,
    UNSUPPORTED
};

static const struct flag_row {
    const char *name;
    enum flag flag;
    bool value;
} flags[] = {
    {"np", NP, true},
    {"n", NP, true},
    {"platform", PLATFORM, true},
    {"hostfile", HOSTFILE, true},
    {"machinefile", HOSTFILE, true},
    {"model", MODEL, true},
    {"schedule", SCHEDULE, true},
    {"agree", AGREE, true},
    {"load", LOAD, true},
    {"machine", MACHINE, true},
    {"calibrated", CALIBRATED, true},
    {"trace", TRACE, true},
    {"report", REPORT, true},
    {"tmpdir", TMPDIR, true},
    {"wrapper", WRAPPER, true},
    {"gdb", GDB, false},
    {"vgdb", VGDB, false},
    {"lldb", LLDB, false},
    {"keep-temps", KEEP_TEMPS, false},
    {"quiet", QUIET, false},
    {"map", MAP, false},
    {"no-privatize", NO_PRIVATIZE, false},
    {"analyze", ANALYZE, false},
    {"explain", EXPLAIN, false},
    {"background", BACKGROUND, true},
    {"fail", FAIL, true},
    {"progress", PROGRESS, false},
    {"foreground", FOREGROUND, false},
    {"help", HELP, false},
    {"h", HELP, false},
    {"version", VERSION, false},
    {"v", VERSION, false},
    {"sample", SAMPLE, true},
    {"fine", OF_SAMPLE, true},
    {"cheap", OF_SAMPLE, true},
    {"budget", OF_SAMPLE, true},
    {"verify", OF_SAMPLE, false},
    {"jobs", OF_SAMPLE, true},
    {"seed", OF_SAMPLE, true},
    {"by", OF_SAMPLE, true},
    {"iterations", OF_SAMPLE, true},
    {"slurm", OF_SAMPLE, false},
    {"partition", OF_SAMPLE, true},
    {"sbatch", OF_SAMPLE, true},
    {"replay", REPLAY, true},
    {"replay-scale", REPLAY_SCALE, true},
    {"bandwidth", UNSUPPORTED, true},
    {"latency", UNSUPPORTED, true},
};

#define FLAG_COUNT (sizeof flags / sizeof flags[0])

static const char help_text[] =
    "Usage: pfrun -np N [options] ./app [arguments]\n"
    "       pfrun -replay TRACE [options]\n"
    "Runs an MPI application that was built with pfcc or pfcxx on a simulated cluster, or a recorded one.\n"
    "\n"
    "  -np N, -n N             number of ranks (default: all entries of the hostfile)\n"
    "  -platform FILE|NAME     SimGrid platform, or a built-in one: fattree, star, torus, dragonfly,\n"
    "                          each with optional :HOSTS (default: fattree; see pfinfo --platform)\n"
    "  -machine NAME|FILE      machine that is simulated: it sets the platform, the network and the NIC, but "
    "not "
    "what\n"
    "                          is given otherwise (pfinfo --machine lists them)\n"
    "  -calibrated FILE        settings of SimGrid that bring model smpi near to a finer model (pfinfo "
    "--fit)\n"
    "  -hostfile FILE          one host per line: 'host', 'host:4' or 'host slots=4' (also: -machinefile)\n"
    "  -model M                model in force at the start (default: smpi; pfinfo lists the models)\n"
    "  -schedule S             which phase runs in which model: PHASE=MODEL,@start=MODEL,@coll:N=MODEL,\n"
    "                          @time:T=MODEL,every:K=M1|M2; or the name of a file that says so\n"
    "  -agree follow|strict    both sides of a message in one model: the second follows the first "
    "(default),\n"
    "                          or the run ends with a diagnosis\n"
    "  -load M,...             load these models at start\n"
    "  -report DIR             write DIR/summary.json and print the table of phases\n"
    "  -trace FORMAT:FILE      trace of MPI calls, switches and simulated NICs: csv, paje, chrome, otf2, or "
    "a\n"
    "                          sequence diagram: text, svg; for -replay: replay; trace of SMPI: smpi\n"
    "                          (Paje), ti (time independent). May be repeated\n"
    "  -replay TRACE           run what was recorded instead of a program: files of SMPI's time-independent\n"
    "                          format, of -trace replay:FILE and of pfinfo --record-program=calls,\n"
    "                          OTF2, GOAL (docs/replay.md)\n"
    "  -replay-scale F         its computation takes F times as long (default: 1)\n"
    "  -sample GOAL            the simulated time of the whole run in a fine model, from a sample of its "
    "iterations,\n"
    "                          with an interval of 95 %; GOAL: its half-width, such as 2% "
    "(docs/sampling.md)\n"
    "  -fine M, -cheap M       models of -sample (default: the finest and the cheapest)\n"
    "  -budget P               most of the run that -sample simulates in the fine model (default: 10%)\n"
    "  -iterations N           that the program makes: -sample stops it when all that come are known\n"
    "  -verify                 after -sample, run all in the fine model: the true error, and how often\n"
    "                          other samples' intervals hold\n"
    "  -seed N                 of -sample's random places (default: 1)\n"
    "  -by run|fork|again      windows of -sample in one mixed run (default), as copies of one run, or in "
    "runs "
    "of\n"
    "                          their own\n"
    "  -jobs N                 so many copies or runs at a time\n"
    "  -slurm                  runs of their own as jobs of Slurm; -partition NAME, -sbatch OPTION go to "
    "sbatch\n"
    "  --cfg=KEY:VALUE         setting of SimGrid, or of Parfocal as parfocal/KEY:VALUE (pfinfo -c lists "
    "them)\n"
    "  --log=SETTING           logging of SimGrid\n"
    "  -map                    print on which host each rank runs\n"
    "  -tmpdir DIR             where temporary files go (default: $TMPDIR, else /tmp)\n"
    "  -keep-temps             keep them\n"
    "  -wrapper COMMAND        run under COMMAND; -gdb, -lldb and -vgdb are shorthands\n"
    "  -no-privatize           let all ranks share the application's globals\n"
    "  -background TRAFFIC     in model packet, traffic beside the program: PATTERN:LOAD[:NODES], such as\n"
    "                          uniform:0.3 or hotspot:0:0.5:8-15 (docs/packet.md)\n"
    "  -fail LINK@T[:T2],...   in model packet, links that go down at T and come back at T2 (simulated s)\n"
    "  -explain                print which formulae and parameters priced the messages of model analytic\n"
    "  -progress               say how far the run is, in one line that is refreshed (SIGUSR1 does it once)\n"
    "  -analyze                report allocations and timings at the end\n"
    "  -quiet                  no table\n"
    "  -help, -version\n";

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

static int parse_np(const char *text)
{
    char *end;
    errno = 0;
    long np = strtol(text, &end, 10);
    if (end == text || *end || errno || np < 1 || np > 10000000)
        pf_die("-np needs a whole number of ranks from 1 to 10000000, not '%s'", text);
    return (int)np;
}

static double parse_scale(const char *text)
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
static void parse_cfg(struct options *options, const char *argument)
{
    static const char ours[] = "--cfg=parfocal/";
    if (strncmp(argument, "--log=", 6) == 0)
        check_log(argument);
    if (strncmp(argument, ours, sizeof ours - 1) != 0) {
        if (strncmp(argument, "--cfg=", 6) == 0 && !strchr(argument, ':'))
            pf_die("'%s': a setting is --cfg=KEY:VALUE", argument);
        if (strncmp(argument, "--cfg=contexts/nthreads:", 24) == 0 && strcmp(argument + 24, "1") != 0)
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

static void use_wrapper(struct options *options, const char *command)
{
    options->wrapper = command;
    options->keep_temps = true;
}

static void apply(struct options *options, const struct flag_row *row, const char *value)
{
    switch (row->flag) {
    case NP:
        options->np = parse_np(value);
        break;
    case PLATFORM:
        options->platform = value;
        break;
    case HOSTFILE:
        options->hostfile = value;
        break;
    case MODEL:
    case SCHEDULE:
    case AGREE:
    case LOAD:
    case MACHINE:
    case CALIBRATED:
    case REPORT:
    case BACKGROUND:
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
        options->replay_scale = parse_scale(value);
        break;
    case TMPDIR:
        options->tmpdir = value;
        break;
    case WRAPPER:
        options->wrapper = value;
        break;
    case GDB:
        use_wrapper(options, "gdb --args");
        break;
    case LLDB:
        use_wrapper(options, "lldb --");
        break;
    case VGDB:
        use_wrapper(options, "valgrind --vgdb=yes --vgdb-error=0");
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
    case PROGRESS:
        set_config(row->name, "progress", isatty(STDERR_FILENO) ? "0.5" : "10");
        break;
    case SAMPLE: /* options_parse() has handed over */
        break;
    case OF_SAMPLE:
        pf_die("-%s is for -sample only", row->name);
    case FOREGROUND:
        break; /* smpirun accepts it and does nothing */
    case HELP:
        fputs(help_text, stdout);
        exit(0);
    case VERSION:
        print_version();
        exit(0);
    case UNSUPPORTED:
        pf_die("-%s: smpirun has this option, pfrun has not", row->name);
    }
}

static bool is_simgrid(const char *argument)
{
    return strncmp(argument, "--cfg=", 6) == 0 || strncmp(argument, "--log=", 6) == 0;
}

/* mpirun's "a : -np 2 b". A colon alone may be an argument of the application. */
static void refuse_several(char **application)
{
    for (char **word = application; word[0] && word[1]; word++)
        if (strcmp(word[0], ":") == 0 && word[1][0] == '-' && find_flag(word[1] + 1))
            pf_die("': %s' begins a second program; pfrun runs one program in all ranks", word[1]);
}

/* How many words of the command line a flag takes. */
static int words_of(const char *argument)
{
    const struct flag_row *row =
        is_simgrid(argument) ? NULL : find_flag(argument + (argument[1] == '-' ? 2 : 1));
    return row && row->value ? 2 : 1;
}

void options_parse(struct options *options, int argc, char **argv)
{
    int i = 1;
    beside_hand_over(argv, words_of);
    options->replay_scale = -1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (is_simgrid(argv[i])) {
            parse_cfg(options, argv[i]);
            continue;
        }
        const struct flag_row *row = find_flag(argv[i] + (argv[i][1] == '-' ? 2 : 1));
        if (!row)
            unknown_flag(argv[i]);
        if (row->value && i + 1 == argc)
            pf_die("%s needs a value (pfrun -help says which)", argv[i]);
        apply(options, row, row->value ? argv[i + 1] : NULL);
        i += row->value;
    }
    if (options->replay_scale >= 0 && !options->replay)
        pf_die("-replay-scale is for -replay only");
    if (options->replay && i < argc)
        pf_die("-replay: a trace is played instead of a program, and '%s' is one", argv[i]);
    if (options->replay)
        return;
    if (i >= argc)
        pf_die("no application given (usage: pfrun -np N [options] ./app [arguments])");
    refuse_several(argv + i);
    options->app = argv + i;
    options->app_argc = argc - i;
}

static bool is_wrapper(const struct flag_row *row)
{
    return row && (row->flag == WRAPPER || row->flag == GDB || row->flag == LLDB || row->flag == VGDB);
}

char **options_without_wrapper(int argc, char **argv)
{
    char **result = pf_calloc((size_t)argc + 2, sizeof *result);
    int n = 0, i = 1;
    result[n++] = argv[0];
    for (; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
        const struct flag_row *row =
            is_simgrid(argv[i]) ? NULL : find_flag(argv[i] + (argv[i][1] == '-' ? 2 : 1));
        if (is_wrapper(row)) {
            i += row->value;
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
