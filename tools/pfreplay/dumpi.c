/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DUMPI as text: what dumpi2ascii of SST's sst-dumpi prints of one rank's binary file. A trace is a list of
 * such files, one for each rank in order. A call is a line `MPI_X entering at walltime S.N, ...`, one line
 * for each argument, and a line `MPI_X returning at walltime S.N, ...`.
 */
#include "tools/pfreplay/dumpi.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/setting_file.h"
#include "tools/pfreplay/text.h"

/* Whether a line is the begin of a call. */
static bool is_entering(const char *line)
{
    return strncmp(line, "MPI", 3) == 0 && strstr(line, " entering at walltime ");
}

/* What dumpi2ascii -H prints before the calls. */
static bool is_header(const char *line)
{
    static const char *const names[] = {
        "version=", "starttime=", "hostname=", "username=", "meshdim=", "meshsize=", "meshcrd="};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(line, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool is_trace(const char *head)
{
    head += strspn(head, " \t\r\n");
    return is_header(head) || (strncmp(head, "MPI", 3) == 0 && strstr(head, " entering at walltime "));
}

static bool knows(const char *path, const char *head)
{
    char first[512] = "";
    const char *name = head;
    if (is_trace(head))
        return true;
    while (*name == '#' || isspace((unsigned char)*name))
        name += *name == '#' ? strcspn(name, "\n") : 1;
    size_t length = strcspn(name, "\r\n");
    if (length == 0 || length > 1000)
        return false;
    char *listed = pf_strndup(name, length), *resolved = replay_ti_name(path, listed);
    FILE *file = fopen(resolved, "re");
    if (file) {
        first[fread(first, 1, sizeof first - 1, file)] = 0;
        fclose(file);
    }
    free(listed);
    free(resolved);
    return is_trace(first);
}

/* ---- Lines. */

/* The next one without its end; false at the end of the file. */
static bool next_line(struct dumpi *d)
{
    ssize_t length = getline(&d->text, &d->room, d->file);
    if (length < 0)
        return false;
    d->line++;
    while (length > 0 && isspace((unsigned char)d->text[length - 1]))
        d->text[--length] = 0;
    return true;
}

static void add_field(struct dumpi *d, const char *line)
{
    PF_ARRAY_ROOM(d->fields, d->field_room, d->field_count + 1);
    d->fields[d->field_count++] = pf_strdup(line);
}

/* An array of arrays is printed over several lines, and the next field stands behind its last bracket. */
static const char *continue_field(struct dumpi *d)
{
    const char *rest = d->text;
    if (d->field_count == 0 || (*rest != ']' && strncmp(rest, ", [", 3) != 0))
        return rest;
    char **last = &d->fields[d->field_count - 1];
    size_t length = *rest == ']' ? 1 : strlen(rest);
    char *joined = pf_asprintf("%s%.*s", *last, (int)length, rest);
    free(*last);
    *last = joined;
    return rest + length;
}

/* ---- Calls. */

/* Nanoseconds behind `what` in the line of the call's begin or end. */
static int64_t read_time(const struct dumpi *d, const char *what)
{
    const char *text = strstr(d->text, what);
    char *end;
    text += strlen(what);
    errno = 0;
    long long seconds = strtoll(text, &end, 10);
    int64_t fraction = 0, unit = 1000000000;
    if (end == text || errno || *end != '.' || seconds < 0 || seconds > 4000000000)
        dumpi_die(d, "%.60s: its time is no number of seconds", d->text);
    for (end++; isdigit((unsigned char)*end) && unit > 1; end++, unit /= 10)
        fraction = 10 * fraction + (*end - '0');
    if (*end != ',')
        dumpi_die(d, "%.60s: its time is no number of seconds", d->text);
    return seconds * 1000000000 + fraction * unit;
}

static void read_fields(struct dumpi *d)
{
    for (int i = 0; i < d->field_count; i++)
        free(d->fields[i]);
    d->field_count = 0;
    size_t length = strlen(d->function);
    for (;;) {
        if (!next_line(d))
            dumpi_die(d, "the file ends in the middle of %s", d->function);
        if (strncmp(d->text, d->function, length) == 0 &&
            strncmp(d->text + length, " returning at walltime ", 23) == 0)
            return;
        const char *line = continue_field(d);
        if (!*line || strncmp(line, "Perfcounters:", 13) == 0)
            continue;
        if (!strchr(line, '=') || !strchr(line, ' ') || is_entering(line))
            dumpi_die(d, "'%.60s' in the middle of %s, where an argument or its end should be", line,
                      d->function);
        add_field(d, line);
    }
}

/* One call, from its first line, which has been read. Time between calls is computation. */
static int64_t read_call(struct dumpi *d, int64_t since)
{
    size_t length = strcspn(d->text, " ");
    int64_t from = read_time(d, " entering at walltime ");
    if (length >= sizeof d->function)
        dumpi_die(d, "there is no function %.60s", d->text);
    memcpy(d->function, d->text, length);
    d->function[length] = 0;
    read_fields(d);
    int64_t to = read_time(d, " returning at walltime ");
    if (d->begun && !d->ended && from > since)
        fprintf(d->out, "%d compute %lld\n", d->rank, (long long)(from - since));
    dumpi_call(d);
    return to > since ? to : since;
}

/* What dumpi2ascii -X prints: `Datatype 28 (user-defined-datatype) has size 24`, behind the calls. */
static void read_sizes(struct dumpi *d)
{
    while (next_line(d)) {
        struct dumpi_type *type;
        int number;
        long size;
        char *has = strstr(d->text, " has size ");
        if (strncmp(d->text, "Datatype ", 9) != 0 || !has || sscanf(d->text + 9, "%d", &number) != 1 ||
            sscanf(has + 10, "%ld", &size) != 1 || size < 0)
            continue;
        HASH_FIND_INT(d->sizes, &number, type);
        if (!type) {
            type = pf_calloc(1, sizeof *type);
            type->self = number;
            HASH_ADD_INT(d->sizes, self, type);
        }
        type->size = size;
    }
    rewind(d->file);
    d->line = 0;
}

static void read_rank(const char *path, int rank, int ranks, FILE *out)
{
    struct dumpi d = {.path = path, .rank = rank, .ranks = ranks, .out = out, .file = fopen(path, "re")};
    int64_t since = 0;
    bool called = false;
    if (!d.file)
        pf_die("-replay: rank %d: cannot read '%s': %s", rank, path, strerror(errno));
    read_sizes(&d);
    while (next_line(&d)) {
        if (is_entering(d.text)) {
            since = read_call(&d, since);
            called = true;
        } else if (*d.text && !d.ended && strncmp(d.text, "Perfcounters:", 13) != 0 &&
                   (called || !is_header(d.text))) {
            dumpi_die(&d, "'%.60s', where a call of MPI should begin", d.text);
        }
    }
    if (!d.ended)
        dumpi_die(&d, "the file ends before MPI_Finalize");
    dumpi_objects_free(&d);
    for (int i = 0; i < d.field_count; i++)
        free(d.fields[i]);
    free(d.fields);
    free(d.text);
    fclose(d.file);
}

/* The files of all ranks. */
static char **read_list(const char *path, int *count)
{
    FILE *file = fopen(path, "re");
    char **names = NULL, *text = NULL, head[512] = "";
    size_t room = 0;
    *count = 0;
    if (!file)
        pf_die("-replay: cannot read '%s': %s", path, strerror(errno));
    head[fread(head, 1, sizeof head - 1, file)] = 0;
    rewind(file);
    while (!is_trace(head) && getline(&text, &room, file) > 0) {
        const char *word = pf_trimmed(text);
        if (!*word || *word == '#')
            continue;
        names = pf_reallocarray(names, (size_t)*count + 1, sizeof *names);
        names[(*count)++] = replay_ti_name(path, word);
    }
    if (*count == 0) {
        names = pf_calloc(1, sizeof *names);
        names[(*count)++] = pf_strdup(path);
    }
    free(text);
    fclose(file);
    return names;
}

static void dumpi_open(struct replay_source *source, const char *path)
{
    struct replay_text text;
    int ranks;
    char **names = read_list(path, &ranks);
    replay_text_begin(&text, ranks);
    for (int rank = 0; rank < ranks; rank++) {
        read_rank(names[rank], rank, ranks, text.out);
        free(names[rank]);
    }
    free(names);
    replay_text_end(&text, source, pf_asprintf("%s (as text)", path));
}

const struct replay_source_ops replay_dumpi = {.size = sizeof replay_dumpi,
                                               .name = "dumpi",
                                               .knows = knows,
                                               .open = dumpi_open,
                                               .next = replay_ti_next,
                                               .file = replay_ti_file,
                                               .line = replay_ti_line};
