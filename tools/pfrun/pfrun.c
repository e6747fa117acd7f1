/* SPDX-License-Identifier: BSD-3-Clause */
/* pfrun: runs an MPI program in one process on a simulated machine. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <simgrid/host.h>
#include <xbt/config.h>

#include "base/config.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/streams.h"
#include "lowlevel/network/external/external.h"
#include "lowlevel/network/packet/described.h"
#include "lowlevel/network/packet/report.h"
#include "lowlevel/platform/builtin.h"
#include "lowlevel/platform/load.h"
#include "lowlevel/trace/trace.h"
#include "middleware/account/accounting.h"
#include "middleware/core/job_programs.h"
#include "middleware/summary/jobs.h"
#include "middleware/summary/live.h"
#include "middleware/summary/summary.h"
#include "middleware/check/check.h"
#include "middleware/observing/start.h"
#include "middleware/process/abi.h"
#include "middleware/process/job.h"
#include "middleware/process/libc_openmp.h"
#include "middleware/process/private.h"
#include "middleware/sampling/sampling.h"
#include "tools/pfrun/checks.h"
#include "tools/pfrun/engine.h"
#include "tools/pfrun/hosts.h"
#include "tools/pfrun/ideal.h"
#include "tools/pfrun/libtool.h"
#include "tools/pfrun/options.h"
#include "tools/pfrun/paraver.h"
#include "tools/pfrun/python.h"
#include "tools/pfrun/r.h"
#include "tools/pfrun/replay.h"
#include "tools/pfrun/sanitize.h"
#include "tools/pfrun/script.h"
#include "tools/pfrun/signals.h"
#include "tools/pfrun/smpi_trace.h"
#include "tools/pfrun/workdir.h"
#include "tools/pfrun/workload.h"

/*
 * The launcher: a small main() around SMPI's own smpi_main(), which loads one private copy of the application
 * per rank. It gives SMPI the arguments that smpirun would give, so that simulated times are the same.
 */

static struct {
    struct options options;
    struct hosts hosts;
    const char *platform; /* as the user named it */
    struct pf_job_program *programs;
    struct binary_facts *facts;             /* of each */
    char *names;                            /* of all, "a : b" */
    const char *sanitizer;                  /* that one of them was built with, "" */
    const struct pf_setting_file *files[2]; /* machine and calibration; NULL: none */
    const char *loaded;                     /* the file that SMPI loads: the only program, or our loader */
    char **argv;                            /* smpi_main's */
    int argc, capacity;
    unsigned models;      /* that the command line and the schedule name, one bit for each */
    bool needs_simulator; /* in another process */
    bool plays_alone;     /* one actor plays a trace, in which all ranks are */
    char **arguments;     /* main's */
    int np;               /* 0 until the platform says how many hosts there are */
} run;

static void add_argument(char *argument)
{
    PF_ARRAY_ROOM(run.argv, run.capacity, run.argc + 1 + 1);
    run.argv[run.argc++] = argument;
    run.argv[run.argc] = NULL;
}

static void run_wrapper(int argc, char **argv)
{
    char *own = realpath("/proc/self/exe", NULL);
    char **inner = options_without_wrapper(argc, argv);
    if (!own)
        pf_die("cannot find pfrun itself: %s", strerror(errno));
    inner[0] = own;
    char *command = pf_strdup(run.options.wrapper), *save;
    for (char *word = strtok_r(command, " ", &save); word; word = strtok_r(NULL, " ", &save))
        add_argument(word);
    const char *program = run.argc > 0 ? run.argv[0] : NULL;
    if (!program)
        pf_die("-wrapper: the command is empty");
    add_argument(*inner++);
    if (run.options.keep_temps)
        add_argument("-keep-temps"); /* a debugger wants to read the copies */
    for (; *inner; inner++)
        add_argument(*inner);
    execvp(program, run.argv);
    pf_die("-wrapper: cannot run '%s': %s", program, strerror(errno));
}

/* SimGrid's file says nothing of routers. */
static void describe_network(int hosts)
{
    char text[160], error[300];
    struct pf_fabric_speeds links;
    if (!pf_platform_builtin_fabric(run.platform, hosts, text, sizeof text, &links, error, sizeof error))
        pf_die("%s", error);
    pf_network_describe(text, &links);
}

/* Without -platform, one of the configuration; a name that is no file may be a built-in platform, which is
 * then written to a file, since a file is what SMPI reads. */
static char *platform_file(void)
{
    char error[300];
    struct stat info;
    const char *given = run.options.platform ? "-platform" : pf_config_given("platform");
    run.platform = run.options.platform ? run.options.platform : pf_config.platform;
    if (stat(run.platform, &info) == 0 && S_ISDIR(info.st_mode))
        pf_die("%s: '%s' is a directory, and must be a file or a built-in platform", given, run.platform);
    if (access(run.platform, R_OK) == 0)
        return pf_strdup(run.platform);
    if (!pf_fabric_is_kind(run.platform))
        pf_die("%s: '%s' is neither a readable file nor a built-in platform (pfinfo --platform lists them)",
               given, run.platform);
    int hosts = run.hosts.count ? run.hosts.count : run.options.np;
    if (run.options.workload)
        hosts = workload_hosts();
    if (!hosts && !strchr(run.platform, ':'))
        pf_die("-np is missing: how many ranks?");
    char *file = pf_asprintf("%s/platform.xml", workdir_name());
    FILE *out = fopen(file, "w");
    if (!out)
        pf_die("cannot write '%s': %s", file, strerror(errno));
    if (!pf_platform_builtin_write(run.platform, hosts, out, error, sizeof error))
        pf_die("%s: %s", given, error);
    if (fclose(out) != 0)
        pf_die("cannot write '%s': %s", file, strerror(errno));
    describe_network(hosts);
    return file;
}

static void read_hostfile(void)
{
    if (!run.options.hostfile)
        return;
    hosts_read(&run.hosts, run.options.hostfile);
    if (run.options.np > run.hosts.count)
        pf_die("-np %d is more than the hostfile '%s' allows: %d (add hosts, or slots as in 'host:4')",
               run.options.np, run.options.hostfile, run.hosts.count);
}

static bool given_to_simgrid(const char *setting)
{
    static const char option[] = "--cfg=";
    for (int i = 0; i < run.options.simgrid_count; i++)
        if (strncmp(run.options.simgrid[i], option, sizeof option - 1) == 0 &&
            strncmp(run.options.simgrid[i] + sizeof option - 1, setting, strlen(setting)) == 0)
            return true;
    return false;
}

/* The user asks SMPI to copy libraries, such as the one of a Fortran compiler. */
static bool privatizes_libraries(void)
{
    return given_to_simgrid("smpi/privatize-libs:");
}

/* The middleware loads the application, unless the user asks for SMPI's ways. */
static void choose_loader(void)
{
    const char *privatization = getenv("SMPI_PRIVATIZATION");
    const char *loader = NULL;
    /* A debugger, and the sanitizer for its reports. */
    bool read_later = run.options.keep_temps || *run.sanitizer, others = false;
    bool by_smpi = (privatization && *privatization) || given_to_simgrid("smpi/privatization:");
    int count = run.options.part_count;
    const struct pf_private_kind **kinds = pf_calloc((size_t)count, sizeof *kinds);
    for (int i = 0; i < count; i++) {
        kinds[i] = run.facts[i].abi ? &pf_abi_programs : run.facts[i].openmpi ? &pf_openmpi_programs : NULL;
        others |= kinds[i] != NULL;
    }
    if (others || (!run.options.no_privatize && !privatizes_libraries()))
        loader = pf_private_prepare(kinds, workdir_name(), read_later, by_smpi);
    else if (count > 1)
        pf_die("%s is for one program, and there are %d",
               run.options.no_privatize ? "-no-privatize" : "smpi/privatize-libs", count);
    free(kinds);
    run.loaded = loader ? loader : run.programs[0].path;
    if (run.options.no_privatize || loader)
        add_argument("--cfg=smpi/privatization:no");
    else
        add_argument(pf_asprintf("--cfg=smpi/privatization:%s",
                                 privatization && *privatization ? privatization : "1"));
}

/* SimGrid takes the last of several: a calibration wins over a machine, the command line over both. */
static void add_settings_of_files(void)
{
    for (size_t i = 0; i < sizeof run.files / sizeof run.files[0]; i++)
        for (size_t k = 0; run.files[i] && k < run.files[i]->count; k++)
            if (pf_setting_is_simgrid(&run.files[i]->settings[k]))
                add_argument(pf_asprintf("--cfg=%s:%s", run.files[i]->settings[k].key,
                                         run.files[i]->settings[k].value));
}

/* SimGrid says what it refuses, but not always which setting, and never the line of the file that holds it.
 */
static _Noreturn void refuse_setting(const char *error)
{
    for (size_t i = 0; i < sizeof run.files / sizeof run.files[0]; i++)
        for (size_t k = 0; run.files[i] && k < run.files[i]->count; k++) {
            const struct pf_setting *setting = &run.files[i]->settings[k];
            if (pf_setting_is_simgrid(setting) && !engine_takes(setting->key, setting->value))
                pf_die("%s: SimGrid: %s", setting->where, error);
        }
    pf_die("SimGrid: %s", error);
}

/* Whether the user says how much SimGrid logs: SMPI's own note on the speed of this machine, or none. */
static bool sets_logs(void)
{
    for (int i = 0; i < run.options.simgrid_count; i++)
        if (strncmp(run.options.simgrid[i], "--log=", 6) == 0 && strstr(run.options.simgrid[i], ".thre"))
            return true;
    return false;
}

/* The same settings in the same order as smpirun. */
static void settings_for_smpi(void)
{
    add_argument(pf_strdup(run.programs[0].path));
    choose_loader();
    if (run.options.map)
        add_argument("--cfg=smpi/map:1");
    add_argument(pf_asprintf("--cfg=smpi/np:%d", run.plays_alone ? 1 : run.options.np));
    add_argument("--cfg=surf/precision:1e-9");
    add_argument("--cfg=network/model:SMPI");
    if (run.options.keep_temps)
        add_argument("--cfg=smpi/keep-temps:yes");
    if (dlsym(RTLD_DEFAULT,
              "jump_fcontext")) /* these contexts keep a rank's rounding mode and traps its own */
        add_argument("--cfg=contexts/factory:boost");
    add_argument("--log=xbt_cfg.thres:warning"); /* the settings above need no echo */
    /* What SimGrid says at a deadlock, on_deadlock() says in the words of MPI. */
    add_argument("--log=ker_engine.app:file:/dev/null");
    add_argument("--log=ker_engine.add:0");
    if (!sets_logs())
        add_argument("--log=smpi_config.thres:warning"); /* note_speed() says it */
    add_settings_of_files();
    for (int i = 0; i < run.options.simgrid_count; i++)
        add_argument(run.options.simgrid[i]);
}

/* Where nothing is measured, the speed of this machine has no meaning. */
static void note_speed(void)
{
    bool measures = !run.options.replay && sg_cfg_get_boolean("smpi/simulate-computation") &&
                    !*pf_config.computation_replay;
    if (engine_lacks_speed() && measures && !run.options.quiet && !sets_logs())
        fprintf(stderr,
                "parfocal: note: computation takes next to no simulated time, because the speed of this "
                "machine is not set (--cfg=smpi/host-speed:1Gf, or --cfg=smpi/simulate-computation:no)\n");
}

/* Names of files are set when SimGrid has read its arguments, in which a space would end them. SMPI asks for
 * these two when the platform is there. */
static void set_files(void)
{
    sg_cfg_set_string("smpi/tmpdir", workdir_name());
    if (run.hosts.count) {
        char *hostfile = pf_asprintf("%s/hostfile", workdir_name());
        hosts_write(&run.hosts, hostfile);
        sg_cfg_set_string("smpi/hostfile", hostfile);
        free(hostfile);
    }
}

/* Hosts of built-in platforms have other names since this version: the old ones are replaced. */
static void check_hosts(void)
{
    bool built_in = pf_fabric_is_kind(run.platform), warned = false;
    for (int i = 0; i < run.hosts.count; i++) {
        char **name = &run.hosts.names[i], now[40];
        if (sg_host_by_name(*name))
            continue;
        if (!built_in || !pf_platform_builtin_renamed(*name, (long)sg_host_count(), now, sizeof now))
            pf_die("%s: line %d: the platform '%s' has no host '%s'", run.options.hostfile,
                   run.hosts.lines[i], run.platform, *name);
        if (!warned)
            pf_warn("%s: line %d: host '%s' is now called '%s', and so on; the next version refuses the old "
                    "names",
                    run.options.hostfile, run.hosts.lines[i], *name, now);
        warned = true;
        free(*name);
        *name = pf_strdup(now);
    }
}

static void on_platform(void)
{
    signals_check();
    replay_choose_time();
    signals_install();
    check_hosts();
    if (run.options.workload) {
        workload_place(&run.hosts, run.platform);
        pf_summary_set_hosts(run.hosts.names);
        pf_network_keep_hosts();
    }
    set_files();
    if (run.options.replay)
        replay_place(&run.hosts);
    run.np = run.options.np ? run.options.np : run.hosts.count;
    if (!run.np)
        run.np = (int)sg_host_count();
    if (run.np > (int)sg_host_count() && !run.hosts.count)
        pf_warn("%d ranks on the %d hosts of the platform '%s': some share a host (-hostfile assigns "
                "them)",
                run.np, (int)sg_host_count(), run.platform);
    check_limits(run.plays_alone ? 1 : run.np, run.models, workdir_name());
    pf_summary_set_job(run.np, run.names, run.platform);
    if (run.needs_simulator)
        pf_external_open();
    if (pf_job_prepare(run.np) != 0)
        pf_end_process(1);
    signals_watch_exit();
}

/* What was written for SimGrid has been read. Copies of the program would still need the directory; without
 * them not even a run that is killed leaves anything. */
static void on_begin(void)
{
    signals_check();
    if (pf_private_in_image(run.np))
        workdir_remove();
}

/* The system keeps eight bits. */
static int exit_status(int status)
{
    return status && !(status & 0xff) ? 1 : status;
}

/* What follows the simulation; the status to be. */
static int conclude(int status)
{
    pf_flush_all();
    pf_job_report_schedule(stderr);
    pf_trace_finish();
    pf_recording_finish();
    paraver_write();
    ideal_run();
    bool sampled = pf_sampling_finish();
    pf_openmp_warn();
    status = pf_job_finish(status);
    if (!(smpi_trace_complete() && sampled) && status == 0)
        status = 1;
    workdir_remove();
    pf_flush_all();
    return status;
}

static void on_deadlock(void)
{
    replay_stuck();
    if (pf_job_print_unfinished(stderr) == 0) /* only ranks of jobs that were stopped are left */
        pf_end_process(conclude(exit_status(pf_job_failed_status())));
    pf_flush_all();
    fprintf(stderr, "parfocal: error: deadlock at simulated time %.9g s: no rank can go on\n",
            engine_clock());
    pf_job_print_uninitialized(stderr);
    pf_end_because("deadlock at simulated time %.9g s", engine_clock());
    replay_print_places(stderr);
    /* A rank that has left with an error is the reason more likely than not. */
    int status = exit_status(pf_job_left_status());
    pf_check_stuck();
    pf_end_process(status ? status : 1);
}

static int simulate(void)
{
    const char *error = NULL;
    engine_watch(note_speed, on_begin, signals_check, on_deadlock);
    signals_check();
    pf_live_start();
    int status = engine_run(run.loaded, run.argc, run.argv, &error);
    signals_unwatch_exit();
    if (error)
        refuse_setting(error);
    return exit_status(status);
}

/* The temporary directory. When SMPI copies shared libraries, the dynamic linker must look there from the
 * start of the process, hence a second start. */
static void make_workdir(char **argv)
{
    if (workdir_adopt())
        return;
    const char *base = run.options.tmpdir ? run.options.tmpdir : getenv("TMPDIR");
    const char *name = workdir_make(base && *base ? base : "/tmp");
    if (!privatizes_libraries())
        return;
    const char *path = getenv("LD_LIBRARY_PATH");
    setenv("LD_LIBRARY_PATH", pf_asprintf("%s%s%s", name, path && *path ? ":" : "", path ? path : ""), 1);
    workdir_hand_over();
    execv("/proc/self/exe", argv);
    pf_die("cannot start pfrun again: %s", strerror(errno));
}

static void start_again(void)
{
    workdir_remove();
    execv("/proc/self/exe", run.arguments);
    pf_die("cannot start pfrun again: %s", strerror(errno));
}

/* Of some interpreters the command is a script itself. */
static void prepare_interpreter(struct part *part)
{
    r_prepare(part);
    python_prepare(part);
    if (!script_prepare(part))
        return;
    r_prepare(part);
    python_prepare(part);
}

static void check_programs(void)
{
    size_t count = (size_t)run.options.part_count;
    run.programs = pf_calloc(count, sizeof *run.programs);
    run.facts = pf_calloc(count, sizeof *run.facts);
    run.sanitizer = "";
    for (size_t i = 0; i < count; i++) {
        const struct part *part = &run.options.parts[i];
        run.programs[i] = (struct pf_job_program){.path = check_application(part->app[0], &run.facts[i]),
                                                  .ranks = part->np,
                                                  .argc = part->app_argc,
                                                  .argv = part->app};
        run.sanitizer = *run.facts[i].sanitizer ? run.facts[i].sanitizer : run.sanitizer;
        run.names = pf_asprintf("%s%s%s", i ? run.names : "", i ? " : " : "",
                                part->shown ? part->shown : run.programs[i].path);
    }
    pf_job_programs_set(run.programs, (int)count);
}

static void prepare(int argc, char **argv)
{
    run.arguments = argv;
    pf_config_load();
    options_parse(&run.options, argc, argv);
    if (run.options.wrapper)
        run_wrapper(argc, argv);
    if (run.options.workload)
        workload_read(&run.options);
    run.files[0] = pf_machine_apply();
    run.files[1] = pf_calibration_read();
    /* Before the application is loaded. */
    if (pf_config.count_calls)
        pf_counting_start();
    if (pf_config.check)
        pf_check_enable();
    if (run.options.replay)
        replay_prepare(&run.options);
    else if (*pf_config.replay_loggops)
        pf_die("%s is for -replay only", pf_config_given("replay_loggops"));
    for (int i = 0; !run.options.replay && i < run.options.part_count; i++)
        prepare_interpreter(&run.options.parts[i]);
    if (run.options.rest)
        libtool_run_script(*run.options.rest, argc, argv, run.options.rest);
    check_programs();
    workload_begin(&run.options);
    sanitize_start_again(run.sanitizer, argv);
    run.models = check_models();
    run.needs_simulator = check_networks(run.models);
    check_report();
    check_folders();
    if (*pf_config.report && !run.options.quiet)
        pf_config.table = true;
    read_hostfile();
    if (run.options.replay)
        run.plays_alone = replay_open(&run.options, run.models, start_again);
    signals_install();
    pf_summary_set_job(run.options.np, run.names, run.options.platform);
    pf_job_watch_end();
    make_workdir(argv);
    pf_trace_open();
    if (*pf_config.what_if && !*pf_config.report && !*pf_config.summary && !pf_config.table)
        pf_warn("%s has no effect without -report DIR", pf_config_given("what_if"));
    if (pf_config.explain_ideal)
        ideal_expect(&run.options);
    pf_recording_start();
    pf_tracing_start();
    pf_sampling_start();
    if (run.options.keep_temps)
        workdir_keep();
    char *platform = platform_file(), *stand_in = pf_asprintf("%s/platform.so", workdir_name());
    pf_external_set_platform(platform);
    pf_platform_stand_in(stand_in, platform, on_platform);
    char np[16];
    snprintf(np, sizeof np, "%d", run.options.np);
    setenv("SMPI_GLOBAL_SIZE", np, 1); /* smpirun sets it, applications use it */
    /* Threads that spin while they wait take the processor from the one thread in which all ranks run, and
     * spinning of the rank's own would be charged as its computation. */
    setenv("OMP_WAIT_POLICY", "passive", 0);
    setenv("OMP_NUM_THREADS", "1",
           0); /* as by mpirun's default, which binds a rank to one core; BLAS reads it, too */
    setenv("SCOTCH_PTHREAD_NUMBER", "1",
           0); /* PT-SCOTCH 7.0.3 calls MPI from its threads, whatever their level */
    settings_for_smpi();
    add_argument(stand_in); /* and no arguments of the programs, of which SimGrid would take some */
}

int main(int argc, char **argv)
{
    pf_account_start();
    argv = libtool_arguments(&argc, argv);
    pf_summary_set_command(argc, argv);
    prepare(argc, argv);
    return conclude(pf_check_status(simulate()));
}
