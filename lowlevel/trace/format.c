/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of traces: the usual formats, without the C library. */
#include "lowlevel/trace/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct text {
    char *at, *end; /* where the next character goes; behind the room */
};

static bool put(struct text *t, const char *from, size_t length)
{
    if (length > (size_t)(t->end - t->at))
        return false;
    memcpy(t->at, from, length);
    t->at += length;
    return true;
}

/* With zeros in front, if it has fewer digits. */
static bool put_number(struct text *t, uint64_t number, int digits)
{
    char text[20];
    int first = sizeof text;
    do {
        text[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0 || first > (int)sizeof text - digits);
    return put(t, text + first, sizeof text - (size_t)first);
}

/* Rounded like printf's: exactly, and a half to the even digit. */
static bool put_fixed(struct text *t, double value, int places)
{
    enum { MOST_PLACES = 12, BITS = 53, MOST_SHIFT = 100 };
    __extension__ typedef unsigned __int128 wide;
    if (!(value >= 0 && value < 1e6) || signbit(value) || places > MOST_PLACES)
        return false;
    int exponent;
    wide scaled = (uint64_t)ldexp(frexp(value, &exponent), BITS);
    uint64_t scale = 1;
    for (int i = 0; i < places; i++)
        scale *= 10;
    scaled *= scale; /* below 2^93 */
    int shift = BITS - exponent;
    uint64_t rounded = 0;
    if (shift < MOST_SHIFT) {
        wide half = (wide)1 << (shift - 1), rest = scaled & (2 * half - 1);
        rounded = (uint64_t)(scaled >> shift);
        rounded += rest > half || (rest == half && rounded % 2);
    }
    return put_number(t, rounded / scale, 1) &&
           (places == 0 || (put(t, ".", 1) && put_number(t, rounded % scale, places)));
}

/* Puts one argument and moves `format` behind its conversion. False for what is too long or unusual. */
static bool put_argument(struct text *t, const char **format, va_list *args)
{
    const char *kind = *format + 1;
    *format += 2;
    if (*kind == 's') {
        const char *string = va_arg(*args, const char *);
        return string && put(t, string, strlen(string));
    }
    if (*kind == 'c') {
        char character = (char)va_arg(*args, int);
        return put(t, &character, 1);
    }
    if (*kind == 'd') {
        int number = va_arg(*args, int);
        return number < 0 ? put(t, "-", 1) && put_number(t, -(uint64_t)number, 1)
                          : put_number(t, (uint64_t)number, 1);
    }
    if (strncmp(kind, PRIu64, strlen(PRIu64)) == 0) {
        *format = kind + strlen(PRIu64);
        return put_number(t, va_arg(*args, uint64_t), 1);
    }
    int places = 0;
    if (*kind++ != '.')
        return false;
    while (*kind >= '0' && *kind <= '9' && places < 100)
        places = 10 * places + *kind++ - '0';
    *format = kind + 1;
    return *kind == 'f' && put_fixed(t, va_arg(*args, double), places);
}

/* False: something is unusual. */
static bool format_usual(struct text *t, const char *format, va_list *args)
{
    while (*format) {
        size_t plain = 0;
        while (format[plain] && format[plain] != '%')
            plain++;
        if (!put(t, format, plain))
            return false;
        format += plain;
        if (*format && !put_argument(t, &format, args))
            return false;
    }
    return put(t, "", 1);
}

int pf_trace_vformat(char *text, size_t size, const char *format, va_list args)
{
    struct text t = {text, text + size};
    va_list again;
    va_copy(again, args);
    bool done = format_usual(&t, format, &again);
    va_end(again);
    return done ? (int)(t.at - text) - 1 : vsnprintf(text, size, format, args);
}

int pf_trace_format(char *text, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = pf_trace_vformat(text, size, format, args);
    va_end(args);
    return length;
}
