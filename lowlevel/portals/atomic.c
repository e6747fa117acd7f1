/* SPDX-License-Identifier: BSD-3-Clause */
/* What atomics do to memory: all operators on all types, n elements. */
#include <complex.h>
#include <string.h>

#include "lowlevel/portals/internal.h"

/* X(constant, C type, class) */
#define INTEGER_TYPES(X)                                                                                     \
    X(PTL_INT8_T, int8_t)                                                                                    \
    X(PTL_UINT8_T, uint8_t)                                                                                  \
    X(PTL_INT16_T, int16_t)                                                                                  \
    X(PTL_UINT16_T, uint16_t)                                                                                \
    X(PTL_INT32_T, int32_t)                                                                                  \
    X(PTL_UINT32_T, uint32_t)                                                                                \
    X(PTL_INT64_T, int64_t)                                                                                  \
    X(PTL_UINT64_T, uint64_t)
#define REAL_TYPES(X)                                                                                        \
    X(PTL_FLOAT, float)                                                                                      \
    X(PTL_DOUBLE, double)                                                                                    \
    X(PTL_LONG_DOUBLE, long_double)
#define COMPLEX_TYPES(X)                                                                                     \
    X(PTL_FLOAT_COMPLEX, float_complex)                                                                      \
    X(PTL_DOUBLE_COMPLEX, double_complex)                                                                    \
    X(PTL_LONG_DOUBLE_COMPLEX, long_double_complex)
#define ALL_TYPES(X) INTEGER_TYPES(X) REAL_TYPES(X) COMPLEX_TYPES(X)

typedef long double long_double;
typedef float complex float_complex;
typedef double complex double_complex;
typedef long double complex long_double_complex;

ptl_size_t ptl_type_size(ptl_datatype_t type)
{
    switch (type) {
#define SIZE_CASE(constant, ctype)                                                                           \
    case constant:                                                                                           \
        return sizeof(ctype);
        ALL_TYPES(SIZE_CASE)
#undef SIZE_CASE
    default:
        return 0;
    }
}

static bool is_integer(ptl_datatype_t type)
{
    return type <= PTL_UINT64_T;
}

static bool is_complex(ptl_datatype_t type)
{
    return type == PTL_FLOAT_COMPLEX || type == PTL_DOUBLE_COMPLEX || type == PTL_LONG_DOUBLE_COMPLEX;
}

bool ptl_atomic_defined(ptl_op_t operation, ptl_datatype_t type)
{
    if (ptl_type_size(type) == 0)
        return false;
    switch (operation) {
    case PTL_MIN:
    case PTL_MAX:
    case PTL_CSWAP_LE:
    case PTL_CSWAP_LT:
    case PTL_CSWAP_GE:
    case PTL_CSWAP_GT:
        return !is_complex(type);
    case PTL_SUM:
    case PTL_PROD:
    case PTL_SWAP:
    case PTL_CSWAP:
    case PTL_CSWAP_NE:
        return true;
    case PTL_LOR:
    case PTL_LAND:
    case PTL_BOR:
    case PTL_BAND:
    case PTL_LXOR:
    case PTL_BXOR:
    case PTL_MSWAP:
        return is_integer(type);
    default:
        return false;
    }
}

/* One function per type and class: the new value of the target. `operand` is the constant of a conditional or
 * masked swap. */
#define COMMON_CASES                                                                                         \
    case PTL_SUM:                                                                                            \
        return target + value;                                                                               \
    case PTL_PROD:                                                                                           \
        return target * value;                                                                               \
    case PTL_SWAP:                                                                                           \
        return value;                                                                                        \
    case PTL_CSWAP:                                                                                          \
        return operand == target ? value : target;                                                           \
    case PTL_CSWAP_NE:                                                                                       \
        return operand != target ? value : target;
#define ORDERED_CASES                                                                                        \
    case PTL_MIN:                                                                                            \
        return value < target ? value : target;                                                              \
    case PTL_MAX:                                                                                            \
        return value > target ? value : target;                                                              \
    case PTL_CSWAP_LE:                                                                                       \
        return operand <= target ? value : target;                                                           \
    case PTL_CSWAP_LT:                                                                                       \
        return operand < target ? value : target;                                                            \
    case PTL_CSWAP_GE:                                                                                       \
        return operand >= target ? value : target;                                                           \
    case PTL_CSWAP_GT:                                                                                       \
        return operand > target ? value : target;
#define INTEGER_CASES                                                                                        \
    case PTL_LOR:                                                                                            \
        return target || value;                                                                              \
    case PTL_LAND:                                                                                           \
        return target && value;                                                                              \
    case PTL_LXOR:                                                                                           \
        return !target != !value;                                                                            \
    case PTL_BOR:                                                                                            \
        return target | value;                                                                               \
    case PTL_BAND:                                                                                           \
        return target & value;                                                                               \
    case PTL_BXOR:                                                                                           \
        return target ^ value;                                                                               \
    case PTL_MSWAP:                                                                                          \
        return (value & operand) | (target & ~operand);
#define DEFINE(ctype, cases)                                                                                 \
    static __attribute__((noinline))                                                                         \
    ctype combine_##ctype(ptl_op_t operation, ctype target, ctype value, ctype operand)                      \
    {                                                                                                        \
        switch (operation) {                                                                                 \
            cases default : return target;                                                                   \
        }                                                                                                    \
    }
#define DEFINE_INTEGER(constant, ctype) DEFINE(ctype, COMMON_CASES ORDERED_CASES INTEGER_CASES)
#define DEFINE_REAL(constant, ctype)    DEFINE(ctype, COMMON_CASES ORDERED_CASES)
#define DEFINE_COMPLEX(constant, ctype) DEFINE(ctype, COMMON_CASES)
INTEGER_TYPES(DEFINE_INTEGER)
REAL_TYPES(DEFINE_REAL)
COMPLEX_TYPES(DEFINE_COMPLEX)

/* Elements may lie anywhere, so they are moved by memcpy. */
static void combine(ptl_datatype_t type, ptl_op_t operation, void *target, const void *value,
                    const void *operand)
{
    switch (type) {
#define COMBINE_CASE(constant, ctype)                                                                        \
    case constant: {                                                                                         \
        ctype t, v, o;                                                                                       \
        memcpy(&t, target, sizeof t);                                                                        \
        memcpy(&v, value, sizeof v);                                                                         \
        memcpy(&o, operand, sizeof o);                                                                       \
        t = combine_##ctype(operation, t, v, o);                                                             \
        memcpy(target, &t, sizeof t);                                                                        \
        break;                                                                                               \
    }
        ALL_TYPES(COMBINE_CASE)
#undef COMBINE_CASE
    default:
        break;
    }
}

void ptl_atomic_apply(struct ptl_message *m, const struct ptl_memory *memory)
{
    if (!pf_config.payload_copy)
        return;
    unsigned char old[PTL_MAX_COMMAND_DATA], result[PTL_MAX_COMMAND_DATA];
    struct ptl_memory old_memory = {old, sizeof old, false};
    struct ptl_memory result_memory = {result, sizeof result, false};
    ptl_size_t size = ptl_type_size(m->atomic_type); /* not 0: the initiator has refused unknown types */
    ptl_size_t length =
        m->mlength / size * size; /* whole elements only NOLINT(clang-analyzer-core.DivideZero) */
    ptl_memory_copy(&old_memory, 0, memory, m->place, m->mlength);
    memcpy(result, old, m->mlength);
    for (ptl_size_t at = 0; at < length; at += size)
        combine(m->atomic_type, m->atomic_operation, result + at, m->data + at, m->operand);
    ptl_memory_copy(memory, m->place, &result_memory, 0, m->mlength);
    if (m->operation == PTL_DO_FETCH)
        memcpy(m->data, old, m->mlength);
}
