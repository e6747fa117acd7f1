/* SPDX-License-Identifier: BSD-3-Clause */
/* pfinfo: what this installation can do, its settings and platforms. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xbt/base.h>

#include <simgrid/version.h>

#include "adapters/analytic/coll/coll.h"
#include "adapters/analytic/cost/cost.h"
#include "base/config.h"
#include "base/error.h"
#include "base/helper.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/machine.h"
#include "lowlevel/platform/builtin.h"
#include "adapters/model.h"
#include "tools/pfinfo/commands.h"

/* Number of hosts of a printed platform whose name says none. */
#define DEFAULT_HOSTS 16

enum {
    COVERAGE = 256,
    COLLECTIVES,
    CHECK,
    PLATFORM,
    PICTURE,
    STATISTICS,
    MACHINE,
    FIT,
    FIT_FOR,
    FIT_PROGRAM,
    RECORD_PROGRAM,
    OUTPUT,
    UNITS,
    PARAMETERS,
    PYTHON
};

struct request {
    bool config, coverage, collectives, parameters, check, platform, machine, fit_program, record_program,
        record_calls, python;
    const char *platform_name, *picture, *statistics, *machine_name;
    struct fit_request fit;
};

static const struct argp_option options[] = {
    {0, 'h', 0, OPTION_HIDDEN, 0, 0}, /* argp's own short one is -? */
    {"config", 'c', 0, 0, "List all configuration variables with value, default and meaning", 0},
    {"coverage", COVERAGE, 0, 0, "List the MPI functions and what each model does with them", 0},
    {"collectives", COLLECTIVES, 0, 0,
     "List model analytic's algorithms of collectives, and the rules that choose", 0},
    {"parameters", PARAMETERS, 0, 0,
     "List the derived parameters of model analytic, and from which settings they come", 0},
    {"check", CHECK, 0, 0, "Test the installation", 0},
    {"python", PYTHON, 0, 0, "Print the folder of the module parfocal, for PYTHONPATH", 0},
    {"platform", PLATFORM, "NAME", OPTION_ARG_OPTIONAL,
     "Print a built-in platform as SimGrid XML; without NAME, list them", 0},
    {"picture", PICTURE, "FILE", 0,
     "Draw the routers and links of --platform NAME into FILE (.svg, with a table next to it, or .html)", 0},
    {"statistics", STATISTICS, "FILE", 0,
     "Colour the links of --picture by load (a table of PARFOCAL_NET_STATISTICS)", 0},
    {"machine", MACHINE, "NAME|FILE", OPTION_ARG_OPTIONAL,
     "Print a machine, with the source of each value; without NAME, list them", 0},
    {"fit", FIT, "MODEL|FILE", 0,
     "Fit model analytic to MODEL: pfinfo --fit=portals -- -np 16 -platform FILE; or to FILE, times of a "
     "real machine",
     0},
    {"for", FIT_FOR, "analytic|smpi|MACHINE", 0,
     "What --fit writes: parameters of model analytic, or settings of SimGrid for model smpi (pfrun "
     "-calibrated), or the rows of MACHINE (NAME|FILE) from FILE, measured collectives",
     0},
    {"fit-program", FIT_PROGRAM, 0, 0, "Print the program that measures a real machine", 0},
    {"record-program", RECORD_PROGRAM, "WHAT", OPTION_ARG_OPTIONAL,
     "Print the library that records computation between MPI calls on a real machine, for "
     "PARFOCAL_COMPUTATION_REPLAY; WHAT=calls: the calls too, for pfrun -replay",
     0},
    {"units", UNITS, NULL, 0,
     "Which iterations pfrun -sample finds: pfinfo --units -- -np 16 ./app. Must come first", 0},
    {"output", OUTPUT, "FILE", 0, "File that --fit writes (default: analytic-MODEL.txt or smpi-MODEL.txt)",
     0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    case 'c':
        request->config = true;
        return 0;
    case COVERAGE:
        request->coverage = true;
        return 0;
    case COLLECTIVES:
        request->collectives = true;
        return 0;
    case PARAMETERS:
        request->parameters = true;
        return 0;
    case CHECK:
        request->check = true;
        return 0;
    case PYTHON:
        request->python = true;
        return 0;
    case PLATFORM:
        request->platform = true;
        request->platform_name = arg;
        return 0;
    case PICTURE:
        request->picture = arg;
        return 0;
    case STATISTICS:
        request->statistics = arg;
        return 0;
    case MACHINE:
        request->machine = true;
        request->machine_name = arg;
        return 0;
    case FIT:
        request->fit.model = arg;
        return 0;
    case FIT_FOR:
        request->fit.target = arg;
        return 0;
    case FIT_PROGRAM:
        request->fit_program = true;
        return 0;
    case RECORD_PROGRAM:
        if (arg && strcmp(arg, "calls") != 0 && strcmp(arg, "computation") != 0)
            argp_error(state, "--record-program=%s: there are computation and calls", arg);
        request->record_program = true;
        request->record_calls = arg && strcmp(arg, "calls") == 0;
        return 0;
    case OUTPUT:
        request->fit.output = arg;
        return 0;
    case UNITS: /* main() knows it where it comes first */
        argp_error(state, "--units must come first");
        return EINVAL;
    case ARGP_KEY_ARGS: /* what follows --fit is for pfrun */
        if (!request->fit.model)
            return ARGP_ERR_UNKNOWN;
        request->fit.run = state->argv + state->next;
        request->fit.run_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_ARG: /* `--platform NAME` with a space */
        if (request->fit.model)
            return ARGP_ERR_UNKNOWN; /* all of them at once, above */
        if (request->platform && !request->platform_name)
            request->platform_name = arg;
        else if (request->machine && !request->machine_name)
            request->machine_name = arg;
        else
            argp_error(state, "unexpected argument '%s'", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_version(FILE *out, struct argp_state *state)
{
    int major, minor, patch;
    sg_version_get(&major, &minor, &patch);
    fprintf(out, "Parfocal %s, SimGrid %d.%d.%d\n", PF_VERSION, major, minor, patch);
}

static void print_models(void)
{
    puts("\nModels, from coarse to fine (STACK:NETWORK is understood as well: portals:flow, ucx:packet):");
    for (enum pf_model model = 0; model < PF_MODEL_COUNT; model++) {
        char why[600] = "";
        int error = pf_model_probe(model, why, sizeof why);
        printf("  %-14s %-9s %s\n", pf_model_name(model), error == PF_SUCCESS ? "available" : "missing",
               pf_model_text(model));
        if (error != PF_SUCCESS)
            printf("  %-14s           why: %s: %s\n", "", pf_error_text(error), why);
    }
}

static void print_platforms(void)
{
    const char *name, *numbers, *help;
    puts("Built-in platforms (pfrun -platform NAME, NAME:HOSTS or NAME:NUMBERS):");
    for (int i = 0; pf_fabric_help(i, &name, &numbers, &help); i++)
        printf("  %-13s %s\n  %-13s %s\n", name, numbers, "", help);
}

static int print_platform(const struct request *request)
{
    const char *name = request->platform_name;
    char error[300];
    if (!name)
        print_platforms();
    else if (!pf_fabric_is_kind(name))
        pf_die("no built-in platform '%s' (pfinfo --platform lists them)", name);
    else if (request->picture)
        picture_draw(name, DEFAULT_HOSTS, request->picture, request->statistics);
    else if (!pf_platform_builtin_write(name, DEFAULT_HOSTS, stdout, error, sizeof error))
        pf_die("%s", error);
    return 0;
}

static int print_machine(const char *name)
{
    if (name) {
        if (!*name)
            pf_die("--machine: the name is empty (--machine alone lists the machines)");
        pf_config_give("--machine", "machine", name);
        pf_machine_print(pf_machine_apply(), stdout);
    } else {
        puts("Machines (pfrun -machine NAME):");
        pf_machine_list(stdout);
    }
    return 0;
}

/* Next to the helper that runs programs in Python. */
static int print_python(void)
{
    char *helper = pf_helper_find("pfpython");
    if (!helper)
        pf_die("--python: the module is missing: " PF_LIBEXEC "/python");
    printf("%.*s/python\n", (int)(strrchr(helper, '/') - helper), helper);
    free(helper);
    return 0;
}

/* Collectives that were measured, for the rows of a machine: becomes pffit. */
static void fit_machine(const struct fit_request *fit)
{
    char *path = pf_helper_find("pffit"), **words = pf_calloc((size_t)fit->run_count + 5, sizeof *words);
    words[0] = path;
    words[1] = (char *)fit->model;
    words[2] = (char *)fit->target;
    words[3] = fit->output ? (char *)fit->output : "fitted.machine";
    memcpy(words + 4, fit->run, (size_t)fit->run_count * sizeof *words);
    if (path)
        execv(path, words);
    pf_die("--fit: the tool for machines is missing: " PF_LIBEXEC "/pffit");
}

static int run_fit(struct fit_request fit)
{
    char file[80];
    const char *base = strrchr(fit.model, '/');
    bool smpi = fit.target && strcmp(fit.target, "smpi") == 0;
    if (fit.target && !smpi && strcmp(fit.target, "analytic") != 0)
        fit_machine(&fit);
    snprintf(file, sizeof file, "%s-%.40s.txt", smpi ? "smpi" : "analytic", base ? base + 1 : fit.model);
    if (!fit.output)
        fit.output = file;
    return smpi ? calibrate_smpi(&fit) : fit_model(&fit);
}

/* pfrun reads its own options. */
static void run_units(int argc, char **argv)
{
    char *path = pf_helper_find("pfrun");
    argv[1] = "-units";
    if (argc > 2 && strcmp(argv[2], "--") == 0) {
        memmove(argv + 2, argv + 3, (size_t)(argc - 2) * sizeof *argv);
        argc--;
    }
    if (path)
        execv(path, argv);
    pf_die("--units: cannot run pfrun: %s", strerror(errno));
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "What this installation of Parfocal is and can do.",
    };
    struct request request = {0};
    if (argc > 1 && strncmp(argv[1], "--units=", 8) == 0)
        pf_die("%s: a file of markers is not read any more (pfinfo --units -- -np N ./app runs the program)",
               argv[1]);
    if (argc > 1 && strcmp(argv[1], "--units") == 0)
        run_units(argc, argv);
    argp_program_version_hook = print_version;
    argp_parse(&argp, argc, argv, 0, NULL, &request);
    pf_config_load();
    if (request.python)
        return print_python();
    if (request.machine)
        return print_machine(request.machine_name);
    pf_machine_apply();
    if (request.fit.target && !request.fit.model)
        pf_die("--for belongs to --fit=MODEL");
    if (request.fit.model)
        return run_fit(request.fit);
    if (request.fit_program) {
        fit_print_program(stdout);
        return 0;
    }
    if (request.record_program) {
        record_print_program(stdout, request.record_calls);
        return 0;
    }
    if ((request.picture && !request.platform_name) || (request.statistics && !request.picture))
        pf_die("%s", request.picture ? "--picture draws a built-in platform: add --platform NAME:HOSTS"
                                     : "--statistics colours a picture: add --picture FILE");
    if (request.platform)
        return print_platform(&request);
    if (request.config)
        pf_config_print(stdout);
    if (request.coverage)
        coverage_print(stdout);
    if (request.collectives)
        pf_colls_list(stdout);
    if (request.parameters)
        pf_cost_print_derived(stdout);
    if (request.check)
        return check_installation() ? 1 : 0;
    if (!request.config && !request.coverage && !request.collectives && !request.parameters) {
        print_version(stdout, NULL);
        print_models();
        puts("\npfinfo --help: more to ask");
    }
    return 0;
}
