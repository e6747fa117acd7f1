/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers with units, read and written. */
#include "adapters/analytic/cost/parameters/quantity.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct unit {
    enum pf_quantity kind;
    const char *name;
    double scale;
} units[] = {
    {PF_QUANTITY_TIME, "s", 1},
    {PF_QUANTITY_TIME, "ms", 1e-3},
    {PF_QUANTITY_TIME, "us", 1e-6},
    {PF_QUANTITY_TIME, "ns", 1e-9},
    {PF_QUANTITY_SIZE, "B", 1},
    {PF_QUANTITY_SIZE, "kB", 1e3},
    {PF_QUANTITY_SIZE, "MB", 1e6},
    {PF_QUANTITY_SIZE, "GB", 1e9},
    {PF_QUANTITY_SIZE, "KiB", 1024},
    {PF_QUANTITY_SIZE, "MiB", 1048576},
    {PF_QUANTITY_SIZE, "GiB", 1073741824},
    {PF_QUANTITY_RATE, "B/s", 1},
    {PF_QUANTITY_RATE, "kB/s", 1e3},
    {PF_QUANTITY_RATE, "MB/s", 1e6},
    {PF_QUANTITY_RATE, "GB/s", 1e9},
    {PF_QUANTITY_RATE, "KiB/s", 1024},
    {PF_QUANTITY_RATE, "MiB/s", 1048576},
    {PF_QUANTITY_RATE, "GiB/s", 1073741824},
    {PF_QUANTITY_RATE, "Mbit/s", 125e3},
    {PF_QUANTITY_RATE, "Gbit/s", 125e6},
};

#define UNIT_COUNT (sizeof units / sizeof units[0])

static const char *const examples[] = {"2.5 us", "64 KiB", "11.1 GB/s", "0.92"};

const char *pf_problem_write(const char *format, ...)
{
    static char problem[600];
    char text[sizeof problem]; /* an earlier problem may be among the arguments */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return strcpy(problem, text);
}

static const char *fail(const char *text, const char *reason, enum pf_quantity kind)
{
    return pf_problem_write("'%s' %s; an example is '%s'", text, reason, examples[kind]);
}

const char *pf_quantity_read(const char *text, enum pf_quantity kind, double *value)
{
    char *end;
    if ((kind == PF_QUANTITY_SIZE || kind == PF_QUANTITY_RATE) && strcmp(text, "unlimited") == 0) {
        *value = INFINITY;
        return NULL;
    }
    errno = 0;
    double number = strtod(text, &end);
    if (end == text)
        return fail(text, "does not begin with a number", kind);
    if (errno == ERANGE || !isfinite(number))
        return fail(text, "is not a finite number", kind);
    if (signbit(number) && number != 0)
        return fail(text, "is negative", kind);
    end += strspn(end, " \t");
    double scale = *end ? 0 : 1;
    for (size_t i = 0; i < UNIT_COUNT && *end; i++)
        if (units[i].kind == kind && strcmp(units[i].name, end) == 0)
            scale = units[i].scale;
    if (scale == 0)
        return fail(text, "has a unit that does not belong here", kind);
    /* Decimal fractions of a unit are divided by a whole number, which rounds once and not twice. */
    number = scale < 1 ? number / round(1 / scale) : number * scale;
    if (kind == PF_QUANTITY_SIZE && (number != floor(number) || number > 1e15))
        return fail(text, "is not a whole number of bytes", kind);
    if (kind == PF_QUANTITY_RATE && number < 1e-3)
        return fail(text, "would take for ever", kind);
    if ((kind == PF_QUANTITY_TIME || kind == PF_QUANTITY_FACTOR) && number > 1e9)
        return fail(text, "is too large", kind);
    *value = number;
    return NULL;
}

/* Whether `text` is read as exactly this value. */
static bool exact(const char *text, enum pf_quantity kind, double value)
{
    double again = NAN; /* no value equals it */
    return !pf_quantity_read(text, kind, &again) && again == value;
}

/* The largest unit of which there is at least one; sizes only in units that leave a whole number. */
static const struct unit *best_unit(double value, enum pf_quantity kind)
{
    const struct unit *best = NULL;
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        bool fits = units[i].kind == kind && value >= units[i].scale;
        if (kind == PF_QUANTITY_SIZE)
            fits = fits && fmod(value, units[i].scale) == 0 && !strchr(units[i].name, 'k') &&
                   (!units[i].name[1] || units[i].name[1] == 'i');
        else
            fits = fits && !strchr(units[i].name, 'i');
        if (fits && (!best || units[i].scale > best->scale))
            best = &units[i];
    }
    return best;
}

static void write_digits(double value, enum pf_quantity kind, int digits, char *text, size_t size)
{
    /* A rate that has been turned over twice may have lost its last bit. */
    const struct unit *unit = best_unit(kind == PF_QUANTITY_RATE ? value * (1 + 1e-12) : value, kind);
    if (isinf(value))
        snprintf(text, size, "unlimited");
    else if (unit)
        snprintf(text, size, "%.*g %s", digits, value / unit->scale, unit->name);
    else
        snprintf(text, size, "%.*g", digits, value);
}

void pf_quantity_write(double value, enum pf_quantity kind, char *text, size_t size)
{
    for (int digits = 6; digits <= 17; digits += digits == 6 ? 9 : 1) { /* no digits are lost up to 15 */
        write_digits(value, kind, digits, text, size);
        if (exact(text, kind, value))
            return;
    }
    snprintf(text, size, "%.17g", value);
}

void pf_quantity_show(double value, enum pf_quantity kind, char *text, size_t size)
{
    write_digits(value, kind, kind == PF_QUANTITY_SIZE ? 15 : 4, text, size);
}
