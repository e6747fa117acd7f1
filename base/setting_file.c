/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files of settings: machines and calibrations. */
#include "base/setting_file.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/memory.h"

enum { MOST = 4 << 20 }; /* bytes of a file; a fit to model smpi writes some 10,000 */

static void describe(struct pf_setting_file *file, const char *comment)
{
    char *longer = pf_asprintf("%s%s\n", file->description, comment + (comment[0] == ' '));
    free(file->description);
    file->description = longer;
}

/* Cuts the source off: a '#' at the start or behind a blank begins it. */
static char *cut_source(char *line)
{
    for (char *c = line; (c = strchr(c, '#')); c++) {
        if (c == line || isspace((unsigned char)c[-1])) {
            *c = 0;
            return pf_trimmed(c + 1);
        }
    }
    return line + strlen(line);
}

/* One of the lists SIZE:VALUE...;SIZE:VALUE... of SimGrid, which ends in the middle of the run when it cannot
 * read one. Behind a value there may be a unit. */
static bool is_list(const char *text, double least)
{
    while (*text) {
        for (int i = 0; i == 0 || *text == ':'; i++) {
            char *end;
            text += i > 0;
            double number = strtod(text, &end);
            if (!isfinite(number) || number < (i ? least : 0) || end == text || (i == 0 && *end != ':'))
                return false;
            while (i > 0 && isalpha((unsigned char)*end))
                end++;
            text = end;
        }
        if (*text && *text++ != ';')
            return false;
    }
    return true;
}

static bool is_one_of(const char *key, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(words[i]);
        if (words[i][length - 1] == '/' ? strncmp(key, words[i], length) == 0 : strcmp(key, words[i]) == 0)
            return true;
    }
    return false;
}

#define IS_ONE_OF(key, words) is_one_of(key, words, sizeof(words) / sizeof(words)[0])

bool pf_setting_simgrid_good(const char *key, const char *value, char *why, size_t size)
{
    /* What SimGrid takes and then crashes or hangs with, or simulates as time that runs backwards. */
    static const struct {
        const char *key;
        double least;
        bool is_list;
    } known[] = {{"smpi/lat-factor", 0, true},
                 {"smpi/bw-factor", DBL_MIN, true},
                 {"smpi/os", -DBL_MAX, true},
                 {"smpi/ois", -DBL_MAX, true},
                 {"smpi/or", -DBL_MAX, true},
                 {"smpi/async-small-thresh", 0, false},
                 {"smpi/send-is-detached-thresh", 0, false},
                 {"smpi/wtime", 0, false},
                 {"smpi/test", 0, false},
                 {"smpi/iprobe", 0, false},
                 {"smpi/init", 0, false},
                 {"surf/precision", DBL_MIN, false},
                 {"maxmin/precision", DBL_MIN, false},
                 {"precision/timing", DBL_MIN, false},
                 {"precision/work-amount", DBL_MIN, false},
                 {"network/latency-factor", 0, false},
                 {"network/bandwidth-factor", DBL_MIN, false},
                 {"network/weight-S", 0, false},
                 {"network/TCP-gamma", 0, false},
                 {"contexts/stack-size", 16, false}};
    char *end;
    double number = strtod(value, &end);
    *why = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0] && !*why; i++)
        if (strcmp(key, known[i].key) == 0 && known[i].is_list && !is_list(value, known[i].least))
            snprintf(why, size, "%s: '%s' is no list such as 0:1;65536:1.5, of sizes and values", key, value);
        else if (strcmp(key, known[i].key) == 0 && !known[i].is_list && end != value &&
                 number < known[i].least)
            snprintf(why, size, "%s: '%s' is too small: it must be %s%g", key, value,
                     known[i].least == DBL_MIN ? "more than " : "at least ",
                     known[i].least == DBL_MIN ? 0 : known[i].least);
    if (!*why && end != value && !*end && !isfinite(number))
        snprintf(why, size, "%s: '%s' is no finite number", key, value);
    return !*why;
}

bool pf_setting_simgrid_data(const char *key)
{
    static const char *const models[] = {"bmf/",  "contexts/", "cpu/",     "disk/",   "exception/",
                                         "host/", "maxmin/",   "network/", "path",    "precision/",
                                         "smpi/", "surf/",     "tracing",  "tracing/"};
    static const char *const others[] = {"smpi/comp-adjustment-file",
                                         "smpi/hostfile",
                                         "smpi/keep-temps",
                                         "smpi/np",
                                         "smpi/papi-events",
                                         "smpi/privatization",
                                         "smpi/privatize-libs",
                                         "smpi/replay",
                                         "smpi/tmpdir",
                                         "tracing/comment-file",
                                         "tracing/filename"};
    return IS_ONE_OF(key, models) && !IS_ONE_OF(key, others);
}

static void check_simgrid(const struct pf_setting *setting)
{
    char why[300];
    if (!*setting->value || strpbrk(setting->value, " \t"))
        pf_die("%s: %s: a setting of SimGrid has a value without blanks, not '%s'", setting->where,
               setting->key, setting->value);
    if (!pf_setting_simgrid_good(setting->key, setting->value, why, sizeof why))
        pf_die("%s: %s", setting->where, why);
    if (!pf_setting_simgrid_data(setting->key))
        pf_die("%s: %s: a file may not set this, which names no property of a machine (--cfg=%s:%s does)",
               setting->where, setting->key, setting->key, setting->value);
}

static void check_setting(const struct pf_setting_file *file, const struct pf_setting *setting)
{
    if (!*setting->key || strcspn(setting->key, " \t") != strlen(setting->key))
        pf_die("%s: '%s' is no name of a setting: a line is KEY = VALUE", setting->where, setting->key);
    if (pf_setting_is_simgrid(setting))
        check_simgrid(setting);
    for (size_t i = 0; i < file->count; i++)
        if (strcasecmp(file->settings[i].key, setting->key) == 0)
            pf_die("%s: %s is set twice, first in %s", setting->where, setting->key, file->settings[i].where);
}

static void add_setting(struct pf_setting_file *file, char *line, int number)
{
    struct pf_setting setting = {.where = pf_asprintf("%s:%d", file->path, number)};
    setting.source = pf_strdup(cut_source(line));
    char *equals = strchr(line, '=');
    if (!equals)
        pf_die("%s: '%.80s' has no '=': a line is KEY = VALUE", setting.where, pf_trimmed(line));
    *equals = 0;
    setting.key = pf_strdup(pf_trimmed(line));
    setting.value = pf_strdup(pf_trimmed(equals + 1));
    check_setting(file, &setting);
    file->settings = pf_reallocarray(file->settings, file->count + 1, sizeof *file->settings);
    file->settings[file->count++] = setting;
}

static FILE *open_file(const char *given, const char *path)
{
    struct stat info;
    FILE *in = fopen(path, "r");
    if (!in)
        pf_die("%s: cannot read '%s': %s", given, path, strerror(errno));
    if (fstat(fileno(in), &info) == 0 && S_ISDIR(info.st_mode))
        pf_die("%s: '%s' is a directory, and must be a file", given, path);
    return in;
}

/* The whole file, which the caller frees. Devices have no end, and what is no text would be cut at its first
 * byte 0. */
static char *read_all(const char *given, const char *path)
{
    FILE *in = open_file(given, path);
    char *text = pf_calloc(MOST + 2, 1);
    size_t length = fread(text, 1, MOST + 1, in);
    if (ferror(in))
        pf_die("%s: cannot read '%s': %s", given, path, strerror(errno));
    if (memchr(text, 0, length))
        pf_die("%s: '%s' is no text", given, path);
    if (length > MOST)
        pf_die("%s: '%s' is longer than %d MiB, and no file of settings", given, path, MOST >> 20);
    fclose(in);
    return text;
}

struct pf_setting_file *pf_setting_file_read(const char *given, const char *path)
{
    struct pf_setting_file *file = pf_calloc(1, sizeof *file);
    char *all = read_all(given, path), *rest = all, *line;
    bool top = true;
    file->path = pf_strdup(path);
    file->description = pf_strdup("");
    for (int number = 1; (line = strsep(&rest, "\n")); number++) {
        char *text = pf_trimmed(line);
        if (*text == '#' && top)
            describe(file, text + 1);
        top = top && *text == '#';
        if (*text && *text != '#')
            add_setting(file, text, number);
    }
    free(all);
    return file;
}

void pf_setting_file_free(struct pf_setting_file *file)
{
    for (size_t i = 0; file && i < file->count; i++) {
        free(file->settings[i].key);
        free(file->settings[i].value);
        free(file->settings[i].source);
        free(file->settings[i].where);
    }
    if (file) {
        free(file->settings);
        free(file->description);
        free(file->path);
    }
    free(file);
}
