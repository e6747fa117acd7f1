/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/pfinfo/check.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xbt/base.h>

#include <simgrid/version.h>

#include "base/error.h"
#include "middleware/model.h"

/* Enough for 64 ranks in portals; what a bigger run needs, pfrun finds out. */
#define MIN_DESCRIPTORS 1024
#define MIN_MAPS        65530
#define MIN_SPACE_MIB   256
#define RUN_SECONDS     120

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
    report(error == PF_SUCCESS, what, "%s", error == PF_SUCCESS ? "can be loaded" : why);
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
        maps = MIN_MAPS; /* a system that does not tell is taken for an ordinary one */
    if (file)
        fclose(file);
    good = maps >= MIN_MAPS;
    report(good, "memory maps", "limit %ld%s", maps,
           good ? "" : "; raise it (sysctl vm.max_map_count=262144)");
}

static const char *temporary(void)
{
    const char *dir = getenv("TMPDIR");
    return dir && *dir ? dir : "/tmp";
}

static void check_space(void)
{
    struct statvfs space;
    const char *dir = temporary();
    if (access(dir, W_OK | X_OK) != 0 || statvfs(dir, &space) != 0) {
        report(false, "temporary files", "'%s': %s", dir, strerror(errno));
        return;
    }
    double mib = (double)space.f_bavail * (double)space.f_frsize / 1048576;
    bool good = mib >= MIN_SPACE_MIB;
    report(good, "temporary files", "%.0f MiB free in %s%s", mib, dir,
           good ? "" : "; TMPDIR names another place");
}

/* Runs a command without a shell, its output into a file. Returns the exit status, -1 when it could not run
 * at all. */
static int run(char *const argv[], const char *output)
{
    pid_t child = fork();
    if (child == 0) {
        if (!freopen(output, "w", stdout) || dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
            _exit(127);
        alarm(RUN_SECONDS); /* survives exec */
        execv(argv[0], argv);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The last line of a file that says something, for a message. */
static const char *last_line(const char *name, char *line, size_t size)
{
    char next[400];
    FILE *file = fopen(name, "r");
    *line = 0;
    while (file && fgets(next, sizeof next, file))
        if (strspn(next, " \t\n") != strlen(next))
            snprintf(line, size, "%.*s", (int)strcspn(next, "\n"), next);
    if (file)
        fclose(file);
    return line;
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

struct trial {
    char dir[PATH_MAX - 100];
    char source[PATH_MAX], app[PATH_MAX], output[PATH_MAX];
    char pfcc[PATH_MAX], pfrun[PATH_MAX];
};

/* The tools beside this one. */
static bool find_tools(struct trial *trial)
{
    char own[PATH_MAX - 100];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0)
        return false;
    own[length] = 0;
    char *slash = strrchr(own, '/');
    *slash = 0;
    snprintf(trial->pfrun, sizeof trial->pfrun, "%s/pfrun", own);
    snprintf(trial->pfcc, sizeof trial->pfcc, "%s/pfcc", own);
    if (access(trial->pfrun, X_OK) != 0 || access(trial->pfcc, X_OK) != 0) {
        /* In a build directory each tool has its own folder, and bin/ collects them. */
        snprintf(trial->pfrun, sizeof trial->pfrun, "%s/../../bin/pfrun", own);
        snprintf(trial->pfcc, sizeof trial->pfcc, "%s/../../bin/pfcc", own);
    }
    return access(trial->pfrun, X_OK) == 0 && access(trial->pfcc, X_OK) == 0;
}

static bool compile(struct trial *trial)
{
    FILE *file = fopen(trial->source, "w");
    if (!file || fputs(program, file) < 0 || fclose(file) != 0) {
        report(false, "pfcc", "cannot write '%s': %s", trial->source, strerror(errno));
        return false;
    }
    char line[400], *argv[] = {trial->pfcc, "-o", trial->app, trial->source, NULL};
    int status = run(argv, trial->output);
    report(status == 0, "pfcc", "%s",
           status == 0 ? "compiles and links a program" : last_line(trial->output, line, sizeof line));
    return status == 0;
}

static void try_model(struct trial *trial, enum pf_model model)
{
    char what[40], line[400],
        *argv[] = {trial->pfrun, "-np", "4", "-model", (char *)pf_model_name(model), trial->app, NULL};
    snprintf(what, sizeof what, "run in %s", pf_model_name(model));
    int status = run(argv, trial->output);
    bool good = status == 0 && contains(trial->output, "sum 6");
    if (good)
        report(true, what, "4 ranks, right result");
    else
        report(false, what, "exit status %d: %s", status, last_line(trial->output, line, sizeof line));
}

static void check_runs(void)
{
    struct trial trial;
    char why[600];
    if (!find_tools(&trial)) {
        report(false, "tools", "pfcc and pfrun are not beside pfinfo");
        return;
    }
    snprintf(trial.dir, sizeof trial.dir, "%.3000s/pfinfo-XXXXXX", temporary());
    if (!mkdtemp(trial.dir)) {
        report(false, "tools", "cannot make '%s': %s", trial.dir, strerror(errno));
        return;
    }
    snprintf(trial.source, sizeof trial.source, "%s/check.c", trial.dir);
    snprintf(trial.app, sizeof trial.app, "%s/check", trial.dir);
    snprintf(trial.output, sizeof trial.output, "%s/output", trial.dir);
    if (compile(&trial))
        for (enum pf_model model = 0; model < PF_MODEL_COUNT; model++)
            if (!pf_model_missing(model) && pf_model_probe(model, why, sizeof why) == PF_SUCCESS)
                try_model(&trial, model);
    unlink(trial.source);
    unlink(trial.app);
    unlink(trial.output);
    rmdir(trial.dir);
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
