/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and applies machines. */
#include "base/machine.h"

#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"

#define ENDING ".machine"

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* In the folder of the tools in an installation; in a build directory each tool has a folder of its own. NULL
 * when it is not found. */
static char *machine_folder(void)
{
    static const char *const places[] = {PF_MACHINES, "../../machines"};
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0)
        return NULL;
    own[length] = 0;
    *strrchr(own, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *folder = pf_asprintf("%s/%s", own, places[i]), *real = realpath(folder, NULL);
        free(folder);
        if (real)
            return real;
    }
    return NULL;
}

static int is_machine(const struct dirent *entry)
{
    return ends_with(entry->d_name, ENDING);
}

/* The names of the machines in the folder, in alphabetical order; the caller frees them and the array. */
static size_t machine_names(const char *folder, char ***names)
{
    struct dirent **entries;
    int n = folder ? scandir(folder, &entries, is_machine, alphasort) : -1;
    *names = NULL;
    if (n < 0)
        return 0;
    *names = pf_calloc((size_t)n + 1, sizeof **names);
    for (int i = 0; i < n; i++) {
        (*names)[i] = pf_strndup(entries[i]->d_name, strlen(entries[i]->d_name) - strlen(ENDING));
        free(entries[i]);
    }
    free(entries);
    return (size_t)n;
}

static void free_names(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

static _Noreturn void refuse_name(const char *name, const char *folder)
{
    char **names;
    size_t n = machine_names(folder, &names);
    const char *near = pf_nearest_word(name, (const char *const *)names, n);
    pf_die("%s: there is no machine '%s'%s%s%s (pfinfo --machine lists them; a file's name has a slash or "
           "ends in "
           "%s)",
           pf_config_given("machine"), name, near ? ", maybe " : "", near ? near : "", near ? "?" : "",
           ENDING);
}

/* The path of a machine's file; the caller frees it. */
static char *find_machine(const char *name)
{
    if (strchr(name, '/') || ends_with(name, ENDING))
        return pf_strdup(name);
    char *folder = machine_folder();
    char *path = pf_asprintf("%s/%s%s", folder ? folder : ".", name, ENDING);
    if (access(path, R_OK) != 0)
        refuse_name(name, folder);
    free(folder);
    return path;
}

/* Rows that name files do it from where the machine's file is. A platform may also be a built-in one. */
static char *value_of(const struct pf_setting_file *file, const struct pf_setting *setting)
{
    static const char *const files[] = {"platform", "calibrated", "analytic_parameters"};
    const char *value = setting->value, *slash = strrchr(file->path, '/');
    bool is_file = false;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        is_file |= strcasecmp(setting->key, files[i]) == 0;
    if (strcasecmp(setting->key, "platform") == 0)
        is_file = strchr(value, '/') || ends_with(value, ".xml");
    if (!is_file || !*value || *value == '/' || !slash)
        return pf_strdup(value);
    return pf_asprintf("%.*s/%s", (int)(slash - file->path), file->path, value);
}

/* A machine is data that another user may have written: it opens no library, starts no program and writes no
 * file. */
static void check_harmless(const struct pf_setting *setting)
{
    static const char *const machine[] = {"platform",
                                          "calibrated",
                                          "analytic_parameters",
                                          "analytic_set",
                                          "analytic_coll",
                                          "net_external",
                                          "nic_service_ranks",
                                          "net_fail",
                                          "background",
                                          "model",
                                          "load",
                                          "schedule"};
    bool harmless = !pf_config_is_any_text(setting->key);
    for (size_t i = 0; i < sizeof machine / sizeof machine[0]; i++)
        harmless |= strcasecmp(setting->key, machine[i]) == 0;
    if (!harmless)
        pf_die(
            "%s: %s: a machine may not set this, which is no property of a machine (give it on the command "
            "line or in the environment)",
            setting->where, setting->key);
    if (strstr(setting->value, "exec:") || ends_with(setting->value, ".so"))
        pf_die(
            "%s: %s: a machine may not name a program or a library ('%s'); give it on the command line or in "
            "the environment",
            setting->where, setting->key, setting->value);
}

const struct pf_setting_file *pf_machine_apply(void)
{
    static struct pf_setting_file *file;
    if (!*pf_config.machine)
        return NULL;
    char *path = find_machine(pf_config.machine);
    pf_setting_file_free(file);
    file = pf_setting_file_read(pf_config_given("machine"), path);
    free(path);
    for (size_t i = 0; i < file->count; i++) {
        const struct pf_setting *setting = &file->settings[i];
        if (pf_setting_is_simgrid(setting))
            continue;
        if (strcasecmp(setting->key, "machine") == 0)
            pf_die("%s: a machine cannot name another one", setting->where);
        check_harmless(setting);
        char *value = value_of(file, setting);
        pf_config_suggest(setting->where, setting->key, value);
        free(value);
    }
    return file;
}

void pf_machine_print(const struct pf_setting_file *machine, FILE *out)
{
    fprintf(out, "%s: %s\n", machine->path, machine->description);
    for (int simgrid = 0; simgrid < 2; simgrid++) {
        for (size_t i = 0; i < machine->count; i++) {
            const struct pf_setting *setting = &machine->settings[i];
            if (pf_setting_is_simgrid(setting) != simgrid)
                continue;
            fprintf(out, "%s = %s\n    default %s%s%s\n", setting->key, setting->value,
                    simgrid ? "SimGrid's" : pf_config_default(setting->key), *setting->source ? ": " : "",
                    setting->source);
        }
    }
}

void pf_machine_list(FILE *out)
{
    char **names, *folder = machine_folder();
    size_t n = machine_names(folder, &names);
    for (size_t i = 0; i < n; i++) {
        char *path = pf_asprintf("%s/%s%s", folder, names[i], ENDING);
        struct pf_setting_file *file = pf_setting_file_read("--machine", path);
        fprintf(out, "  %-16s %.*s\n", names[i], (int)strcspn(file->description, "\n"), file->description);
        pf_setting_file_free(file);
        free(path);
    }
    free_names(names, n);
    free(folder);
}

struct pf_setting_file *pf_calibration_read(void)
{
    if (!*pf_config.calibrated)
        return NULL;
    struct pf_setting_file *file = pf_setting_file_read(pf_config_given("calibrated"), pf_config.calibrated);
    for (size_t i = 0; i < file->count; i++)
        if (!pf_setting_is_simgrid(&file->settings[i]))
            pf_die("%s: '%s' is no setting of SimGrid, such as smpi/os", file->settings[i].where,
                   file->settings[i].key);
    return file;
}
