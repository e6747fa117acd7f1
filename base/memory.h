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

/* Room for one more behind `count` members: for arrays that only grow, up to the next power of two. */
static inline void *pf_array_double(void *array, size_t count, size_t bytes)
{
    return count & (count - 1) ? array : pf_reallocarray(array, count ? 2 * count : 1, bytes);
}

/* Room for `wanted` members instead of `room`; what is new is zero. */
static inline void *pf_array_extend(void *array, size_t room, size_t wanted, size_t bytes)
{
    char *larger = (char *)pf_reallocarray(array, wanted, bytes);
    memset(larger + room * bytes, 0, (wanted - room) * bytes);
    return larger;
}

/* Room for `count` members of an array which has that for `room` (any integer variable); what is new is not
 * set. Twice as much as is needed, so that it rarely grows. */
#define PF_ARRAY_ROOM(array, room, count)                                                                    \
    do {                                                                                                     \
        if ((size_t)(count) > (size_t)(room)) {                                                              \
            (room) = 2 * (count);                                                                            \
            (array) = pf_reallocarray((array), (size_t)(room), sizeof *(array));                             \
        }                                                                                                    \
    } while (0)

/* Room for the member `index`; what is new is zero. */
#define PF_ARRAY_REACH(array, room, index)                                                                   \
    do {                                                                                                     \
        if (!(array) || (size_t)(index) >= (size_t)(room)) {                                                 \
            const size_t pf_wanted = 2 * (size_t)(index) + 16;                                               \
            (array) = pf_array_extend((array), (size_t)(room), pf_wanted, sizeof *(array));                  \
            (room) = (__typeof__(room))pf_wanted;                                                            \
        }                                                                                                    \
    } while (0)

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
