/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of a call in a DUMPI file. */
#include "tools/pfreplay/dumpi.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"

void dumpi_die(const struct dumpi *d, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pf_die("%s: line %ld: rank %d: %s", d->path, d->line, d->rank, text);
}

const char *dumpi_field(const struct dumpi *d, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < d->field_count; i++) {
        const char *word = strchr(d->fields[i], ' ');
        if (!word || strncmp(word + 1, name, length) != 0)
            continue;
        word += 1 + length;
        if (*word == '[')
            word += strcspn(word, "=");
        if (*word == '=')
            return word + 1;
    }
    return NULL;
}

long dumpi_number(const struct dumpi *d, const char *name)
{
    const char *value = dumpi_field(d, name);
    char *end;
    if (!value)
        dumpi_die(d, "%s has no %s", d->function, name);
    value += *value == '['; /* a request is an array of one */
    errno = 0;
    long number = strtol(value, &end, 10);
    if (end == value || errno || !strchr(" ]", *end) || number > INT32_MAX || number < INT32_MIN)
        dumpi_die(d, "%s of %s is '%.40s', which must be a number", name, d->function, value);
    return number;
}

int *dumpi_array(const struct dumpi *d, const char *name, int *count)
{
    const char *value = dumpi_field(d, name);
    int *numbers = NULL, room = 0;
    *count = 0;
    if (!value)
        dumpi_die(d, "%s has no %s", d->function, name);
    if (strncmp(value, "<IGNORED>", 9) == 0)
        return pf_calloc(1, sizeof *numbers);
    for (const char *at = value; *at && *(at += strspn(at, "[], "));) {
        char *end;
        long number = strtol(at, &end, 10);
        if (end == at || number > INT32_MAX || number < INT32_MIN)
            dumpi_die(d, "%s of %s is '%.40s', which must be numbers", name, d->function, value);
        PF_ARRAY_ROOM(numbers, room, *count + 1);
        numbers[(*count)++] = (int)number;
        at = end;
    }
    return numbers ? numbers : pf_calloc(1, sizeof *numbers);
}
