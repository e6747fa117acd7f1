/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined datatypes: names, sizes, alignments. */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "middleware/datatype/datatype.h"

/* X(C or Fortran, name, C type of the element) */
#define BASIC_TYPES(X)                                                                                       \
    X(C, MPI_AINT, MPI_Aint)                                                                                 \
    X(C, MPI_COUNT, MPI_Count)                                                                               \
    X(C, MPI_OFFSET, MPI_Offset)                                                                             \
    X(C, MPI_PACKED, char)                                                                                   \
    X(C, MPI_SHORT, short)                                                                                   \
    X(C, MPI_INT, int)                                                                                       \
    X(C, MPI_LONG, long)                                                                                     \
    X(C, MPI_LONG_LONG_INT, long long)                                                                       \
    X(C, MPI_UNSIGNED_SHORT, unsigned short)                                                                 \
    X(C, MPI_UNSIGNED, unsigned)                                                                             \
    X(C, MPI_UNSIGNED_LONG, unsigned long)                                                                   \
    X(C, MPI_UNSIGNED_LONG_LONG, unsigned long long)                                                         \
    X(C, MPI_FLOAT, float)                                                                                   \
    X(C, MPI_C_COMPLEX, float _Complex)                                                                      \
    X(C, MPI_CXX_FLOAT_COMPLEX, float _Complex)                                                              \
    X(C, MPI_DOUBLE, double)                                                                                 \
    X(C, MPI_C_DOUBLE_COMPLEX, double _Complex)                                                              \
    X(C, MPI_CXX_DOUBLE_COMPLEX, double _Complex)                                                            \
    X(C, MPI_LONG_DOUBLE, long double)                                                                       \
    X(C, MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex)                                                    \
    X(C, MPI_CXX_LONG_DOUBLE_COMPLEX, long double _Complex)                                                  \
    X(C, MPI_C_BOOL, bool)                                                                                   \
    X(C, MPI_CXX_BOOL, bool)                                                                                 \
    X(C, MPI_WCHAR, wchar_t)                                                                                 \
    X(C, MPI_INT8_T, int8_t)                                                                                 \
    X(C, MPI_UINT8_T, uint8_t)                                                                               \
    X(C, MPI_CHAR, char)                                                                                     \
    X(C, MPI_SIGNED_CHAR, signed char)                                                                       \
    X(C, MPI_UNSIGNED_CHAR, unsigned char)                                                                   \
    X(C, MPI_BYTE, unsigned char)                                                                            \
    X(C, MPI_INT16_T, int16_t)                                                                               \
    X(C, MPI_UINT16_T, uint16_t)                                                                             \
    X(C, MPI_INT32_T, int32_t)                                                                               \
    X(C, MPI_UINT32_T, uint32_t)                                                                             \
    X(C, MPI_INT64_T, int64_t)                                                                               \
    X(C, MPI_UINT64_T, uint64_t)                                                                             \
    X(FORTRAN, MPI_LOGICAL, int)                                                                             \
    X(FORTRAN, MPI_INTEGER, int)                                                                             \
    X(FORTRAN, MPI_REAL, float)                                                                              \
    X(FORTRAN, MPI_COMPLEX, float _Complex)                                                                  \
    X(FORTRAN, MPI_DOUBLE_PRECISION, double)                                                                 \
    X(FORTRAN, MPI_DOUBLE_COMPLEX, double _Complex)                                                          \
    X(FORTRAN, MPI_CHARACTER, char)                                                                          \
    X(FORTRAN, MPI_LOGICAL1, int8_t)                                                                         \
    X(FORTRAN, MPI_INTEGER1, int8_t)                                                                         \
    X(FORTRAN, MPI_LOGICAL2, int16_t)                                                                        \
    X(FORTRAN, MPI_INTEGER2, int16_t)                                                                        \
    X(FORTRAN, MPI_LOGICAL4, int32_t)                                                                        \
    X(FORTRAN, MPI_INTEGER4, int32_t)                                                                        \
    X(FORTRAN, MPI_REAL4, float)                                                                             \
    X(FORTRAN, MPI_LOGICAL8, int64_t)                                                                        \
    X(FORTRAN, MPI_INTEGER8, int64_t)                                                                        \
    X(FORTRAN, MPI_REAL8, double)                                                                            \
    X(FORTRAN, MPI_COMPLEX8, float _Complex)                                                                 \
    X(FORTRAN, MPI_INTEGER16, __int128)                                                                      \
    X(FORTRAN, MPI_REAL16, long double)                                                                      \
    X(FORTRAN, MPI_COMPLEX16, double _Complex)                                                               \
    X(FORTRAN, MPI_COMPLEX32, long double _Complex)

/* X(C or Fortran, name, C types of the two elements) */
#define PAIR_TYPES(X)                                                                                        \
    X(C, MPI_FLOAT_INT, float, int)                                                                          \
    X(C, MPI_DOUBLE_INT, double, int)                                                                        \
    X(C, MPI_LONG_INT, long, int)                                                                            \
    X(C, MPI_2INT, int, int)                                                                                 \
    X(C, MPI_SHORT_INT, short, int)                                                                          \
    X(C, MPI_LONG_DOUBLE_INT, long double, int)                                                              \
    X(FORTRAN, MPI_2REAL, float, float)                                                                      \
    X(FORTRAN, MPI_2DOUBLE_PRECISION, double, double)                                                        \
    X(FORTRAN, MPI_2INTEGER, int, int)                                                                       \
    X(FORTRAN, MPI_2COMPLEX, float _Complex, float _Complex)                                                 \
    X(FORTRAN, MPI_2DOUBLE_COMPLEX, double _Complex, double _Complex)

#define FIRST      0x200
#define IS_C       false
#define IS_FORTRAN true

/* clang-format off */
const unsigned char pf_datatype_sizes[PF_PREDEFINED_LIMIT] = {
#define BASIC(language, handle, type) [(uintptr_t)handle] = sizeof(type),
#define PAIR(language, handle, a, b) [(uintptr_t)handle] = sizeof(a) + sizeof(b),
    BASIC_TYPES(BASIC)
    PAIR_TYPES(PAIR)
#undef BASIC
#undef PAIR
};

#define ALIGN_OF_PAIR(a, b) (_Alignof(a) > _Alignof(b) ? _Alignof(a) : _Alignof(b))

static const struct pf_named_type named[PF_PREDEFINED_LIMIT - FIRST] = {
#define BASIC(language, handle, type) \
    [(uintptr_t)handle - FIRST] = {#handle, sizeof(type), sizeof(type), sizeof(type), _Alignof(type), \
                                   {sizeof(type), 0}, IS_##language},
#define PAIR(language, handle, first, second) \
    [(uintptr_t)handle - FIRST] = {#handle, sizeof(first) + sizeof(second), \
                                   sizeof(struct { first a; second b; }), \
                                   offsetof(struct { first a; second b; }, b) + sizeof(second), \
                                   ALIGN_OF_PAIR(first, second), {sizeof(first), sizeof(second)}, IS_##language},
    BASIC_TYPES(BASIC)
    PAIR_TYPES(PAIR)
#undef BASIC
#undef PAIR
};
/* clang-format on */

const struct pf_named_type *pf_datatype_named(MPI_Datatype handle)
{
    uintptr_t value = (uintptr_t)handle;
    if (value < FIRST || value >= PF_PREDEFINED_LIMIT || !named[value - FIRST].name)
        return NULL;
    return &named[value - FIRST];
}

static void named_bounds(const struct pf_named_type *type, struct pf_bounds *out)
{
    *out = (struct pf_bounds){.size = type->size,
                              .elements = type->parts[1] ? 2 : 1,
                              .ub = type->extent,
                              .true_ub = type->true_extent,
                              .align = type->align,
                              .dense = type->size == type->extent,
                              .plain = !type->fortran && type->size == type->extent};
}

void pf_datatype_bounds(MPI_Datatype handle, struct pf_bounds *out)
{
    const struct pf_named_type *type = pf_datatype_named(handle);
    if (type)
        named_bounds(type, out);
    else if (pf_is_predefined(handle))
        *out = (struct pf_bounds){
            .align = 1, .lb_marked = handle == MPI_LB, .ub_marked = handle == MPI_UB, .plain = true};
    else
        *out = pf_datatype_of(handle)->bounds;
}

bool pf_datatype_valid(MPI_Datatype handle)
{
    return pf_datatype_named(handle) || handle == MPI_LB || handle == MPI_UB || pf_datatype_of(handle);
}
