/* SPDX-License-Identifier: BSD-3-Clause */
/* What must be right before a run begins, each with its one line. */
#include "tools/pfrun/checks.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <xbt/config.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/memory_available.h"
#include "adapters/adapter.h"
#include "adapters/model.h"
#include "middleware/core/job_programs.h"
#include "middleware/process/job.h"
#include "middleware/process/private.h"
#include "tools/pfrun/binary.h"

/* Memory maps of one rank: five of the application's copy, its stack with guard page, and those of its
 * heap. */
#define MAPS_OF_COPY    8
#define MAPS_OF_MAPPING 3
#define MAPS_OF_PROCESS 2000
#define MIN_DESCRIPTORS 128

/* Bytes of memory that a rank takes by itself at least, without the program's data (docs/performance.md), and
 * of address space besides its stack. */
#define MEMORY_OF_RANK     45000.0
#define MEMORY_OF_OPENMPI  1050000.0
#define ADDRESS_OF_OPENMPI 108e6

static char *found(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return NULL;
    char *copy = pf_strdup(path);
    return copy;
}

static char *search_path(const char *name)
{
    const char *path = getenv("PATH");
    for (const char *dir = path ? path : ""; *dir;) {
        int length = (int)strcspn(dir, ":");
        char candidate[PATH_MAX];
        snprintf(candidate, sizeof candidate, "%.*s/%s", length, dir, name);
        if (access(candidate, X_OK) == 0)
            return found(candidate);
        dir += length + (dir[length] == ':');
    }
    return NULL;
}

char *check_find(const char *name)
{
    char *path = found(name);
    return path || strchr(name, '/') ? path : search_path(name);
}

static void check_built_with_pfcc(const char *path, struct binary_facts *facts)
{
    const char *reason = binary_read(path, facts);
    if (facts->other_mpi[0] && !facts->parfocal)
        pf_die("'%s' was built for another MPI (it needs %s); rebuild it with pfcc, pfcxx or pff90", path,
               facts->other_mpi);
    if ((facts->abi || facts->openmpi) && !reason)
        return;
    if (reason || !facts->parfocal)
        pf_die("'%s' was not built with pfcc or pfcxx (it %s); rebuild it", path,
               reason ? reason : "does not need libparfocal");
}

char *check_application(const char *name, struct binary_facts *facts)
{
    char *path = check_find(name);
    struct stat info;
    if (!path || stat(path, &info) != 0)
        pf_die("the application '%s' does not exist", name);
    if (!S_ISREG(info.st_mode))
        pf_die("'%s' is not a file that can be run", path);
    if (access(path, R_OK) != 0 || access(path, X_OK) != 0)
        pf_die("'%s' is not readable and executable for this user (chmod +rx)", path);
    check_built_with_pfcc(path, facts);
    return path;
}

static unsigned check_model(const char *what, const char *name, size_t length)
{
    enum pf_model model;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    if (!pf_model_parse(name, length, &model)) {
        const char *near = pf_model_suggest(word);
        if (near)
            pf_die("%s: unknown model '%s', maybe %s?", what, word, near);
        pf_die("%s: unknown model '%s' (pfinfo lists the models)", what, word);
    }
    if (pf_model_missing(model))
        pf_die("%s: model '%s' is %s", what, word, pf_model_missing(model));
    return 1u << model;
}

static unsigned check_load(const char *list)
{
    unsigned models = 0;
    while (*list) {
        size_t length = strcspn(list, ",");
        models |= check_model(pf_config_given("load"), list, length);
        list += length;
        if (*list == ',' && !*++list)
            pf_die("%s: a model is missing after the last comma", pf_config_given("load"));
    }
    return models;
}

unsigned check_models(void)
{
    unsigned models = 1u << PF_MODEL_SMPI;
    if (*pf_config.model)
        models |= check_model(pf_config_given("model"), pf_config.model, strlen(pf_config.model));
    models |= check_load(pf_config.load);
    if (*pf_config.regions || strcmp(pf_config.regions_model, pf_config_default("regions_model")) != 0) {
        unsigned fine = check_model(pf_config_given("regions_model"), pf_config.regions_model,
                                    strlen(pf_config.regions_model));
        models |= *pf_config.regions ? fine : 0;
    }
    models |= pf_job_models();
    return models;
}

static bool any_has_network(unsigned models, const char *network)
{
    for (enum pf_model model = 0; model < PF_MODEL_COUNT; model++)
        if (models & 1u << model && strcmp(pf_model_network(model), network) == 0)
            return true;
    return false;
}

/* Background traffic may be simulated by another process, which gets its settings. */
bool check_networks(unsigned models)
{
    bool external = any_has_network(models, "external");
    bool packets = external || any_has_network(models, "packet");
    static const char more[] = "use -model packet, or -load packet when the program switches to it";
    if (*pf_config.background && !packets)
        pf_die("%s: only the packet network has background traffic: %s", pf_config_given("background"), more);
    if (*pf_config.net_fail && !packets)
        pf_die("%s: only links of the packet network fail at a given date: %s", pf_config_given("net_fail"),
               more);
    return external;
}

/* The soft limit may be raised to the hard one by anybody; only the hard one is a reason to stop. */
static void check_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur < MIN_DESCRIPTORS)
        pf_die("the limit of open files is %lu, at least %d are needed (ulimit -n %d)",
               (unsigned long)limit.rlim_cur, MIN_DESCRIPTORS, MIN_DESCRIPTORS);
}

/* Stacks without guards lie side by side, and are one. */
static long maps_needed(int ranks, bool in_image, bool guards)
{
    return MAPS_OF_PROCESS + (long)ranks * ((in_image ? MAPS_OF_MAPPING : MAPS_OF_COPY) + (guards ? 2 : 0));
}

static void check_maps(int ranks, bool in_image)
{
    static const char guards[] = "contexts/guard-size";
    bool guarded = sg_cfg_get_int(guards) > 0;
    long limit = 0, needed = maps_needed(ranks, in_image, guarded);
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    if (!file)
        return;
    bool known = fscanf(file, "%ld", &limit) == 1;
    fclose(file);
    if (!known || limit >= needed)
        return;
    if (limit < maps_needed(ranks, in_image, false))
        pf_die(
            "%d ranks need about %ld memory maps, the limit is %ld: at most %ld ranks here (more with sysctl "
            "vm.max_map_count=%ld)",
            ranks, needed, limit,
            (limit - MAPS_OF_PROCESS) / (maps_needed(1, in_image, false) - MAPS_OF_PROCESS), 2 * needed);
    pf_warn("no guard pages behind the stacks of %d ranks, or they would need about %ld memory maps; the "
            "limit is "
            "%ld (sysctl vm.max_map_count=%ld): a stack that overflows is not noticed",
            ranks, needed, limit, 2 * needed);
    sg_cfg_set_int(guards, 0);
}

static void check_space(int ranks, const char *directory)
{
    struct stat info;
    struct statvfs space;
    double needed = 0;
    int count = pf_job_program_count();
    for (int i = 0; i < count; i++)
        if (stat(pf_job_program(i)->path, &info) == 0)
            needed += (double)info.st_size * (count > 1 ? pf_job_program(i)->ranks : ranks);
    if (statvfs(directory, &space) != 0)
        return;
    if (space.f_flag & ST_NOEXEC)
        pf_die("programs cannot be loaded from '%s' (it is mounted noexec); -tmpdir names another place",
               directory);
    double free_bytes = (double)space.f_bavail * (double)space.f_frsize;
    if (needed > free_bytes)
        pf_die("%d copies of '%s'%s need %.0f MiB, '%s' has %.0f MiB left (-tmpdir names another place)",
               ranks, pf_job_program(0)->path, count > 1 ? " and the others" : "", needed / 1048576,
               directory, free_bytes / 1048576);
}

/* The stacks, of which most is never touched. */
static void check_address_space(int ranks, bool open_mpi)
{
    struct rlimit limit;
    double of_rank = 1024.0 * sg_cfg_get_int("contexts/stack-size") + (open_mpi ? ADDRESS_OF_OPENMPI : 0);
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        ranks * of_rank <= (double)limit.rlim_cur)
        return;
    pf_die(
        "%d ranks need %.1f GiB of address space and what the program takes; the limit is %.1f GiB (ulimit "
        "-v): at most %.0f ranks",
        ranks, ranks * of_rank / 0x1p30, (double)limit.rlim_cur / 0x1p30,
        floor((double)limit.rlim_cur / of_rank));
}

/* The last of these models over copies of an MPI library of one kind; -1: none. */
static int model_over(unsigned models, int impl)
{
    int found = -1;
    for (enum pf_model model = 0; model < PF_MODEL_COUNT; model++)
        if (models & 1u << model && pf_model_impl(model) == impl)
            found = (int)model;
    return found;
}

/* A run that does not fit would be killed by the system, without a word. */
static void check_memory(int ranks, unsigned models)
{
    static const enum pf_impl copied[] = {PF_IMPL_MPICH, PF_IMPL_UCX, PF_IMPL_OPENMPI};
    enum pf_model largest = PF_MODEL_SMPI;
    int copies = 0;
    for (size_t i = 0; i < sizeof copied / sizeof copied[0]; i++) {
        int model = model_over(models, copied[i]);
        copies += model >= 0;
        largest = model >= 0 ? (enum pf_model)model : largest;
    }
    double of_rank = MEMORY_OF_RANK + copies * (double)MEMORY_OF_OPENMPI, available = pf_memory_available();
    if (available > 0 && ranks * of_rank > available)
        pf_die("%d ranks with model %s need %.1f GiB of memory and what the program takes; %.1f GiB are "
               "available: at most %.0f ranks",
               ranks, pf_model_name(largest), ranks * of_rank / 0x1p30, available / 0x1p30,
               floor(available / of_rank));
    check_address_space(ranks, copies > 0);
}

void check_limits(int ranks, unsigned models, const char *directory)
{
    check_descriptors();
    bool in_image = pf_private_in_image(ranks);
    check_maps(ranks, in_image);
    check_memory(ranks, models);
    if (!in_image)
        check_space(ranks, directory);
}

void check_report(void)
{
    const char *name = pf_config.report;
    if (!*name)
        return;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", name);
    for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    struct stat info;
    if (mkdir(path, 0777) != 0 && errno == EEXIST && stat(path, &info) == 0 && !S_ISDIR(info.st_mode))
        pf_die("%s: '%s' is a file, and must be a directory", pf_config_given("report"), name);
    if (access(path, W_OK | X_OK) != 0)
        pf_die("%s: cannot write to the directory '%s': %s", pf_config_given("report"), name,
               strerror(errno));
}

void check_folders(void)
{
    for (const char *one = pf_config.file_local; *one; one += strspn(one, ":")) {
        size_t length = strcspn(one, ":");
        if (*one != '/')
            pf_die("%s: '%.*s' is not an absolute path", pf_config_given("file_local"),
                   (int)(length ? length : 1), one);
        one += length;
    }
}
