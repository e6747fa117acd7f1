/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The binary interface of MPICH as its mpi.h has it: the same for all libraries with the name libmpich.so.12
 * (MPICH 3.1 and newer, and those of others that keep to it), on machines with 64 bits. So nothing of MPICH
 * need be there when this is built. Handles are integers.
 */
/* Handles */
#define MPI_COMM_NULL       0x04000000
#define MPI_COMM_WORLD      0x44000000
#define MPI_COMM_SELF       0x44000001
#define MPI_GROUP_NULL      0x08000000
#define MPI_GROUP_EMPTY     0x48000000
#define MPI_WIN_NULL        0x20000000
#define MPI_INFO_NULL       0x1c000000
#define MPI_REQUEST_NULL    0x2c000000
#define MPI_MESSAGE_NULL    0x2c000000
#define MPI_MESSAGE_NO_PROC 0x6c000000
#define MPI_ERRORS_RETURN   0x54000001

/* Operations */
#define MPI_OP_NULL 0x18000000
#define MPI_SUM     0x58000003
#define MPI_MIN     0x58000002
#define MPI_MAX     0x58000001
#define MPI_PROD    0x58000004
#define MPI_BAND    0x58000006
#define MPI_BOR     0x58000008
#define MPI_BXOR    0x5800000a
#define MPI_LAND    0x58000005
#define MPI_LOR     0x58000007
#define MPI_LXOR    0x58000009
#define MPI_MINLOC  0x5800000b
#define MPI_MAXLOC  0x5800000c
#define MPI_REPLACE 0x5800000d
#define MPI_NO_OP   0x5800000e

/* Datatypes */
#define MPI_DATATYPE_NULL           0x0c000000
#define MPI_AINT                    0x4c000843
#define MPI_COUNT                   0x4c000845
#define MPI_OFFSET                  0x4c000844
#define MPI_LB                      0x4c000010
#define MPI_UB                      0x4c000011
#define MPI_PACKED                  0x4c00010f
#define MPI_SHORT                   0x4c000203
#define MPI_INT                     0x4c000405
#define MPI_LONG                    0x4c000807
#define MPI_LONG_LONG               0x4c000809
#define MPI_UNSIGNED_SHORT          0x4c000204
#define MPI_UNSIGNED                0x4c000406
#define MPI_UNSIGNED_LONG           0x4c000808
#define MPI_UNSIGNED_LONG_LONG      0x4c000819
#define MPI_FLOAT                   0x4c00040a
#define MPI_C_FLOAT_COMPLEX         0x4c000840
#define MPI_CXX_FLOAT_COMPLEX       0x4c000834
#define MPI_DOUBLE                  0x4c00080b
#define MPI_C_DOUBLE_COMPLEX        0x4c001041
#define MPI_CXX_DOUBLE_COMPLEX      0x4c001035
#define MPI_LOGICAL                 0x4c00041d
#define MPI_INTEGER                 0x4c00041b
#define MPI_REAL                    0x4c00041c
#define MPI_COMPLEX                 0x4c00081e
#define MPI_DOUBLE_PRECISION        0x4c00081f
#define MPI_DOUBLE_COMPLEX          0x4c001022
#define MPI_CHARACTER               0x4c00011a
#define MPI_LONG_DOUBLE             0x4c00100c
#define MPI_C_LONG_DOUBLE_COMPLEX   0x4c002042
#define MPI_CXX_LONG_DOUBLE_COMPLEX 0x4c002036
#define MPI_FLOAT_INT               0x8c000000
#define MPI_DOUBLE_INT              0x8c000001
#define MPI_LONG_INT                0x8c000002
#define MPI_2INT                    0x4c000816
#define MPI_SHORT_INT               0x8c000003
#define MPI_LONG_DOUBLE_INT         0x8c000004
#define MPI_2REAL                   0x4c000821
#define MPI_2DOUBLE_PRECISION       0x4c001023
#define MPI_2INTEGER                0x4c000820
#define MPI_C_BOOL                  0x4c00013f
#define MPI_CXX_BOOL                0x4c000133
#define MPI_WCHAR                   0x4c00040e
#define MPI_INT8_T                  0x4c000137
#define MPI_UINT8_T                 0x4c00013b
#define MPI_CHAR                    0x4c000101
#define MPI_SIGNED_CHAR             0x4c000118
#define MPI_UNSIGNED_CHAR           0x4c000102
#define MPI_BYTE                    0x4c00010d
#define MPI_INT16_T                 0x4c000238
#define MPI_UINT16_T                0x4c00023c
#define MPI_INT32_T                 0x4c000439
#define MPI_UINT32_T                0x4c00043d
#define MPI_INT64_T                 0x4c00083a
#define MPI_UINT64_T                0x4c00083e
#define MPI_INTEGER1                0x4c00012d
#define MPI_INTEGER2                0x4c00022f
#define MPI_INTEGER4                0x4c000430
#define MPI_REAL4                   0x4c000427
#define MPI_INTEGER8                0x4c000831
#define MPI_REAL8                   0x4c000829
#define MPI_COMPLEX8                0x4c000828
#define MPI_REAL16                  0x4c00102b
#define MPI_COMPLEX16               0x4c00102a
#define MPI_COMPLEX32               0x4c00202c

/* MPICH has none of these: others as long, which carry them as well */
#define MPI_2COMPLEX        MPI_2DOUBLE_PRECISION
#define MPI_2DOUBLE_COMPLEX MPI_C_LONG_DOUBLE_COMPLEX
#define MPI_LOGICAL1        MPI_INTEGER1
#define MPI_LOGICAL2        MPI_INTEGER2
#define MPI_LOGICAL4        MPI_INTEGER4
#define MPI_LOGICAL8        MPI_INTEGER8
#define MPI_INTEGER16       MPI_2DOUBLE_PRECISION

/* Named values */
#define MPI_SUCCESS                    0
#define MPI_ANY_SOURCE                 (-2)
#define MPI_PROC_NULL                  (-1)
#define MPI_ROOT                       (-3)
#define MPI_ANY_TAG                    (-1)
#define MPI_UNDEFINED                  (-32766)
#define MPI_ORDER_C                    56
#define MPI_ORDER_FORTRAN              57
#define MPI_LOCK_EXCLUSIVE             234
#define MPI_LOCK_SHARED                235
#define MPI_MODE_NOCHECK               1024
#define MPI_MODE_NOSTORE               2048
#define MPI_MODE_NOPUT                 4096
#define MPI_MODE_NOPRECEDE             8192
#define MPI_MODE_NOSUCCEED             16384
#define MPI_DISTRIBUTE_BLOCK           121
#define MPI_DISTRIBUTE_CYCLIC          122
#define MPI_DISTRIBUTE_NONE            123
#define MPI_DISTRIBUTE_DFLT_DARG       -49767
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_TAG_UB                     0x64400001
#define MPI_IN_PLACE                   ((void *)-1)
#define MPI_BOTTOM                     ((void *)0)
#define MPI_STATUS_IGNORE              ((void *)1)

/* Error classes */
#define MPI_ERR_BUFFER                1
#define MPI_ERR_COUNT                 2
#define MPI_ERR_TYPE                  3
#define MPI_ERR_TAG                   4
#define MPI_ERR_COMM                  5
#define MPI_ERR_RANK                  6
#define MPI_ERR_REQUEST               19
#define MPI_ERR_ROOT                  7
#define MPI_ERR_GROUP                 8
#define MPI_ERR_OP                    9
#define MPI_ERR_TOPOLOGY              10
#define MPI_ERR_DIMS                  11
#define MPI_ERR_ARG                   12
#define MPI_ERR_UNKNOWN               13
#define MPI_ERR_TRUNCATE              14
#define MPI_ERR_OTHER                 15
#define MPI_ERR_INTERN                16
#define MPI_ERR_PENDING               18
#define MPI_ERR_IN_STATUS             17
#define MPI_ERR_ACCESS                20
#define MPI_ERR_AMODE                 21
#define MPI_ERR_ASSERT                53
#define MPI_ERR_BAD_FILE              22
#define MPI_ERR_BASE                  46
#define MPI_ERR_CONVERSION            23
#define MPI_ERR_DISP                  52
#define MPI_ERR_DUP_DATAREP           24
#define MPI_ERR_FILE_EXISTS           25
#define MPI_ERR_FILE_IN_USE           26
#define MPI_ERR_FILE                  27
#define MPI_ERR_INFO_KEY              29
#define MPI_ERR_INFO_NOKEY            31
#define MPI_ERR_INFO_VALUE            30
#define MPI_ERR_INFO                  28
#define MPI_ERR_IO                    32
#define MPI_ERR_KEYVAL                48
#define MPI_ERR_LOCKTYPE              47
#define MPI_ERR_NAME                  33
#define MPI_ERR_NO_MEM                34
#define MPI_ERR_NOT_SAME              35
#define MPI_ERR_NO_SPACE              36
#define MPI_ERR_NO_SUCH_FILE          37
#define MPI_ERR_PORT                  38
#define MPI_ERR_QUOTA                 39
#define MPI_ERR_READ_ONLY             40
#define MPI_ERR_RMA_ATTACH            56
#define MPI_ERR_RMA_CONFLICT          49
#define MPI_ERR_RMA_RANGE             55
#define MPI_ERR_RMA_SHARED            57
#define MPI_ERR_RMA_SYNC              50
#define MPI_ERR_SERVICE               41
#define MPI_ERR_SIZE                  51
#define MPI_ERR_SPAWN                 42
#define MPI_ERR_UNSUPPORTED_DATAREP   43
#define MPI_ERR_UNSUPPORTED_OPERATION 44
#define MPI_ERR_WIN                   45
#define MPI_ERR_RMA_FLAVOR            58

/* MPI_Status: the upper part of the count holds the flag of a cancelled operation in its lowest bit. */
struct mpich_status {
    int count_lo, count_hi_and_cancelled;
    int source, tag, error;
};
