/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "openshmem/internal.h"

/* What the generated bodies need for each type. */
#define PF_SHMEM_ATOMIC_TYPE(type)                                                                           \
    _Generic((type)0, float                                                                                  \
             : PTL_FLOAT, double                                                                             \
             : PTL_DOUBLE, int                                                                               \
             : PTL_INT32_T, unsigned int                                                                     \
             : PTL_UINT32_T, long                                                                            \
             : PTL_INT64_T, unsigned long                                                                    \
             : PTL_UINT64_T, long long                                                                       \
             : PTL_INT64_T, unsigned long long                                                               \
             : PTL_UINT64_T)

#define PF_SHMEM_COMPARE(name, type)                                                                         \
    static bool holds_##name(const void *at, int comparison, const void *value)                              \
    {                                                                                                        \
        type a = *(const volatile type *)at, b = *(const type *)value;                                       \
        switch (comparison) {                                                                                \
        case SHMEM_CMP_EQ:                                                                                   \
            return a == b;                                                                                   \
        case SHMEM_CMP_NE:                                                                                   \
            return a != b;                                                                                   \
        case SHMEM_CMP_GT:                                                                                   \
            return a > b;                                                                                    \
        case SHMEM_CMP_LE:                                                                                   \
            return a <= b;                                                                                   \
        case SHMEM_CMP_LT:                                                                                   \
            return a < b;                                                                                    \
        default:                                                                                             \
            return a >= b;                                                                                   \
        }                                                                                                    \
    }

#define PF_SHMEM_OF_and(a, b)  ((a) & (b))
#define PF_SHMEM_OF_or(a, b)   ((a) | (b))
#define PF_SHMEM_OF_xor(a, b)  ((a) ^ (b))
#define PF_SHMEM_OF_min(a, b)  ((b) < (a) ? (b) : (a))
#define PF_SHMEM_OF_max(a, b)  ((b) > (a) ? (b) : (a))
#define PF_SHMEM_OF_sum(a, b)  ((a) + (b))
#define PF_SHMEM_OF_prod(a, b) ((a) * (b))

#define PF_SHMEM_REDUCE(name, type, operation)                                                               \
    static void reduce_##name##_##operation(void *into, const void *other, size_t count)                     \
    {                                                                                                        \
        type *a = into;                                                                                      \
        const type *b = other;                                                                               \
        for (size_t i = 0; i < count; i++)                                                                   \
            a[i] = (type)PF_SHMEM_OF_##operation(a[i], b[i]);                                                \
    }
