/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The middleware's values of predefined datatypes and operations (middleware/include/mpi.h), for files that
 * are compiled with an implementation's own mpi.h, where the names mean that implementation's objects.
 * X(name, value)
 */
#define PF_PREDEFINED_LIST(X)                                                                                \
    X(MPI_OP_NULL, 0x20)                                                                                     \
    X(MPI_SUM, 0x21)                                                                                         \
    X(MPI_MIN, 0x22)                                                                                         \
    X(MPI_MAX, 0x23)                                                                                         \
    X(MPI_PROD, 0x24)                                                                                        \
    X(MPI_BAND, 0x28)                                                                                        \
    X(MPI_BOR, 0x29)                                                                                         \
    X(MPI_BXOR, 0x2a)                                                                                        \
    X(MPI_LAND, 0x30)                                                                                        \
    X(MPI_LOR, 0x31)                                                                                         \
    X(MPI_LXOR, 0x32)                                                                                        \
    X(MPI_MINLOC, 0x38)                                                                                      \
    X(MPI_MAXLOC, 0x39)                                                                                      \
    X(MPI_REPLACE, 0x3c)                                                                                     \
    X(MPI_NO_OP, 0x3d)                                                                                       \
    X(MPI_DATATYPE_NULL, 0x200)                                                                              \
    X(MPI_AINT, 0x201)                                                                                       \
    X(MPI_COUNT, 0x202)                                                                                      \
    X(MPI_OFFSET, 0x203)                                                                                     \
    X(MPI_LB, 0x205)                                                                                         \
    X(MPI_UB, 0x206)                                                                                         \
    X(MPI_PACKED, 0x207)                                                                                     \
    X(MPI_SHORT, 0x208)                                                                                      \
    X(MPI_INT, 0x209)                                                                                        \
    X(MPI_LONG, 0x20a)                                                                                       \
    X(MPI_LONG_LONG, 0x20b)                                                                                  \
    X(MPI_UNSIGNED_SHORT, 0x20c)                                                                             \
    X(MPI_UNSIGNED, 0x20d)                                                                                   \
    X(MPI_UNSIGNED_LONG, 0x20e)                                                                              \
    X(MPI_UNSIGNED_LONG_LONG, 0x20f)                                                                         \
    X(MPI_FLOAT, 0x210)                                                                                      \
    X(MPI_C_FLOAT_COMPLEX, 0x212)                                                                            \
    X(MPI_CXX_FLOAT_COMPLEX, 0x213)                                                                          \
    X(MPI_DOUBLE, 0x214)                                                                                     \
    X(MPI_C_DOUBLE_COMPLEX, 0x216)                                                                           \
    X(MPI_CXX_DOUBLE_COMPLEX, 0x217)                                                                         \
    X(MPI_LOGICAL, 0x218)                                                                                    \
    X(MPI_INTEGER, 0x219)                                                                                    \
    X(MPI_REAL, 0x21a)                                                                                       \
    X(MPI_COMPLEX, 0x21b)                                                                                    \
    X(MPI_DOUBLE_PRECISION, 0x21c)                                                                           \
    X(MPI_DOUBLE_COMPLEX, 0x21d)                                                                             \
    X(MPI_CHARACTER, 0x21e)                                                                                  \
    X(MPI_LONG_DOUBLE, 0x220)                                                                                \
    X(MPI_C_LONG_DOUBLE_COMPLEX, 0x224)                                                                      \
    X(MPI_CXX_LONG_DOUBLE_COMPLEX, 0x225)                                                                    \
    X(MPI_FLOAT_INT, 0x228)                                                                                  \
    X(MPI_DOUBLE_INT, 0x229)                                                                                 \
    X(MPI_LONG_INT, 0x22a)                                                                                   \
    X(MPI_2INT, 0x22b)                                                                                       \
    X(MPI_SHORT_INT, 0x22c)                                                                                  \
    X(MPI_LONG_DOUBLE_INT, 0x22d)                                                                            \
    X(MPI_2REAL, 0x230)                                                                                      \
    X(MPI_2DOUBLE_PRECISION, 0x231)                                                                          \
    X(MPI_2INTEGER, 0x232)                                                                                   \
    X(MPI_2COMPLEX, 0x234)                                                                                   \
    X(MPI_2DOUBLE_COMPLEX, 0x235)                                                                            \
    X(MPI_C_BOOL, 0x238)                                                                                     \
    X(MPI_CXX_BOOL, 0x239)                                                                                   \
    X(MPI_WCHAR, 0x23c)                                                                                      \
    X(MPI_INT8_T, 0x240)                                                                                     \
    X(MPI_UINT8_T, 0x241)                                                                                    \
    X(MPI_CHAR, 0x243)                                                                                       \
    X(MPI_SIGNED_CHAR, 0x244)                                                                                \
    X(MPI_UNSIGNED_CHAR, 0x245)                                                                              \
    X(MPI_BYTE, 0x247)                                                                                       \
    X(MPI_INT16_T, 0x248)                                                                                    \
    X(MPI_UINT16_T, 0x249)                                                                                   \
    X(MPI_INT32_T, 0x250)                                                                                    \
    X(MPI_UINT32_T, 0x251)                                                                                   \
    X(MPI_INT64_T, 0x258)                                                                                    \
    X(MPI_UINT64_T, 0x259)                                                                                   \
    X(MPI_LOGICAL1, 0x2c0)                                                                                   \
    X(MPI_INTEGER1, 0x2c1)                                                                                   \
    X(MPI_LOGICAL2, 0x2c8)                                                                                   \
    X(MPI_INTEGER2, 0x2c9)                                                                                   \
    X(MPI_LOGICAL4, 0x2d0)                                                                                   \
    X(MPI_INTEGER4, 0x2d1)                                                                                   \
    X(MPI_REAL4, 0x2d2)                                                                                      \
    X(MPI_LOGICAL8, 0x2d8)                                                                                   \
    X(MPI_INTEGER8, 0x2d9)                                                                                   \
    X(MPI_REAL8, 0x2da)                                                                                      \
    X(MPI_COMPLEX8, 0x2db)                                                                                   \
    X(MPI_INTEGER16, 0x2e1)                                                                                  \
    X(MPI_REAL16, 0x2e2)                                                                                     \
    X(MPI_COMPLEX16, 0x2e3)                                                                                  \
    X(MPI_COMPLEX32, 0x2eb)

/* Other predefined handles. */
enum pf_predefined {
    PF_PREDEFINED_COMM_NULL = 0x100,
    PF_PREDEFINED_COMM_WORLD = 0x101,
    PF_PREDEFINED_COMM_SELF = 0x102,
    PF_PREDEFINED_GROUP_NULL = 0x108,
    PF_PREDEFINED_GROUP_EMPTY = 0x109,
    PF_PREDEFINED_WIN_NULL = 0x110,
    PF_PREDEFINED_FILE_NULL = 0x118,
    PF_PREDEFINED_MESSAGE_NULL = 0x128,
    PF_PREDEFINED_MESSAGE_NO_PROC = 0x129,
    PF_PREDEFINED_INFO_NULL = 0x130,
    PF_PREDEFINED_INFO_ENV = 0x131,
    PF_PREDEFINED_REQUEST_NULL = 0x180
};

/* Error classes of the middleware that every implementation has under the same name. X(name, value) */
#define PF_ERROR_CLASS_LIST(X)                                                                               \
    X(MPI_ERR_BUFFER, 1)                                                                                     \
    X(MPI_ERR_COUNT, 2)                                                                                      \
    X(MPI_ERR_TYPE, 3)                                                                                       \
    X(MPI_ERR_TAG, 4)                                                                                        \
    X(MPI_ERR_COMM, 5)                                                                                       \
    X(MPI_ERR_RANK, 6)                                                                                       \
    X(MPI_ERR_REQUEST, 7)                                                                                    \
    X(MPI_ERR_ROOT, 8)                                                                                       \
    X(MPI_ERR_GROUP, 9)                                                                                      \
    X(MPI_ERR_OP, 10)                                                                                        \
    X(MPI_ERR_TOPOLOGY, 11)                                                                                  \
    X(MPI_ERR_DIMS, 12)                                                                                      \
    X(MPI_ERR_ARG, 13)                                                                                       \
    X(MPI_ERR_UNKNOWN, 14)                                                                                   \
    X(MPI_ERR_TRUNCATE, 15)                                                                                  \
    X(MPI_ERR_OTHER, 16)                                                                                     \
    X(MPI_ERR_INTERN, 17)                                                                                    \
    X(MPI_ERR_PENDING, 18)                                                                                   \
    X(MPI_ERR_IN_STATUS, 19)                                                                                 \
    X(MPI_ERR_ACCESS, 20)                                                                                    \
    X(MPI_ERR_AMODE, 21)                                                                                     \
    X(MPI_ERR_ASSERT, 22)                                                                                    \
    X(MPI_ERR_BAD_FILE, 23)                                                                                  \
    X(MPI_ERR_BASE, 24)                                                                                      \
    X(MPI_ERR_CONVERSION, 25)                                                                                \
    X(MPI_ERR_DISP, 26)                                                                                      \
    X(MPI_ERR_DUP_DATAREP, 27)                                                                               \
    X(MPI_ERR_FILE_EXISTS, 28)                                                                               \
    X(MPI_ERR_FILE_IN_USE, 29)                                                                               \
    X(MPI_ERR_FILE, 30)                                                                                      \
    X(MPI_ERR_INFO_KEY, 31)                                                                                  \
    X(MPI_ERR_INFO_NOKEY, 32)                                                                                \
    X(MPI_ERR_INFO_VALUE, 33)                                                                                \
    X(MPI_ERR_INFO, 34)                                                                                      \
    X(MPI_ERR_IO, 35)                                                                                        \
    X(MPI_ERR_KEYVAL, 36)                                                                                    \
    X(MPI_ERR_LOCKTYPE, 37)                                                                                  \
    X(MPI_ERR_NAME, 38)                                                                                      \
    X(MPI_ERR_NO_MEM, 39)                                                                                    \
    X(MPI_ERR_NOT_SAME, 40)                                                                                  \
    X(MPI_ERR_NO_SPACE, 41)                                                                                  \
    X(MPI_ERR_NO_SUCH_FILE, 42)                                                                              \
    X(MPI_ERR_PORT, 43)                                                                                      \
    X(MPI_ERR_QUOTA, 44)                                                                                     \
    X(MPI_ERR_READ_ONLY, 45)                                                                                 \
    X(MPI_ERR_RMA_ATTACH, 46)                                                                                \
    X(MPI_ERR_RMA_CONFLICT, 47)                                                                              \
    X(MPI_ERR_RMA_RANGE, 48)                                                                                 \
    X(MPI_ERR_RMA_SHARED, 49)                                                                                \
    X(MPI_ERR_RMA_SYNC, 50)                                                                                  \
    X(MPI_ERR_SERVICE, 51)                                                                                   \
    X(MPI_ERR_SIZE, 52)                                                                                      \
    X(MPI_ERR_SPAWN, 53)                                                                                     \
    X(MPI_ERR_UNSUPPORTED_DATAREP, 54)                                                                       \
    X(MPI_ERR_UNSUPPORTED_OPERATION, 55)                                                                     \
    X(MPI_ERR_WIN, 56)                                                                                       \
    X(MPI_ERR_RMA_FLAVOR, 57)

/* In a function of an adapter: the middleware's class for that one of its library. */
#define PF_ERROR_CLASS_CASE(name, value)                                                                     \
    case name:                                                                                               \
        return value;
#define PF_RETURN_ERROR_CLASS(class)                                                                         \
    switch (class) {                                                                                         \
        PF_ERROR_CLASS_LIST(PF_ERROR_CLASS_CASE)                                                             \
    default:                                                                                                 \
        return 16; /* MPI_ERR_OTHER of the middleware */                                                     \
    }
