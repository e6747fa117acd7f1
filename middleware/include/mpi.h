/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI header of applications built with pfcc: MPI 3.1 and the names of MPI-1 that codes still use.
 *
 * The binary interface is Parfocal's own and belongs to no MPI implementation. It has the shape and, except
 * for levels of thread support, the values of the standard ABI of MPI 5.0: predefined handles are small
 * constants, other handles are pointers to objects of the middleware, and each constant is an integer
 * constant (for switch and static initialisers). The middleware translates to the implementation that runs a
 * call.
 *
 * mpi_proto.h, generated from surface/mpi.tsv, declares the functions. For the linker MPI_Send is pf_MPI_Send
 * and PMPI_Send is pf_PMPI_Send, so that a call cannot reach another MPI library in the same process.
 */
#ifndef PARFOCAL_MPI_H
#define PARFOCAL_MPI_H

#include <stddef.h>

/* For parfocal.h and the application: this is the simulated MPI. */
#ifndef PARFOCAL
#define PARFOCAL 1
#endif

#define MPI_VERSION    3
#define MPI_SUBVERSION 1

/* A constant of a pointer type. */
#ifdef __cplusplus
#define PF_HANDLE(type, value) (reinterpret_cast<type>(value))
#else
#define PF_HANDLE(type, value) ((type)(value))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef ptrdiff_t MPI_Aint;
#pragma GCC diagnostic push /* C++98 and C90 complain about long long */
#pragma GCC diagnostic ignored "-Wlong-long"
typedef long long MPI_Offset;
typedef long long MPI_Count;
#pragma GCC diagnostic pop
typedef int MPI_Fint;

typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_File *MPI_File;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Win *MPI_Win;
typedef struct MPI_ABI_T_enum *MPI_T_enum;
typedef struct MPI_ABI_T_cvar_handle *MPI_T_cvar_handle;
typedef struct MPI_ABI_T_pvar_handle *MPI_T_pvar_handle;
typedef struct MPI_ABI_T_pvar_session *MPI_T_pvar_session;

/* The middleware keeps the owner, the byte count and the cancelled flag in the reserved words. */
typedef struct MPI_Status {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int mpi_reserved[5];
} MPI_Status;

/* What the module mpi_f08 has for it */
typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int mpi_reserved[5];
} MPI_F08_status;

/* Types of the functions that an application gives to MPI */
typedef void MPI_User_function(void *invec, void *inoutvec, int *len, MPI_Datatype *datatype);

typedef int MPI_Comm_copy_attr_function(MPI_Comm oldcomm, int keyval, void *extra_state, void *value_in,
                                        void *value_out, int *flag);
typedef int MPI_Comm_delete_attr_function(MPI_Comm comm, int keyval, void *value, void *extra_state);
typedef int MPI_Type_copy_attr_function(MPI_Datatype oldtype, int keyval, void *extra_state, void *value_in,
                                        void *value_out, int *flag);
typedef int MPI_Type_delete_attr_function(MPI_Datatype datatype, int keyval, void *value, void *extra_state);
typedef int MPI_Win_copy_attr_function(MPI_Win oldwin, int keyval, void *extra_state, void *value_in,
                                       void *value_out, int *flag);
typedef int MPI_Win_delete_attr_function(MPI_Win win, int keyval, void *value, void *extra_state);

typedef void MPI_Comm_errhandler_function(MPI_Comm *comm, int *error_code, ...);
typedef void MPI_Win_errhandler_function(MPI_Win *win, int *error_code, ...);
typedef void MPI_File_errhandler_function(MPI_File *file, int *error_code, ...);

typedef int MPI_Grequest_query_function(void *extra_state, MPI_Status *status);
typedef int MPI_Grequest_free_function(void *extra_state);
typedef int MPI_Grequest_cancel_function(void *extra_state, int complete);

typedef int MPI_Datarep_extent_function(MPI_Datatype datatype, MPI_Aint *extent, void *extra_state);
typedef int MPI_Datarep_conversion_function(void *userbuf, MPI_Datatype datatype, int count, void *filebuf,
                                            MPI_Offset position, void *extra_state);

/* Their older names, deprecated or removed */
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;
typedef MPI_Comm_errhandler_function MPI_Handler_function;
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;

/* Predefined handles: constants below 0x1000, so that a look-up in a small array translates them. */
#define MPI_COMM_NULL        PF_HANDLE(MPI_Comm, 0x100)
#define MPI_COMM_WORLD       PF_HANDLE(MPI_Comm, 0x101)
#define MPI_COMM_SELF        PF_HANDLE(MPI_Comm, 0x102)
#define MPI_GROUP_NULL       PF_HANDLE(MPI_Group, 0x108)
#define MPI_GROUP_EMPTY      PF_HANDLE(MPI_Group, 0x109)
#define MPI_WIN_NULL         PF_HANDLE(MPI_Win, 0x110)
#define MPI_FILE_NULL        PF_HANDLE(MPI_File, 0x118)
#define MPI_MESSAGE_NULL     PF_HANDLE(MPI_Message, 0x128)
#define MPI_MESSAGE_NO_PROC  PF_HANDLE(MPI_Message, 0x129)
#define MPI_INFO_NULL        PF_HANDLE(MPI_Info, 0x130)
#define MPI_INFO_ENV         PF_HANDLE(MPI_Info, 0x131)
#define MPI_ERRHANDLER_NULL  PF_HANDLE(MPI_Errhandler, 0x140)
#define MPI_ERRORS_ARE_FATAL PF_HANDLE(MPI_Errhandler, 0x141)
#define MPI_ERRORS_RETURN    PF_HANDLE(MPI_Errhandler, 0x143)
#define MPI_REQUEST_NULL     PF_HANDLE(MPI_Request, 0x180)

/* Reduction operations */
#define MPI_OP_NULL PF_HANDLE(MPI_Op, 0x20)
#define MPI_SUM     PF_HANDLE(MPI_Op, 0x21)
#define MPI_MIN     PF_HANDLE(MPI_Op, 0x22)
#define MPI_MAX     PF_HANDLE(MPI_Op, 0x23)
#define MPI_PROD    PF_HANDLE(MPI_Op, 0x24)
#define MPI_BAND    PF_HANDLE(MPI_Op, 0x28)
#define MPI_BOR     PF_HANDLE(MPI_Op, 0x29)
#define MPI_BXOR    PF_HANDLE(MPI_Op, 0x2a)
#define MPI_LAND    PF_HANDLE(MPI_Op, 0x30)
#define MPI_LOR     PF_HANDLE(MPI_Op, 0x31)
#define MPI_LXOR    PF_HANDLE(MPI_Op, 0x32)
#define MPI_MINLOC  PF_HANDLE(MPI_Op, 0x38)
#define MPI_MAXLOC  PF_HANDLE(MPI_Op, 0x39)
#define MPI_REPLACE PF_HANDLE(MPI_Op, 0x3c)
#define MPI_NO_OP   PF_HANDLE(MPI_Op, 0x3d)

/* Datatypes */
#define MPI_DATATYPE_NULL           PF_HANDLE(MPI_Datatype, 0x200)
#define MPI_AINT                    PF_HANDLE(MPI_Datatype, 0x201)
#define MPI_COUNT                   PF_HANDLE(MPI_Datatype, 0x202)
#define MPI_OFFSET                  PF_HANDLE(MPI_Datatype, 0x203)
#define MPI_PACKED                  PF_HANDLE(MPI_Datatype, 0x207)
#define MPI_SHORT                   PF_HANDLE(MPI_Datatype, 0x208)
#define MPI_INT                     PF_HANDLE(MPI_Datatype, 0x209)
#define MPI_LONG                    PF_HANDLE(MPI_Datatype, 0x20a)
#define MPI_LONG_LONG_INT           PF_HANDLE(MPI_Datatype, 0x20b)
#define MPI_UNSIGNED_SHORT          PF_HANDLE(MPI_Datatype, 0x20c)
#define MPI_UNSIGNED                PF_HANDLE(MPI_Datatype, 0x20d)
#define MPI_UNSIGNED_LONG           PF_HANDLE(MPI_Datatype, 0x20e)
#define MPI_UNSIGNED_LONG_LONG      PF_HANDLE(MPI_Datatype, 0x20f)
#define MPI_FLOAT                   PF_HANDLE(MPI_Datatype, 0x210)
#define MPI_C_COMPLEX               PF_HANDLE(MPI_Datatype, 0x212)
#define MPI_CXX_FLOAT_COMPLEX       PF_HANDLE(MPI_Datatype, 0x213)
#define MPI_DOUBLE                  PF_HANDLE(MPI_Datatype, 0x214)
#define MPI_C_DOUBLE_COMPLEX        PF_HANDLE(MPI_Datatype, 0x216)
#define MPI_CXX_DOUBLE_COMPLEX      PF_HANDLE(MPI_Datatype, 0x217)
#define MPI_LONG_DOUBLE             PF_HANDLE(MPI_Datatype, 0x220)
#define MPI_C_LONG_DOUBLE_COMPLEX   PF_HANDLE(MPI_Datatype, 0x224)
#define MPI_CXX_LONG_DOUBLE_COMPLEX PF_HANDLE(MPI_Datatype, 0x225)
#define MPI_FLOAT_INT               PF_HANDLE(MPI_Datatype, 0x228)
#define MPI_DOUBLE_INT              PF_HANDLE(MPI_Datatype, 0x229)
#define MPI_LONG_INT                PF_HANDLE(MPI_Datatype, 0x22a)
#define MPI_2INT                    PF_HANDLE(MPI_Datatype, 0x22b)
#define MPI_SHORT_INT               PF_HANDLE(MPI_Datatype, 0x22c)
#define MPI_LONG_DOUBLE_INT         PF_HANDLE(MPI_Datatype, 0x22d)
#define MPI_C_BOOL                  PF_HANDLE(MPI_Datatype, 0x238)
#define MPI_CXX_BOOL                PF_HANDLE(MPI_Datatype, 0x239)
#define MPI_WCHAR                   PF_HANDLE(MPI_Datatype, 0x23c)
#define MPI_INT8_T                  PF_HANDLE(MPI_Datatype, 0x240)
#define MPI_UINT8_T                 PF_HANDLE(MPI_Datatype, 0x241)
#define MPI_CHAR                    PF_HANDLE(MPI_Datatype, 0x243)
#define MPI_SIGNED_CHAR             PF_HANDLE(MPI_Datatype, 0x244)
#define MPI_UNSIGNED_CHAR           PF_HANDLE(MPI_Datatype, 0x245)
#define MPI_BYTE                    PF_HANDLE(MPI_Datatype, 0x247)
#define MPI_INT16_T                 PF_HANDLE(MPI_Datatype, 0x248)
#define MPI_UINT16_T                PF_HANDLE(MPI_Datatype, 0x249)
#define MPI_INT32_T                 PF_HANDLE(MPI_Datatype, 0x250)
#define MPI_UINT32_T                PF_HANDLE(MPI_Datatype, 0x251)
#define MPI_INT64_T                 PF_HANDLE(MPI_Datatype, 0x258)
#define MPI_UINT64_T                PF_HANDLE(MPI_Datatype, 0x259)
#define MPI_LONG_LONG               MPI_LONG_LONG_INT
#define MPI_C_FLOAT_COMPLEX         MPI_C_COMPLEX
#define MPI_CXX_COMPLEX             MPI_CXX_FLOAT_COMPLEX /* the name before MPI-3 */

/* Datatypes of Fortran */
#define MPI_LOGICAL           PF_HANDLE(MPI_Datatype, 0x218)
#define MPI_INTEGER           PF_HANDLE(MPI_Datatype, 0x219)
#define MPI_REAL              PF_HANDLE(MPI_Datatype, 0x21a)
#define MPI_COMPLEX           PF_HANDLE(MPI_Datatype, 0x21b)
#define MPI_DOUBLE_PRECISION  PF_HANDLE(MPI_Datatype, 0x21c)
#define MPI_DOUBLE_COMPLEX    PF_HANDLE(MPI_Datatype, 0x21d)
#define MPI_CHARACTER         PF_HANDLE(MPI_Datatype, 0x21e)
#define MPI_2REAL             PF_HANDLE(MPI_Datatype, 0x230)
#define MPI_2DOUBLE_PRECISION PF_HANDLE(MPI_Datatype, 0x231)
#define MPI_2INTEGER          PF_HANDLE(MPI_Datatype, 0x232)
#define MPI_LOGICAL1          PF_HANDLE(MPI_Datatype, 0x2c0)
#define MPI_INTEGER1          PF_HANDLE(MPI_Datatype, 0x2c1)
#define MPI_LOGICAL2          PF_HANDLE(MPI_Datatype, 0x2c8)
#define MPI_INTEGER2          PF_HANDLE(MPI_Datatype, 0x2c9)
#define MPI_LOGICAL4          PF_HANDLE(MPI_Datatype, 0x2d0)
#define MPI_INTEGER4          PF_HANDLE(MPI_Datatype, 0x2d1)
#define MPI_REAL4             PF_HANDLE(MPI_Datatype, 0x2d2)
#define MPI_LOGICAL8          PF_HANDLE(MPI_Datatype, 0x2d8)
#define MPI_INTEGER8          PF_HANDLE(MPI_Datatype, 0x2d9)
#define MPI_REAL8             PF_HANDLE(MPI_Datatype, 0x2da)
#define MPI_COMPLEX8          PF_HANDLE(MPI_Datatype, 0x2db)
#define MPI_INTEGER16         PF_HANDLE(MPI_Datatype, 0x2e1) /* moved, not reduced */
#define MPI_REAL16            PF_HANDLE(MPI_Datatype, 0x2e2)
#define MPI_COMPLEX16         PF_HANDLE(MPI_Datatype, 0x2e3)
#define MPI_COMPLEX32         PF_HANDLE(MPI_Datatype, 0x2eb)
#define MPI_2COMPLEX          PF_HANDLE(MPI_Datatype, 0x234)
#define MPI_2DOUBLE_COMPLEX   PF_HANDLE(MPI_Datatype, 0x235)

/* Markers of MPI-1 for the bounds of a datatype: removed from the standard, still in use (values of our
 * own). */
#define MPI_LB PF_HANDLE(MPI_Datatype, 0x205)
#define MPI_UB PF_HANDLE(MPI_Datatype, 0x206)

/* Names of ROMIO's before there was MPI-2, which Open MPI and MPICH have kept. */
#define MPIO_Request MPI_Request
#define MPIO_Test    MPI_Test
#define MPIO_Wait    MPI_Wait

/* Special addresses */
#define MPI_BOTTOM               PF_HANDLE(void *, 0)
#define MPI_IN_PLACE             PF_HANDLE(void *, 1)
#define MPI_ARGV_NULL            PF_HANDLE(char **, 0)
#define MPI_ARGVS_NULL           PF_HANDLE(char ***, 0)
#define MPI_ERRCODES_IGNORE      PF_HANDLE(int *, 0)
#define MPI_UNWEIGHTED           PF_HANDLE(int *, 10)
#define MPI_WEIGHTS_EMPTY        PF_HANDLE(int *, 11)
#define MPI_STATUS_IGNORE        PF_HANDLE(MPI_Status *, 0)
#define MPI_STATUSES_IGNORE      PF_HANDLE(MPI_Status *, 0)
#define MPI_DISPLACEMENT_CURRENT ((MPI_Offset)-1)
#define MPI_F_STATUS_IGNORE      PF_HANDLE(MPI_Fint *, 0)
#define MPI_F_STATUSES_IGNORE    PF_HANDLE(MPI_Fint *, 0)
#define MPI_F08_STATUS_IGNORE    PF_HANDLE(MPI_F08_status *, 0)
#define MPI_F08_STATUSES_IGNORE  PF_HANDLE(MPI_F08_status *, 0)

/* Special ranks, tags and counts */
#define MPI_ANY_SOURCE (-1)
#define MPI_PROC_NULL  (-3)
#define MPI_ROOT       (-4)
#define MPI_ANY_TAG    (-2)
#define MPI_UNDEFINED  (-32766)

/* Error classes */
#define MPI_SUCCESS                   0
#define MPI_ERR_BUFFER                1
#define MPI_ERR_COUNT                 2
#define MPI_ERR_TYPE                  3
#define MPI_ERR_TAG                   4
#define MPI_ERR_COMM                  5
#define MPI_ERR_RANK                  6
#define MPI_ERR_REQUEST               7
#define MPI_ERR_ROOT                  8
#define MPI_ERR_GROUP                 9
#define MPI_ERR_OP                    10
#define MPI_ERR_TOPOLOGY              11
#define MPI_ERR_DIMS                  12
#define MPI_ERR_ARG                   13
#define MPI_ERR_UNKNOWN               14
#define MPI_ERR_TRUNCATE              15
#define MPI_ERR_OTHER                 16
#define MPI_ERR_INTERN                17
#define MPI_ERR_PENDING               18
#define MPI_ERR_IN_STATUS             19
#define MPI_ERR_ACCESS                20
#define MPI_ERR_AMODE                 21
#define MPI_ERR_ASSERT                22
#define MPI_ERR_BAD_FILE              23
#define MPI_ERR_BASE                  24
#define MPI_ERR_CONVERSION            25
#define MPI_ERR_DISP                  26
#define MPI_ERR_DUP_DATAREP           27
#define MPI_ERR_FILE_EXISTS           28
#define MPI_ERR_FILE_IN_USE           29
#define MPI_ERR_FILE                  30
#define MPI_ERR_INFO_KEY              31
#define MPI_ERR_INFO_NOKEY            32
#define MPI_ERR_INFO_VALUE            33
#define MPI_ERR_INFO                  34
#define MPI_ERR_IO                    35
#define MPI_ERR_KEYVAL                36
#define MPI_ERR_LOCKTYPE              37
#define MPI_ERR_NAME                  38
#define MPI_ERR_NO_MEM                39
#define MPI_ERR_NOT_SAME              40
#define MPI_ERR_NO_SPACE              41
#define MPI_ERR_NO_SUCH_FILE          42
#define MPI_ERR_PORT                  43
#define MPI_ERR_QUOTA                 44
#define MPI_ERR_READ_ONLY             45
#define MPI_ERR_RMA_ATTACH            46
#define MPI_ERR_RMA_CONFLICT          47
#define MPI_ERR_RMA_RANGE             48
#define MPI_ERR_RMA_SHARED            49
#define MPI_ERR_RMA_SYNC              50
#define MPI_ERR_SERVICE               51
#define MPI_ERR_SIZE                  52
#define MPI_ERR_SPAWN                 53
#define MPI_ERR_UNSUPPORTED_DATAREP   54
#define MPI_ERR_UNSUPPORTED_OPERATION 55
#define MPI_ERR_WIN                   56
#define MPI_ERR_RMA_FLAVOR            57
#define MPI_ERR_LASTCODE              16383

/* Levels of thread support. Programs index arrays with them, so they are small and consecutive as in other
 * libraries. A program that wants those of the standard ABI defines PARFOCAL_MPI5_ABI; it is answered in the
 * terms in which it asks. */
#define MPI_THREAD_SINGLE 0
#ifdef PARFOCAL_MPI5_ABI
#define MPI_THREAD_FUNNELED   1024
#define MPI_THREAD_SERIALIZED 2048
#define MPI_THREAD_MULTIPLE   4096
#else
#define MPI_THREAD_FUNNELED   1
#define MPI_THREAD_SERIALIZED 2
#define MPI_THREAD_MULTIPLE   3
#endif

/* Results of comparisons, kinds of topologies and of MPI_Comm_split_type */
#define MPI_IDENT            201
#define MPI_CONGRUENT        202
#define MPI_SIMILAR          203
#define MPI_UNEQUAL          204
#define MPI_CART             211
#define MPI_GRAPH            212
#define MPI_DIST_GRAPH       213
#define MPI_COMM_TYPE_SHARED 221

/* Constructors of datatypes */
#define MPI_ORDER_C                   12
#define MPI_ORDER_FORTRAN             15
#define MPI_DISTRIBUTE_NONE           16
#define MPI_DISTRIBUTE_BLOCK          17
#define MPI_DISTRIBUTE_CYCLIC         18
#define MPI_DISTRIBUTE_DFLT_DARG      19
#define MPI_COMBINER_NAMED            101
#define MPI_COMBINER_DUP              102
#define MPI_COMBINER_CONTIGUOUS       103
#define MPI_COMBINER_VECTOR           104
#define MPI_COMBINER_HVECTOR          105
#define MPI_COMBINER_INDEXED          106
#define MPI_COMBINER_HINDEXED         107
#define MPI_COMBINER_INDEXED_BLOCK    108
#define MPI_COMBINER_HINDEXED_BLOCK   109
#define MPI_COMBINER_STRUCT           110
#define MPI_COMBINER_SUBARRAY         111
#define MPI_COMBINER_DARRAY           112
#define MPI_COMBINER_F90_REAL         113
#define MPI_COMBINER_F90_COMPLEX      114
#define MPI_COMBINER_F90_INTEGER      115
#define MPI_COMBINER_RESIZED          116
#define MPI_TYPECLASS_INTEGER         192
#define MPI_TYPECLASS_REAL            193
#define MPI_TYPECLASS_COMPLEX         194
#define MPI_COMBINER_HVECTOR_INTEGER  118
#define MPI_COMBINER_HINDEXED_INTEGER 119
#define MPI_COMBINER_STRUCT_INTEGER   120

/* Predefined attributes */
#define MPI_KEYVAL_INVALID    0
#define MPI_TAG_UB            501
#define MPI_IO                502
#define MPI_HOST              503
#define MPI_WTIME_IS_GLOBAL   504
#define MPI_APPNUM            505
#define MPI_LASTUSEDCODE      506
#define MPI_UNIVERSE_SIZE     507
#define MPI_WIN_BASE          601
#define MPI_WIN_DISP_UNIT     602
#define MPI_WIN_SIZE          603
#define MPI_WIN_CREATE_FLAVOR 604
#define MPI_WIN_MODEL         605

/* One-sided communication */
#define MPI_LOCK_EXCLUSIVE      301
#define MPI_LOCK_SHARED         302
#define MPI_MODE_NOCHECK        1024
#define MPI_MODE_NOPRECEDE      2048
#define MPI_MODE_NOPUT          4096
#define MPI_MODE_NOSTORE        8192
#define MPI_MODE_NOSUCCEED      16384
#define MPI_WIN_FLAVOR_CREATE   311
#define MPI_WIN_FLAVOR_ALLOCATE 312
#define MPI_WIN_FLAVOR_DYNAMIC  313
#define MPI_WIN_FLAVOR_SHARED   314
#define MPI_WIN_UNIFIED         321
#define MPI_WIN_SEPARATE        322

/* Files */
#define MPI_MODE_APPEND          1
#define MPI_MODE_CREATE          2
#define MPI_MODE_DELETE_ON_CLOSE 4
#define MPI_MODE_EXCL            8
#define MPI_MODE_RDONLY          16
#define MPI_MODE_RDWR            32
#define MPI_MODE_SEQUENTIAL      64
#define MPI_MODE_UNIQUE_OPEN     128
#define MPI_MODE_WRONLY          256
#define MPI_SEEK_CUR             401
#define MPI_SEEK_END             402
#define MPI_SEEK_SET             403

/* Lengths of strings and buffers */
#define MPI_MAX_DATAREP_STRING         128
#define MPI_MAX_ERROR_STRING           512
#define MPI_MAX_INFO_KEY               256
#define MPI_MAX_INFO_VAL               1024
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_OBJECT_NAME            128
#define MPI_MAX_PORT_NAME              1024
#define MPI_MAX_PROCESSOR_NAME         256
#define MPI_BSEND_OVERHEAD             512

/* Fields of a status in Fortran */
#define MPI_F_STATUS_SIZE 8
#define MPI_F_SOURCE      0
#define MPI_F_TAG         1
#define MPI_F_ERROR       2
#define MPI_STATUS_SIZE   MPI_F_STATUS_SIZE

/* Predefined attribute and conversion functions */
#define MPI_NULL_COPY_FN        PF_HANDLE(MPI_Copy_function *, 0)
#define MPI_DUP_FN              PF_HANDLE(MPI_Copy_function *, 1)
#define MPI_NULL_DELETE_FN      PF_HANDLE(MPI_Delete_function *, 0)
#define MPI_COMM_NULL_COPY_FN   PF_HANDLE(MPI_Comm_copy_attr_function *, 0)
#define MPI_COMM_DUP_FN         PF_HANDLE(MPI_Comm_copy_attr_function *, 1)
#define MPI_COMM_NULL_DELETE_FN PF_HANDLE(MPI_Comm_delete_attr_function *, 0)
#define MPI_TYPE_NULL_COPY_FN   PF_HANDLE(MPI_Type_copy_attr_function *, 0)
#define MPI_TYPE_DUP_FN         PF_HANDLE(MPI_Type_copy_attr_function *, 1)
#define MPI_TYPE_NULL_DELETE_FN PF_HANDLE(MPI_Type_delete_attr_function *, 0)
#define MPI_WIN_NULL_COPY_FN    PF_HANDLE(MPI_Win_copy_attr_function *, 0)
#define MPI_WIN_DUP_FN          PF_HANDLE(MPI_Win_copy_attr_function *, 1)
#define MPI_WIN_NULL_DELETE_FN  PF_HANDLE(MPI_Win_delete_attr_function *, 0)
#define MPI_CONVERSION_FN_NULL  PF_HANDLE(MPI_Datarep_conversion_function *, 0)

/* Tool interface */
#define MPI_T_ENUM_NULL                PF_HANDLE(MPI_T_enum, 0)
#define MPI_T_CVAR_HANDLE_NULL         PF_HANDLE(MPI_T_cvar_handle, 0)
#define MPI_T_PVAR_SESSION_NULL        PF_HANDLE(MPI_T_pvar_session, 0)
#define MPI_T_PVAR_HANDLE_NULL         PF_HANDLE(MPI_T_pvar_handle, 0)
#define MPI_T_PVAR_ALL_HANDLES         PF_HANDLE(MPI_T_pvar_handle, 1)
#define MPI_T_ERR_CANNOT_INIT          1001
#define MPI_T_ERR_NOT_INITIALIZED      1003
#define MPI_T_ERR_MEMORY               1005
#define MPI_T_ERR_INVALID              1006
#define MPI_T_ERR_INVALID_INDEX        1007
#define MPI_T_ERR_INVALID_ITEM         1008
#define MPI_T_ERR_INVALID_SESSION      1009
#define MPI_T_ERR_INVALID_HANDLE       1010
#define MPI_T_ERR_INVALID_NAME         1011
#define MPI_T_ERR_OUT_OF_HANDLES       1012
#define MPI_T_ERR_OUT_OF_SESSIONS      1013
#define MPI_T_ERR_CVAR_SET_NOT_NOW     1014
#define MPI_T_ERR_CVAR_SET_NEVER       1015
#define MPI_T_ERR_PVAR_NO_WRITE        1016
#define MPI_T_ERR_PVAR_NO_STARTSTOP    1017
#define MPI_T_ERR_PVAR_NO_ATOMIC       1018
#define MPI_T_VERBOSITY_USER_BASIC     9
#define MPI_T_VERBOSITY_USER_DETAIL    10
#define MPI_T_VERBOSITY_USER_ALL       12
#define MPI_T_VERBOSITY_TUNER_BASIC    17
#define MPI_T_VERBOSITY_TUNER_DETAIL   18
#define MPI_T_VERBOSITY_TUNER_ALL      20
#define MPI_T_VERBOSITY_MPIDEV_BASIC   33
#define MPI_T_VERBOSITY_MPIDEV_DETAIL  34
#define MPI_T_VERBOSITY_MPIDEV_ALL     36
#define MPI_T_BIND_NO_OBJECT           1
#define MPI_T_BIND_MPI_COMM            2
#define MPI_T_BIND_MPI_DATATYPE        3
#define MPI_T_BIND_MPI_ERRHANDLER      4
#define MPI_T_BIND_MPI_FILE            5
#define MPI_T_BIND_MPI_GROUP           6
#define MPI_T_BIND_MPI_OP              7
#define MPI_T_BIND_MPI_REQUEST         8
#define MPI_T_BIND_MPI_WIN             9
#define MPI_T_BIND_MPI_MESSAGE         10
#define MPI_T_BIND_MPI_INFO            11
#define MPI_T_SCOPE_CONSTANT           1
#define MPI_T_SCOPE_READONLY           2
#define MPI_T_SCOPE_LOCAL              3
#define MPI_T_SCOPE_GROUP              4
#define MPI_T_SCOPE_GROUP_EQ           5
#define MPI_T_SCOPE_ALL                6
#define MPI_T_SCOPE_ALL_EQ             7
#define MPI_T_PVAR_CLASS_STATE         1
#define MPI_T_PVAR_CLASS_LEVEL         2
#define MPI_T_PVAR_CLASS_SIZE          3
#define MPI_T_PVAR_CLASS_PERCENTAGE    4
#define MPI_T_PVAR_CLASS_HIGHWATERMARK 5
#define MPI_T_PVAR_CLASS_LOWWATERMARK  6
#define MPI_T_PVAR_CLASS_COUNTER       7
#define MPI_T_PVAR_CLASS_AGGREGATE     8
#define MPI_T_PVAR_CLASS_TIMER         9
#define MPI_T_PVAR_CLASS_GENERIC       10

#include "mpi_proto.h"
#include "smpi_macros.h"

#ifdef __cplusplus
}
#endif

#endif
