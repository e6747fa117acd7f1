/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins texts and numbers without the C library's formatting, where a format asks for nothing else. */
#include "adapters/openmpi/texts.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { MOST = 8, DIGITS = 20 };

struct piece {
    const char *begin;
    size_t length;
    char digits[DIGITS + 1];
};

static void write_number(struct piece *piece, unsigned long number, bool negative)
{
    char *begin = piece->digits + sizeof piece->digits;
    do
        *--begin = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    if (negative)
        *--begin = '-';
    piece->begin = begin;
    piece->length = (size_t)(piece->digits + sizeof piece->digits - begin);
}

static void write_signed(struct piece *piece, long number)
{
    write_number(piece, number < 0 ? 0 - (unsigned long)number : (unsigned long)number, number < 0);
}

/* What one conversion makes: %s, %d, %u, %ld or %lu. Returns what follows it; NULL for any other. */
static const char *convert(struct piece *piece, const char *conversion, va_list *arguments)
{
    bool is_long = *conversion == 'l';
    conversion += is_long;
    if (*conversion == 'd') {
        write_signed(piece, is_long ? va_arg(*arguments, long) : va_arg(*arguments, int));
    } else if (*conversion == 'u') {
        write_number(piece, is_long ? va_arg(*arguments, unsigned long) : va_arg(*arguments, unsigned),
                     false);
    } else {
        if (*conversion != 's' || is_long || !(piece->begin = va_arg(*arguments, const char *)))
            return NULL;
        piece->length = strlen(piece->begin);
    }
    return conversion + 1;
}

/* Whether the format asks for nothing else; the pieces of what it makes. */
static bool split(const char *format, va_list *arguments, struct piece *pieces, int *count)
{
    for (*count = 0; *format; (*count)++) {
        if (*count == MOST)
            return false;
        struct piece *piece = &pieces[*count];
        piece->begin = format;
        piece->length = strcspn(format, "%");
        format += piece->length;
        if (piece->length == 0 && !(format = convert(piece, format + 1, arguments)))
            return false;
    }
    return true;
}

static size_t length_of(const struct piece *pieces, int count)
{
    size_t length = 0;
    for (int i = 0; i < count; i++)
        length += pieces[i].length;
    return length;
}

/* Up to `room` bytes, the zero at the end included. */
static void join(char *text, size_t room, const struct piece *pieces, int count)
{
    for (int i = 0; i < count; i++) {
        size_t length = pieces[i].length < room ? pieces[i].length : room - 1;
        memcpy(text, pieces[i].begin, length);
        text += length;
        room -= length;
    }
    *text = '\0';
}

/* `flag` guards against %n in a format that was written to, of which Open MPI has none. */
int pf_ompi_asprintf(char **text, int flag, const char *format, ...)
{
    struct piece pieces[MOST];
    int count;
    va_list arguments;
    va_start(arguments, format);
    bool plain = split(format, &arguments, pieces, &count);
    va_end(arguments);
    if (plain) {
        size_t length = length_of(pieces, count);
        *text = pf_malloc(length + 1);
        join(*text, length + 1, pieces, count);
        return (int)length;
    }
    va_start(arguments, format);
    int length = vasprintf(text, format, arguments);
    va_end(arguments);
    return length < 0 ? -1 : length;
}

int pf_ompi_snprintf(char *text, size_t room, int flag, size_t size, const char *format, ...)
{
    struct piece pieces[MOST];
    int count;
    va_list arguments;
    va_start(arguments, format);
    bool plain = split(format, &arguments, pieces, &count);
    va_end(arguments);
    if (plain) {
        if (room > 0)
            join(text, room, pieces, count);
        return (int)length_of(pieces, count);
    }
    va_start(arguments, format);
    int length = vsnprintf(text, room, format, arguments);
    va_end(arguments);
    return length;
}
