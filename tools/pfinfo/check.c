/* SPDX-License-Identifier: BSD-3-Clause */
/* pfinfo --check: small runs in each model, with their verdicts. */
#include "tools/pfinfo/commands.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xbt/base.h>

#include <simgrid/version.h>

#include "base/error.h"
#include "adapters/model.h"
#include "tools/pfinfo/trial.h"

/* Enough for 64 ranks in portals; what a bigger run needs, pfrun finds out. */
#define MIN_DESCRIPTORS 1024
#define MIN_MAPS        65530
#define MIN_SPACE_MIB   256

static int failures;

static void report(bool good, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void report(bool good, const char *what, const char *format, ...)
{
    va_list args;
    printf("%-4s  %-18s ", good ? "ok" : "FAIL", what);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
    failures += !good;
}

static void check_simgrid(void)
{
    int major, minor, patch;
    sg_version_get(&major, &minor, &patch);
    bool same = major == SIMGRID_VERSION_MAJOR && minor == SIMGRID_VERSION_MINOR;
    report(same, "SimGrid", "%d.%d.%d, built for %d.%d", major, minor, patch, SIMGRID_VERSION_MAJOR,
           SIMGRID_VERSION_MINOR);
}

static void check_model(enum pf_model model)
{
    char why[600] = "", what[40];
    snprintf(what, sizeof what, "model %s", pf_model_name(model));
    int error = pf_model_probe(model, why, sizeof why);
    if (error == PF_SUCCESS)
        report(true, what, "can be loaded");
    else if (error == PF_ERR_UNSUPPORTED) /* nothing that could be mended here */
        printf("none  %-18s %s\n", what, why);
    else
        report(false, what, "%s: %s", pf_error_text(error), why);
}

static void check_limits(void)
{
    struct rlimit files = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    bool good = files.rlim_max >= MIN_DESCRIPTORS;
    report(good, "open files", "limit %llu%s", (unsigned long long)files.rlim_max,
           good ? "" : "; raise it to 1024 or more (ulimit -n)");
    long maps = 0;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    if (!file || fscanf(file, "%ld", &maps) != 1)
        maps = MIN_MAPS; /* the default of Linux, where the system has no such file */
    if (file)
        fclose(file);
    good = maps >= MIN_MAPS;
    report(good, "memory maps", "limit %ld%s", maps,
           good ? "" : "; raise it (sysctl vm.max_map_count=262144)");
}

static void check_space(void)
{
    struct statvfs space;
    const char *dir = trial_temporary();
    if (access(dir, W_OK | X_OK) != 0 || statvfs(dir, &space) != 0) {
        report(false, "temporary files", "'%s': %s", dir, strerror(errno));
        return;
    }
    double mib = (double)space.f_bavail * (double)space.f_frsize / 1048576;
    bool good = mib >= MIN_SPACE_MIB;
    report(good, "temporary files", "%.0f MiB free in %s%s", mib, dir,
           good ? "" : "; TMPDIR names another place");
}

static bool contains(const char *name, const char *word)
{
    char line[400];
    bool found = false;
    FILE *file = fopen(name, "r");
    while (file && fgets(line, sizeof line, file))
        found |= strstr(line, word) != NULL;
    if (file)
        fclose(file);
    return found;
}

static const char program[] = "#include <mpi.h>\n"
                              "#include <stdio.h>\n"
                              "int main(int argc, char **argv)\n"
                              "{\n"
                              "    int rank, sum;\n"
                              "    MPI_Init(&argc, &argv);\n"
                              "    MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
                              "    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n"
                              "    if (rank == 3)\n"
                              "        printf(\"sum %d\\n\", sum);\n"
                              "    return MPI_Finalize();\n"
                              "}\n";

static bool compile(struct trial *trial)
{
    FILE *file = fopen(trial->source, "w");
    if (!file || fputs(program, file) < 0 || fclose(file) != 0) {
        report(false, "pfcc", "cannot write '%s': %s", trial->source, strerror(errno));
        return false;
    }
    char line[400], *argv[] = {trial->pfcc, "-o", trial->app, trial->source, NULL};
    int status = trial_run(trial, argv);
    report(status == 0, "pfcc", "%s",
           status == 0 ? "compiles and links a program" : trial_last_line(trial, line, sizeof line));
    return status == 0;
}

static void try_model(struct trial *trial, enum pf_model model)
{
    char what[40], line[400],
        *argv[] = {trial->pfrun, "-np", "4", "-model", (char *)pf_model_name(model), trial->app, NULL};
    snprintf(what, sizeof what, "run in %s", pf_model_name(model));
    int status = trial_run(trial, argv);
    bool good = status == 0 && contains(trial->output, "sum 6");
    if (good)
        report(true, what, "4 ranks, right result");
    else
        report(false, what, "exit status %d: %s", status, trial_last_line(trial, line, sizeof line));
}

static void check_runs(void)
{
    struct trial trial;
    char why[600];
    const char *wrong = trial_begin(&trial);
    if (wrong) {
        report(false, "tools", "%s", wrong);
        return;
    }
    if (compile(&trial))
        for (enum pf_model model = 0; model < PF_MODEL_COUNT; model++)
            if (!pf_model_missing(model) && pf_model_probe(model, why, sizeof why) == PF_SUCCESS)
                try_model(&trial, model);
    trial_end(&trial);
}

int check_installation(void)
{
    failures = 0;
    check_simgrid();
    for (enum pf_model model = 0; model < PF_MODEL_COUNT; model++)
        if (!pf_model_missing(model))
            check_model(model);
    check_limits();
    check_space();
    check_runs();
    return failures;
}
