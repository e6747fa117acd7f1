/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads, keeps and writes the parameters of the analytic model. */
#include "adapters/analytic/cost/parameters/parameters.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/analytic/cost/parameters/quantity.h"
#include "base/config.h"
#include "base/memory.h"
#include "base/setting_file.h"

enum kind { TIME, SIZE, RATE, FACTOR, WORD, TOPOLOGY };

static const struct key {
    const char *name;
    enum kind kind;
    bool by_size;
    const char *words;
} keys[] = {
#define PF_PARAMETER(id, name, kind, by_size, words, help) {name, kind, by_size, words},
#include "adapters/analytic/cost/parameters/keys.def"
#undef PF_PARAMETER
};

static const enum pf_quantity quantities[] = {PF_QUANTITY_TIME, PF_QUANTITY_SIZE, PF_QUANTITY_RATE,
                                              PF_QUANTITY_FACTOR};

/* The source of an entry, for messages, and whether it may replace an earlier one. */
struct place {
    const char *source, *unit;
    int number;
    bool replace;
};

static const char *find_key(const char *name, enum pf_parameter *out)
{
    const char *names[PF_PARAMETER_COUNT];
    for (int i = 0; i < PF_PARAMETER_COUNT; i++) {
        names[i] = keys[i].name;
        if (strcmp(name, keys[i].name) == 0) {
            *out = (enum pf_parameter)i;
            return NULL;
        }
    }
    const char *near = pf_nearest_word(name, names, PF_PARAMETER_COUNT);
    return pf_problem_write("unknown key '%s'%s%s%s", name, near ? ", maybe " : "", near ? near : "",
                            near ? "?" : "");
}

/* Cuts `key[SIZE]` into both. */
static const char *split_size(char *key, size_t *from, bool *sized)
{
    double size = 0;
    char *open = strchr(key, '[');
    *sized = open != NULL;
    *from = 0;
    if (!open)
        return NULL;
    char *close = strchr(open, ']');
    if (!close || close[1])
        return pf_problem_write("'%s': a size is written key[SIZE]", key);
    *close = 0;
    *open = 0;
    const char *wrong = pf_quantity_read(pf_trimmed(open + 1), PF_QUANTITY_SIZE, &size);
    if (wrong)
        return wrong;
    if (isinf(size))
        return pf_problem_write("%s: no message is unlimited", key);
    *from = (size_t)size;
    pf_trimmed(key);
    return NULL;
}

static const char *read_word(const struct key *key, const char *text, double *out)
{
    char words[100], *save;
    int index = 0;
    snprintf(words, sizeof words, "%s", key->words);
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save), index++) {
        if (strcmp(word, text) == 0) {
            *out = index;
            return NULL;
        }
    }
    return pf_problem_write("%s: '%s' is none of: %s", key->name, text, key->words);
}

static const char *read_value(const struct key *key, const char *text, struct pf_parameter_value *value,
                              double *number)
{
    *number = 0;
    if (!*text)
        return pf_problem_write("%s has no value", key->name);
    if (key->kind == WORD)
        return read_word(key, text, number);
    if (key->kind == TOPOLOGY) {
        if (strlen(text) >= sizeof value->text)
            return pf_problem_write("%s: the description is too long", key->name);
        strcpy(value->text, text);
        return NULL;
    }
    const char *wrong = pf_quantity_read(text, quantities[key->kind], number);
    return wrong ? pf_problem_write("%s: %s", key->name, wrong) : NULL;
}

static const char *insert(const struct key *key, struct pf_parameter_value *value, size_t from, double number,
                          bool replace)
{
    int at = 0;
    while (at < value->count && value->from[at] < from)
        at++;
    if (at < value->count && value->from[at] == from) {
        if (!replace)
            return pf_problem_write("%s is given twice%s (first at %s)", key->name,
                                    from ? " for this size" : "", value->where);
        value->number[at] = number;
        return NULL;
    }
    if (value->count == PF_PARAMETER_SIZES)
        return pf_problem_write("%s has more than %d sizes", key->name, PF_PARAMETER_SIZES);
    memmove(value->from + at + 1, value->from + at, (size_t)(value->count - at) * sizeof value->from[0]);
    memmove(value->number + at + 1, value->number + at,
            (size_t)(value->count - at) * sizeof value->number[0]);
    value->from[at] = from;
    value->number[at] = number;
    value->count++;
    return NULL;
}

static const char *read_entry(struct pf_parameters *parameters, char *entry, const struct place *place)
{
    enum pf_parameter id;
    size_t from;
    bool sized;
    double number;
    char *equals = strchr(entry, '=');
    if (!equals)
        return pf_problem_write("'%s': an entry is 'key = value'", entry);
    *equals = 0;
    char *name = pf_trimmed(entry);
    const char *wrong = split_size(name, &from, &sized);
    if (wrong || (wrong = find_key(name, &id)))
        return wrong;
    const struct key *key = &keys[id];
    struct pf_parameter_value *value = &parameters->value[id];
    if (sized && !key->by_size)
        return pf_problem_write("%s does not depend on a size", key->name);
    wrong = read_value(key, pf_trimmed(equals + 1), value, &number);
    if (wrong)
        return wrong;
    if (place->replace && !sized)
        value->count = 0;
    wrong = insert(key, value, from, number, place->replace);
    if (!wrong)
        snprintf(value->where, sizeof value->where, "%s: %s %d", place->source, place->unit, place->number);
    return wrong;
}

/* Adds the place of an entry to a message. */
static const char *at_place(const char *wrong, const struct place *place)
{
    return pf_problem_write("%s: %s %d: %s", place->source, place->unit, place->number, wrong);
}

const char *pf_parameters_read_file(struct pf_parameters *parameters, const char *file)
{
    struct place place = {file, "line", 0, false};
    char *line = NULL;
    size_t room = 0;
    const char *wrong = NULL;
    FILE *in = fopen(file, "r");
    if (!in)
        return pf_problem_write("%s: cannot read it: %s", file, strerror(errno));
    for (ssize_t length; !wrong && (length = getline(&line, &room, in)) >= 0;) {
        place.number++;
        if (memchr(line, 0, (size_t)length)) {
            wrong = at_place("this is no text", &place);
            break;
        }
        line[strcspn(line, "#")] = 0;
        char *entry = pf_trimmed(line);
        if (*entry && (wrong = read_entry(parameters, entry, &place)))
            wrong = at_place(wrong, &place);
    }
    if (!wrong && ferror(in))
        wrong = pf_problem_write("%s: cannot read it: %s", file, strerror(errno));
    free(line);
    fclose(in);
    return wrong;
}

const char *pf_parameters_read_text(struct pf_parameters *parameters, const char *text, const char *source)
{
    struct place place = {source, "entry", 0, true};
    char *copy = pf_strdup(text), *rest = copy;
    const char *wrong = NULL;
    while (!wrong && rest) {
        char *entry = pf_trimmed(strsep(&rest, ";"));
        place.number++;
        if (*entry && (wrong = read_entry(parameters, entry, &place)))
            wrong = at_place(wrong, &place);
    }
    free(copy);
    return wrong;
}

bool pf_parameters_has(const struct pf_parameters *parameters, enum pf_parameter key)
{
    return parameters->value[key].count > 0;
}

void pf_parameters_give(struct pf_parameters *parameters, enum pf_parameter key, size_t from, double number,
                        const char *rows)
{
    struct pf_parameter_value *value = &parameters->value[key];
    insert(&keys[key], value, from, number, true);
    value->rows = rows;
    snprintf(value->where, sizeof value->where, "derived from %s", rows);
}

void pf_parameters_give_word(struct pf_parameters *parameters, enum pf_parameter key, const char *word,
                             const char *rows)
{
    double number = 0;
    read_word(&keys[key], word, &number);
    pf_parameters_give(parameters, key, 0, number, rows);
}

double pf_parameters_at(const struct pf_parameters *parameters, enum pf_parameter key, size_t bytes,
                        double otherwise)
{
    const struct pf_parameter_value *value = &parameters->value[key];
    double result = otherwise;
    for (int i = 0; i < value->count && value->from[i] <= bytes; i++)
        result = value->number[i];
    return result;
}

static void write_number(const struct key *key, const struct pf_parameter_value *value, int i, FILE *out)
{
    char text[60], words[100], *save;
    if (key->kind == TOPOLOGY) {
        fputs(value->text, out);
    } else if (key->kind == WORD) {
        snprintf(words, sizeof words, "%s", key->words);
        char *word = strtok_r(words, " ", &save);
        for (int n = 0; word && n < (int)value->number[i]; n++)
            word = strtok_r(NULL, " ", &save);
        fputs(word ? word : "", out);
    } else {
        pf_quantity_write(value->number[i], quantities[key->kind], text, sizeof text);
        fputs(text, out);
    }
}

void pf_parameters_write(const struct pf_parameters *parameters, FILE *out)
{
    for (int id = 0; id < PF_PARAMETER_COUNT; id++) {
        const struct pf_parameter_value *value = &parameters->value[id];
        if (value->count && value->rows)
            fprintf(out, "# from %s\n", value->rows);
        for (int i = 0; i < value->count; i++) {
            char size[60];
            pf_quantity_write((double)value->from[i], PF_QUANTITY_SIZE, size, sizeof size);
            fprintf(out, value->from[i] ? "%s[%s] = " : "%s = ", keys[id].name, size);
            write_number(&keys[id], value, i, out);
            fputc('\n', out);
        }
    }
}

const char *pf_parameter_name(enum pf_parameter key)
{
    return keys[key].name;
}
