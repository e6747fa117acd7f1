/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/config.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

extern char **environ;

enum entry_type { BOOL, INT, SIZE, DOUBLE, STR };

static const char *const type_names[] = {"bool", "int", "size", "double", "string"};

struct entry {
    const char *name;
    enum entry_type type;
    size_t offset;
    const char *def;
    const char *unit;
    const char *help;
};

struct pf_config pf_config = {
#define PF_CFG(type, field, def, unit, help) .field = def,
#include "base/config.def"
#undef PF_CFG
};

static const struct entry entries[] = {
#define PF_CFG(type, field, def, unit, help)                                                                 \
    {#field, type, offsetof(struct pf_config, field), #def, unit, help},
#include "base/config.def"
#undef PF_CFG
};

#define ENTRY_COUNT (sizeof entries / sizeof entries[0])

static bool parse_bool(const char *text, bool *out)
{
    static const char *const yes[] = {"1", "yes", "true", "on"};
    static const char *const no[] = {"0", "no", "false", "off"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *out = strcmp(text, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

/* A number with an optional binary suffix k, M or G; the whole text must be consumed. */
static bool parse_number(const char *text, double *out)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || errno || !isfinite(value))
        return false;
    static const char suffixes[] = "kMG";
    const char *suffix = *end ? strchr(suffixes, *end) : NULL;
    if (suffix) {
        value *= (double)(1L << (10 * (suffix - suffixes + 1)));
        end++;
    }
    if (*end)
        return false;
    *out = value;
    return true;
}

/* Texts are kept for the life of the process, also those that have been replaced: somebody may hold them. */
static char *keep(const char *text)
{
    struct kept {
        struct kept *next;
        char text[];
    };
    static struct kept *all;
    size_t size = strlen(text) + 1;
    struct kept *copy = malloc(sizeof *copy + size);
    if (!copy)
        return NULL;
    copy->next = all;
    all = copy;
    return memcpy(copy->text, text, size);
}

static bool set_entry(const struct entry *entry, const char *text)
{
    char *field = (char *)&pf_config + entry->offset;
    double number;
    switch (entry->type) {
    case BOOL:
        return parse_bool(text, (bool *)field);
    case STR: {
        char *copy = keep(text);
        memcpy(field, &copy, sizeof copy);
        return copy != NULL;
    }
    case DOUBLE:
        if (!parse_number(text, &number))
            return false;
        memcpy(field, &number, sizeof number);
        return true;
    case INT:
    case SIZE:
        if (!parse_number(text, &number) || number != floor(number) || fabs(number) > 9e15 ||
            (entry->type == SIZE && number < 0))
            return false;
        if (entry->type == INT)
            *(long *)field = (long)number;
        else
            *(size_t *)field = (size_t)number;
        return true;
    }
    return false;
}

static const struct entry *find_entry(const char *name, size_t length)
{
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if (strlen(entries[i].name) == length && strncasecmp(entries[i].name, name, length) == 0)
            return &entries[i];
    return NULL;
}

bool pf_config_set(const char *name, const char *value)
{
    const struct entry *entry = find_entry(name, strlen(name));
    return entry && set_entry(entry, value);
}

static int edit_distance(const char *a, const char *b)
{
    enum { MAX = 64 };
    int row[MAX + 1];
    int n = (int)strlen(b);
    if (n > MAX)
        return MAX;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int change = diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            diagonal = row[j];
            int shorter = row[j] < row[j - 1] ? row[j] : row[j - 1];
            row[j] = change < shorter + 1 ? change : shorter + 1;
        }
    }
    return row[n];
}

const char *pf_nearest_word(const char *word, const char *const *candidates, size_t n)
{
    const char *best = NULL;
    int limit = (int)strlen(word) / 2 + 1;
    for (size_t i = 0; i < n; i++) {
        int distance = edit_distance(word, candidates[i]);
        if (distance < limit) {
            limit = distance;
            best = candidates[i];
        }
    }
    return best;
}

static void report_unknown(const char *variable, size_t length)
{
    char name[80];
    const char *names[ENTRY_COUNT];
    snprintf(name, sizeof name, "%.*s", (int)length, variable);
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        names[i] = entries[i].name;
    const char *near = pf_nearest_word(name, names, ENTRY_COUNT);
    char upper[80] = "";
    for (size_t i = 0; near && near[i] && i + 1 < sizeof upper; i++) {
        upper[i] = (char)toupper((unsigned char)near[i]);
        upper[i + 1] = 0;
    }
    if (near)
        pf_warn("unknown variable PARFOCAL_%s; maybe PARFOCAL_%s? (pfinfo -c lists all)", name, upper);
    else
        pf_warn("unknown variable PARFOCAL_%s (pfinfo -c lists all)", name);
}

void pf_config_load(void)
{
    static bool loaded;
    static const char prefix[] = "PARFOCAL_";
    if (loaded)
        return;
    loaded = true;
    for (char **variable = environ; *variable; variable++) {
        if (strncmp(*variable, prefix, sizeof prefix - 1) != 0)
            continue;
        const char *name = *variable + sizeof prefix - 1;
        const char *equals = strchr(name, '=');
        if (!equals)
            continue;
        const struct entry *entry = find_entry(name, (size_t)(equals - name));
        if (!entry)
            report_unknown(name, (size_t)(equals - name));
        else if (!set_entry(entry, equals + 1))
            pf_die("%.*s: '%s' is not a valid %s", (int)(equals - *variable), *variable, equals + 1,
                   type_names[entry->type]);
    }
}

static void print_value(FILE *out, const struct entry *entry)
{
    const char *field = (const char *)&pf_config + entry->offset;
    switch (entry->type) {
    case BOOL:
        fputs(*(const bool *)field ? "yes" : "no", out);
        break;
    case INT:
        fprintf(out, "%ld", *(const long *)field);
        break;
    case SIZE:
        fprintf(out, "%zu", *(const size_t *)field);
        break;
    case DOUBLE:
        fprintf(out, "%.12g", *(const double *)field);
        break;
    case STR:
        fprintf(out, "\"%s\"", *(const char *const *)field);
        break;
    }
}

void pf_config_print(FILE *out)
{
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        const struct entry *entry = &entries[i];
        fputs("PARFOCAL_", out);
        for (const char *c = entry->name; *c; c++)
            fputc(toupper((unsigned char)*c), out);
        fputc('=', out);
        print_value(out, entry);
        fprintf(out, "\n    %s, default %s%s%s: %s\n", type_names[entry->type], entry->def,
                *entry->unit ? " " : "", entry->unit, entry->help);
    }
}
