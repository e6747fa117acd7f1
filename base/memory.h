/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/*
 * The C library's allocation, which ends the process with one line when there is no memory (a simulated rank
 * has no better answer, and half a state is none). The caller owns what it gets, and frees it with free().
 * Where the application decides about the size and MPI or Portals has an error for it (MPI_ERR_NO_MEM,
 * PTL_NO_SPACE), malloc() itself is called and its answer looked at.
 */

static inline void *pf_memory_checked(void *memory, size_t bytes)
{
    if (!memory && bytes)
        pf_die("out of memory: %zu bytes more are wanted; fewer ranks or a machine with more memory would do",
               bytes);
    return memory;
}

static inline void *pf_malloc(size_t bytes)
{
    return pf_memory_checked(malloc(bytes), bytes);
}

static inline void *pf_calloc(size_t count, size_t bytes)
{
    return pf_memory_checked(calloc(count, bytes), count * bytes);
}

/* The same, beginning at a cache line: for arrays whose members should not lie in more lines than they must.
 */
static inline void *pf_calloc_lines(size_t count, size_t bytes)
{
    const size_t line = 64, all = (count * bytes + line) / line * line;
    return memset(pf_memory_checked(aligned_alloc(line, all), all), 0, all);
}

static inline void *pf_realloc(void *memory, size_t bytes)
{
    return pf_memory_checked(realloc(memory, bytes), bytes);
}

static inline void *pf_reallocarray(void *memory, size_t count, size_t bytes)
{
    return pf_memory_checked(reallocarray(memory, count, bytes), count * bytes);
}

static inline char *pf_strdup(const char *text)
{
    return (char *)pf_memory_checked(strdup(text), strlen(text) + 1);
}

static inline char *pf_strndup(const char *text, size_t most)
{
    return (char *)pf_memory_checked(strndup(text, most), most + 1);
}

static inline char *pf_asprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline char *pf_asprintf(const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        pf_memory_checked(NULL, strlen(format));
    va_end(args);
    return text;
}
