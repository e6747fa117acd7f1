/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins texts without the C library's formatting, where a format asks for nothing else. */
#include "adapters/openmpi/asprintf.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { MOST = 8 };

struct piece {
    const char *begin;
    size_t length;
};

/* Whether the format is characters and %s alone; the pieces of what it makes. */
static bool split(const char *format, va_list arguments, struct piece *pieces, int *count)
{
    for (*count = 0; *format; (*count)++) {
        if (*count == MOST)
            return false;
        struct piece *piece = &pieces[*count];
        piece->begin = format;
        piece->length = strcspn(format, "%");
        format += piece->length;
        if (piece->length > 0)
            continue;
        if (format[1] != 's' || !(piece->begin = va_arg(arguments, const char *)))
            return false;
        piece->length = strlen(piece->begin);
        format += 2;
    }
    return true;
}

static int join(char **text, const struct piece *pieces, int count)
{
    size_t length = 0;
    for (int i = 0; i < count; i++)
        length += pieces[i].length;
    char *end = *text = pf_malloc(length + 1);
    for (int i = 0; i < count; i++)
        end = (char *)memcpy(end, pieces[i].begin, pieces[i].length) + pieces[i].length;
    *end = '\0';
    return (int)length;
}

int pf_ompi_asprintf(char **text, int flag, const char *format, ...)
{
    struct piece pieces[MOST];
    int count;
    va_list arguments;
    (void)flag; /* it guards against %n in a format that was written to, of which Open MPI has none */
    va_start(arguments, format);
    bool plain = split(format, arguments, pieces, &count);
    va_end(arguments);
    if (plain)
        return join(text, pieces, count);
    va_start(arguments, format);
    int length = vasprintf(text, format, arguments);
    va_end(arguments);
    return length < 0 ? -1 : length;
}
