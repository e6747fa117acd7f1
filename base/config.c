/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads, checks and prints the configuration, from config.def. */
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
    const char *range; /* as config.def explains */
    const char *help;
};

struct pf_config pf_config = {
#define PF_CFG(type, field, def, unit, range, help) .field = def,
#include "base/config.def"
#undef PF_CFG
};

static const struct entry entries[] = {
#define PF_CFG(type, field, def, unit, range, help)                                                          \
    {#field, type, offsetof(struct pf_config, field), #def, unit, range, help},
#include "base/config.def"
#undef PF_CFG
};

#define ENTRY_COUNT (sizeof entries / sizeof entries[0])

/* How the user named the entries that have been set. */
static const char *givens[ENTRY_COUNT];

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

/* Texts are kept for the life of the process, also those that have been replaced: callers may hold them. */
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

/* A row without a range has one of all numbers. */
static bool in_range(const struct entry *entry, double number)
{
    double least, most;
    return sscanf(entry->range, "%lf to %lf", &least, &most) != 2 || (number >= least && number <= most);
}

/* Is the text one of the words between bars? No bars and no words: any text is. */
static bool is_possible_word(const char *words, const char *text)
{
    if (!*words)
        return true;
    for (size_t length;; words += length + 1) {
        length = strcspn(words, "|");
        bool begins = length > 0 && words[length - 1] == '*';
        if ((begins ? strlen(text) >= length : strlen(text) == length) &&
            strncmp(words, text, length - begins) == 0)
            return true;
        if (!words[length])
            return false;
    }
}

static bool set_entry(const struct entry *entry, const char *text)
{
    char *field = (char *)&pf_config + entry->offset;
    double number;
    switch (entry->type) {
    case BOOL:
        return parse_bool(text, (bool *)field);
    case STR: {
        char *copy = is_possible_word(entry->range, text) ? keep(text) : NULL;
        if (copy)
            memcpy(field, &copy, sizeof copy);
        return copy != NULL;
    }
    case DOUBLE:
        if (!parse_number(text, &number) || !in_range(entry, number))
            return false;
        memcpy(field, &number, sizeof number);
        return true;
    case INT:
    case SIZE:
        if (!parse_number(text, &number) || number != floor(number) || !in_range(entry, number))
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

/* What the row allows, in words. */
static const char *possible(const struct entry *entry, char *text, size_t size)
{
    const char *words = entry->range;
    int n = 0;
    switch (entry->type) {
    case BOOL:
        return "yes or no";
    case STR:
        n = snprintf(text, size, "one of: %s", *words == '|' ? "(nothing)" : "");
        for (; *words && n < (int)size; words++)
            n += snprintf(text + n, size - (size_t)n, *words == '|' ? ", " : "%c", *words);
        return text;
    case INT:
    case SIZE:
    case DOUBLE:
        snprintf(text, size, "%s from %s%s%s", entry->type == DOUBLE ? "a number" : "a whole number",
                 entry->range, *entry->unit ? " " : "", entry->unit);
        return text;
    }
    return "";
}

static _Noreturn void refuse(const char *given, const struct entry *entry, const char *value)
{
    char text[200];
    pf_die("%s: '%s' is not %s", given, value, possible(entry, text, sizeof text));
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

/* The nearest name to one that no row has, in the case of `name`; empty when none is near. */
static const char *nearest_entry(const char *name, char *text, size_t size)
{
    const char *names[ENTRY_COUNT];
    bool upper = isupper((unsigned char)*name);
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        names[i] = entries[i].name;
    const char *near = pf_nearest_word(name, names, ENTRY_COUNT);
    snprintf(text, size, "%s", near ? near : "");
    for (char *c = text; upper && *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return text;
}

static void report_unknown(const char *name)
{
    char near[80];
    if (*nearest_entry(name, near, sizeof near))
        pf_warn("unknown variable PARFOCAL_%s; maybe PARFOCAL_%s? (pfinfo -c lists all)", name, near);
    else
        pf_warn("unknown variable PARFOCAL_%s (pfinfo -c lists all)", name);
}

/* The entry that the user has named; there is one, or the process ends. */
static const struct entry *expect_entry(const char *given, const char *name)
{
    char near[80];
    const struct entry *entry = find_entry(name, strlen(name));
    if (!entry && *nearest_entry(name, near, sizeof near))
        pf_die("%s: there is no setting '%s', maybe %s? (pfinfo -c lists all)", given, name, near);
    if (!entry)
        pf_die("%s: there is no setting '%s' (pfinfo -c lists all)", given, name);
    return entry;
}

void pf_config_give(const char *given, const char *name, const char *value)
{
    const struct entry *entry = expect_entry(given, name);
    if (!set_entry(entry, value))
        refuse(given, entry, value);
    givens[entry - entries] = keep(given);
}

void pf_config_suggest(const char *given, const char *name, const char *value)
{
    const struct entry *entry = expect_entry(given, name);
    struct pf_config before = pf_config;
    if (!set_entry(entry, value)) /* also where the user has given another one */
        refuse(given, entry, value);
    if (givens[entry - entries])
        pf_config = before;
    else
        givens[entry - entries] = keep(given);
}

bool pf_config_is_any_text(const char *name)
{
    const struct entry *entry = find_entry(name, strlen(name));
    return entry && entry->type == STR && !*entry->range;
}

const char *pf_config_default(const char *name)
{
    const struct entry *entry = find_entry(name, strlen(name));
    return entry ? entry->def : "";
}

const char *pf_config_osc(void)
{
    return *pf_config.openmpi_osc ? pf_config.openmpi_osc : PF_OPENMPI_OSC;
}

const char *pf_config_ucx_osc(void)
{
    bool by_messages = strcmp(PF_OPENMPI_OSC, "pt2pt") == 0;
    return *pf_config.ucx_osc ? pf_config.ucx_osc : by_messages ? "pt2pt" : "ucx";
}

const char *pf_config_given(const char *name)
{
    const struct entry *entry = find_entry(name, strlen(name));
    const char *given = entry ? givens[entry - entries] : NULL;
    return given ? given : name;
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
        const char *equals = strchr(*variable, '=');
        char given[120];
        if (!equals)
            continue;
        snprintf(given, sizeof given, "%.*s", (int)(equals - *variable), *variable);
        const char *name = given + sizeof prefix - 1;
        if (find_entry(name, strlen(name)))
            pf_config_give(given, name, equals + 1);
        else
            report_unknown(name);
    }
}

static void print_value(FILE *out, const struct entry *entry, int digits)
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
        fprintf(out, "%.*g", digits, *(const double *)field);
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
        print_value(out, entry, 12);
        fprintf(out, "\n    %s, default %s%s%s%s%s%s: %s\n", type_names[entry->type], entry->def,
                *entry->unit ? " " : "", entry->unit, *entry->range ? " (" : "", entry->range,
                *entry->range ? ")" : "", entry->help);
    }
}

void pf_config_write(FILE *out, const char *prefix)
{
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        const struct entry *entry = &entries[i];
        if (strncmp(entry->name, prefix, strlen(prefix)) != 0)
            continue;
        fprintf(out, "%s=", entry->name);
        if (entry->type == STR)
            fputs(*(const char *const *)((const char *)&pf_config + entry->offset), out);
        else
            print_value(out, entry, 17);
        fputc('\n', out);
    }
}
