/* SPDX-License-Identifier: BSD-3-Clause */
/* Error classes, codes and their texts: MPI 3.1 sections 8.4 and 8.5. */
#include <stdlib.h>
#include <string.h>

#include "middleware/core/job_state.h"
#include "middleware/core/rank_objects.h"
#include "middleware/core/errhandler.h"

#define ERROR_TEXTS(X)                                                                                       \
    X(MPI_SUCCESS, "no error")                                                                               \
    X(MPI_ERR_BUFFER, "invalid buffer pointer")                                                              \
    X(MPI_ERR_COUNT, "invalid count argument")                                                               \
    X(MPI_ERR_TYPE, "invalid datatype")                                                                      \
    X(MPI_ERR_TAG, "invalid tag")                                                                            \
    X(MPI_ERR_COMM, "invalid communicator")                                                                  \
    X(MPI_ERR_RANK, "invalid rank")                                                                          \
    X(MPI_ERR_REQUEST, "invalid request")                                                                    \
    X(MPI_ERR_ROOT, "invalid root")                                                                          \
    X(MPI_ERR_GROUP, "invalid group")                                                                        \
    X(MPI_ERR_OP, "invalid reduction operation")                                                             \
    X(MPI_ERR_TOPOLOGY, "invalid communicator topology")                                                     \
    X(MPI_ERR_DIMS, "invalid topology dimension")                                                            \
    X(MPI_ERR_ARG, "invalid argument of some other kind")                                                    \
    X(MPI_ERR_UNKNOWN, "unknown error")                                                                      \
    X(MPI_ERR_TRUNCATE, "message truncated")                                                                 \
    X(MPI_ERR_OTHER, "known error not in list")                                                              \
    X(MPI_ERR_INTERN, "internal error")                                                                      \
    X(MPI_ERR_PENDING, "pending request")                                                                    \
    X(MPI_ERR_IN_STATUS, "error code in status")                                                             \
    X(MPI_ERR_ACCESS, "permission denied")                                                                   \
    X(MPI_ERR_AMODE, "invalid mode for a file")                                                              \
    X(MPI_ERR_ASSERT, "invalid assert argument")                                                             \
    X(MPI_ERR_BAD_FILE, "invalid file name")                                                                 \
    X(MPI_ERR_BASE, "invalid base address")                                                                  \
    X(MPI_ERR_CONVERSION, "error in a data conversion function")                                             \
    X(MPI_ERR_DISP, "invalid displacement")                                                                  \
    X(MPI_ERR_DUP_DATAREP, "data representation already defined")                                            \
    X(MPI_ERR_FILE_EXISTS, "file exists already")                                                            \
    X(MPI_ERR_FILE_IN_USE, "file is in use")                                                                 \
    X(MPI_ERR_FILE, "invalid file handle")                                                                   \
    X(MPI_ERR_INFO_KEY, "invalid key of an info object")                                                     \
    X(MPI_ERR_INFO_NOKEY, "key is not in the info object")                                                   \
    X(MPI_ERR_INFO_VALUE, "invalid value of an info object")                                                 \
    X(MPI_ERR_INFO, "invalid info object")                                                                   \
    X(MPI_ERR_IO, "input or output error")                                                                   \
    X(MPI_ERR_KEYVAL, "invalid keyval")                                                                      \
    X(MPI_ERR_LOCKTYPE, "invalid lock type")                                                                 \
    X(MPI_ERR_NAME, "unknown service name")                                                                  \
    X(MPI_ERR_NO_MEM, "out of memory")                                                                       \
    X(MPI_ERR_NOT_SAME, "arguments differ between processes")                                                \
    X(MPI_ERR_NO_SPACE, "no space left")                                                                     \
    X(MPI_ERR_NO_SUCH_FILE, "no such file")                                                                  \
    X(MPI_ERR_PORT, "invalid port name")                                                                     \
    X(MPI_ERR_QUOTA, "quota exceeded")                                                                       \
    X(MPI_ERR_READ_ONLY, "file or file system is read-only")                                                 \
    X(MPI_ERR_RMA_ATTACH, "memory cannot be attached")                                                       \
    X(MPI_ERR_RMA_CONFLICT, "conflicting accesses to a window")                                              \
    X(MPI_ERR_RMA_RANGE, "target memory is not in the window")                                               \
    X(MPI_ERR_RMA_SHARED, "memory cannot be shared")                                                         \
    X(MPI_ERR_RMA_SYNC, "wrong synchronisation of one-sided calls")                                          \
    X(MPI_ERR_SERVICE, "invalid service name")                                                               \
    X(MPI_ERR_SIZE, "invalid size")                                                                          \
    X(MPI_ERR_SPAWN, "cannot spawn processes")                                                               \
    X(MPI_ERR_UNSUPPORTED_DATAREP, "unsupported data representation")                                        \
    X(MPI_ERR_UNSUPPORTED_OPERATION, "unsupported operation")                                                \
    X(MPI_ERR_WIN, "invalid window")                                                                         \
    X(MPI_ERR_RMA_FLAVOR, "wrong flavor of window")                                                          \
    X(MPI_T_ERR_CANNOT_INIT, "tool interface cannot be initialised")                                         \
    X(MPI_T_ERR_NOT_INITIALIZED, "tool interface is not initialised")                                        \
    X(MPI_T_ERR_MEMORY, "out of memory in the tool interface")                                               \
    X(MPI_T_ERR_INVALID, "invalid use of the tool interface")                                                \
    X(MPI_T_ERR_INVALID_INDEX, "invalid index")                                                              \
    X(MPI_T_ERR_INVALID_ITEM, "invalid item of an enumeration")                                              \
    X(MPI_T_ERR_INVALID_SESSION, "invalid session")                                                          \
    X(MPI_T_ERR_INVALID_HANDLE, "invalid handle")                                                            \
    X(MPI_T_ERR_INVALID_NAME, "unknown name")                                                                \
    X(MPI_T_ERR_OUT_OF_HANDLES, "no more handles")                                                           \
    X(MPI_T_ERR_OUT_OF_SESSIONS, "no more sessions")                                                         \
    X(MPI_T_ERR_CVAR_SET_NOT_NOW, "variable cannot be set now")                                              \
    X(MPI_T_ERR_CVAR_SET_NEVER, "variable cannot be set")                                                    \
    X(MPI_T_ERR_PVAR_NO_WRITE, "variable cannot be written or reset")                                        \
    X(MPI_T_ERR_PVAR_NO_STARTSTOP, "variable cannot be started or stopped")                                  \
    X(MPI_T_ERR_PVAR_NO_ATOMIC, "variable cannot be read and reset atomically")

/* Codes and classes that the application added, numbered from MPI_ERR_LASTCODE + 1 on. */
struct pf_error_table {
    int count;
    struct {
        int error_class;
        char text[MPI_MAX_ERROR_STRING];
    } codes[];
};

#define FIRST_ADDED (MPI_ERR_LASTCODE + 1)

static const char *predefined_text(int code)
{
    switch (code) {
#define X(value, text)                                                                                       \
    case value:                                                                                              \
        return #value ": " text;
        ERROR_TEXTS(X)
#undef X
    default:
        return NULL;
    }
}

/* The index of an added code, -1 for any other. */
static int added_index(struct pf_rank *r, int code)
{
    const struct pf_error_table *table = r ? pf_rank_objects(r)->errors : NULL;
    int index = code - FIRST_ADDED;
    return table && index >= 0 && index < table->count ? index : -1;
}

static struct pf_rank *calling_rank(void)
{
    pf_self_t *self = pf_job_self();
    return self ? self->mpi : NULL;
}

const char *pf_errhandler_text(int code)
{
    const char *added = pf_error_code_added_text(calling_rank(), code);
    return added ? added : predefined_text(code);
}

int pf_errhandler_class(struct pf_rank *r, int code)
{
    int index = added_index(r, code);
    if (index >= 0)
        return pf_rank_objects(r)->errors->codes[index].error_class;
    return predefined_text(code) ? code : MPI_ERR_UNKNOWN;
}

int pf_error_code_add(struct pf_rank *r, int error_class)
{
    struct pf_rank_objects *objects = pf_rank_objects(r);
    int count = objects->errors ? objects->errors->count : 0;
    struct pf_error_table *table =
        realloc(objects->errors, sizeof *table + ((size_t)count + 1) * sizeof table->codes[0]);
    if (!table)
        return 0;
    objects->errors = table;
    table->codes[count].error_class = error_class ? error_class : FIRST_ADDED + count;
    table->codes[count].text[0] = '\0';
    table->count = count + 1;
    objects->last_used_code = FIRST_ADDED + count;
    return FIRST_ADDED + count;
}

char *pf_error_code_added_text(struct pf_rank *r, int code)
{
    int index = added_index(r, code);
    return index >= 0 ? pf_rank_objects(r)->errors->codes[index].text : NULL;
}
