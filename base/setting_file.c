/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files of settings: machines and calibrations. */
#include "base/setting_file.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/memory.h"

enum { MOST = 4 << 20 }; /* bytes of a file; a fit to model smpi writes some 10,000 */

/* The text without blanks at its ends, within itself. */
static char *trimmed(char *text)
{
    text += strspn(text, " \t\r\n");
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    text[length] = 0;
    return text;
}

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
            return trimmed(c + 1);
        }
    }
    return line + strlen(line);
}

/* One of the lists SIZE:VALUE...;SIZE:VALUE... of SimGrid, which ends in the middle of the run when it cannot
 * read one. Behind a value there may be a unit. */
static bool is_list(const char *text)
{
    while (*text) {
        for (int i = 0; i == 0 || *text == ':'; i++) {
            char *end;
            text += i > 0;
            if (!isfinite(strtod(text, &end)) || end == text || (i == 0 && *end != ':'))
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

static void check_list(const struct pf_setting *setting)
{
    static const char *const lists[] = {"smpi/lat-factor", "smpi/bw-factor", "smpi/os", "smpi/ois",
                                        "smpi/or"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (strcmp(setting->key, lists[i]) == 0 && !is_list(setting->value))
            pf_die("%s: %s: '%s' is no list such as 0:1;65536:1.5, of sizes and values", setting->where,
                   setting->key, setting->value);
}

static void check_setting(const struct pf_setting_file *file, const struct pf_setting *setting)
{
    if (!*setting->key || strcspn(setting->key, " \t") != strlen(setting->key))
        pf_die("%s: '%s' is no name of a setting: a line is KEY = VALUE", setting->where, setting->key);
    if (pf_setting_is_simgrid(setting) && (!*setting->value || strpbrk(setting->value, " \t")))
        pf_die("%s: %s: a setting of SimGrid has a value without blanks, not '%s'", setting->where,
               setting->key, setting->value);
    check_list(setting);
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
        pf_die("%s: '%.80s' has no '=': a line is KEY = VALUE", setting.where, trimmed(line));
    *equals = 0;
    setting.key = pf_strdup(trimmed(line));
    setting.value = pf_strdup(trimmed(equals + 1));
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
        char *text = trimmed(line);
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
