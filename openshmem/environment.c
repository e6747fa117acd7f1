/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment variables of the specification, also by the names that they had before 1.4. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/streams.h"
#include "openshmem/internal.h"

/* As large as programs may need that take a buffer of 1 GiB without asking: addresses cost nothing, and pages
 * only when they are written. */
#define DEFAULT_LENGTH ((size_t)2 << 30)

struct variable {
    const char *const *names; /* the first one that is set counts */
    const char *text;
};

static const char *const size_names[] = {"SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE",
                                         "SHMEM_SYMMETRIC_HEAP_SIZE", NULL};
static const char *const version_names[] = {"SHMEM_VERSION", "SMA_VERSION", NULL};
static const char *const info_names[] = {"SHMEM_INFO", "SMA_INFO", NULL};
static const char *const debug_names[] = {"SHMEM_DEBUG", "SMA_DEBUG", NULL};

static const struct variable variables[] = {
    {version_names, "print the library's version at the start"},
    {info_names, "print this text at the start"},
    {size_names,
     "size of each PE's symmetric heap in bytes, perhaps broken, with K, M, G or T behind it (2G)"},
    {debug_names, "print where each PE's symmetric memory is, and what is taken of the heap and given back"},
};

static const char *value(const char *const *names, const char **name)
{
    for (; *names; names++) {
        const char *text = getenv(*names);
        if (text && *text) {
            *name = *names;
            return text;
        }
    }
    return NULL;
}

/* Any value counts, also none. */
static bool is_set(const char *const *names)
{
    for (; *names; names++)
        if (getenv(*names))
            return true;
    return false;
}

size_t pf_shmem_heap_length(void)
{
    static const char units[] = "kmgt";
    const char *name, *text = value(size_names, &name);
    char *end;
    if (!text)
        return DEFAULT_LENGTH;
    double length = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end | 0x20) : NULL;
    if (unit) {
        length *= (double)((size_t)1 << 10 * (unit - units + 1));
        end++;
    }
    if (end == text || *end || !(length >= 4096 && length <= 1e15))
        pf_die("%s=%s is no size of a heap, such as 64M (at least 4K)", name, text);
    return ((size_t)length + 4095) & ~(size_t)4095;
}

void pf_shmem_introduce(struct pf_shmem *me)
{
    me->debug = is_set(debug_names);
    pf_shmem_debug(me, "static data %zu bytes at %p, symmetric heap %zu bytes at %p",
                   me->segments[PF_SHMEM_STATIC].length, (void *)me->segments[PF_SHMEM_STATIC].base,
                   me->segments[PF_SHMEM_HEAP].length - PF_SHMEM_OWN,
                   (void *)me->segments[PF_SHMEM_HEAP].base);
    if (me->rank > 0)
        return;
    if (is_set(version_names))
        printf("Parfocal " PF_VERSION ", OpenSHMEM %d.%d\n", SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
    if (is_set(info_names))
        for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
            printf("%-22s%s\n", variables[i].names[0], variables[i].text);
    pf_flush_all();
}

void pf_shmem_debug(const struct pf_shmem *me, const char *format, ...)
{
    char text[256];
    va_list arguments;
    if (!me->debug)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "parfocal: PE %d: %s: %s\n", me->rank, me->call, text);
}
