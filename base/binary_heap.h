/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

/*
 * A binary heap in an array: its first member, heap[0], comes before all others. before(a, b) takes the
 * addresses of two members, and must order any two, so that the order in which they leave is determined.
 */

/* Adds `item` to `count` members; there is room for one more. */
#define PF_HEAP_PUT(heap, count, item, before)                                                               \
    do {                                                                                                     \
        size_t pf_at = (size_t)(count)++;                                                                    \
        for (; pf_at > 0 && before(&(item), &(heap)[(pf_at - 1) / 2]); pf_at = (pf_at - 1) / 2)              \
            (heap)[pf_at] = (heap)[(pf_at - 1) / 2];                                                         \
        (heap)[pf_at] = (item);                                                                              \
    } while (0)

/* Removes the first of `count` members, of which there is one at least. */
#define PF_HEAP_DROP_FIRST(heap, count, before)                                                              \
    do {                                                                                                     \
        size_t pf_at = 0, pf_last = (size_t)--(count);                                                       \
        for (size_t pf_child; (pf_child = 2 * pf_at + 1) < pf_last; pf_at = pf_child) {                      \
            pf_child += pf_child + 1 < pf_last && before(&(heap)[pf_child + 1], &(heap)[pf_child]);          \
            if (!before(&(heap)[pf_child], &(heap)[pf_last]))                                                \
                break;                                                                                       \
            (heap)[pf_at] = (heap)[pf_child];                                                                \
        }                                                                                                    \
        (heap)[pf_at] = (heap)[pf_last];                                                                     \
    } while (0)
