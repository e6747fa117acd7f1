/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library that stands for Open MPI's libmpi where a program or a plug-in of a rank was compiled against
 * that, such as mpi4py of a distribution.
 */
#include "middleware/ompi_abi/ompi_abi.h"

#include <ffi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <uthash.h>

#include "adapters/predefined.h"
#include "base/log.h"
#include "base/memory.h"

/*
 * A predefined handle of Open MPI is the address of a variable. Here each such variable is an absolute symbol
 * at the address that is the middleware's handle, so that handles need no translation. The same is true of
 * the predefined functions for attributes.
 */
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) #global

/* Names of MPI-1 that the library still has although its header hides them. */
#undef MPI_LB
#undef MPI_UB
#define MPI_LB "ompi_mpi_lb"
#define MPI_UB "ompi_mpi_ub"
#undef MPI_INTEGER16
#define MPI_INTEGER16 "ompi_mpi_integer16"

#define ABSOLUTE(symbol, value)                                                                              \
    __asm__(".globl " symbol "\n.set " symbol ", " #value "\n.type " symbol ", @object\n.size " symbol       \
            ", 1\n");
#define PLACE(name, value)          ABSOLUTE(name, value)
#define FUNCTION(name, value)       FUNCTION_NAMED(name, value)
#define FUNCTION_NAMED(name, value) ABSOLUTE(#name, value)
#define X(name, value)              PLACE(name, value)
PF_PREDEFINED_LIST(X)
PLACE(MPI_COMM_NULL, 0x100)
PLACE(MPI_COMM_WORLD, 0x101)
PLACE(MPI_COMM_SELF, 0x102)
PLACE(MPI_GROUP_NULL, 0x108)
PLACE(MPI_GROUP_EMPTY, 0x109)
PLACE(MPI_WIN_NULL, 0x110)
PLACE(MPI_FILE_NULL, 0x118)
PLACE(MPI_MESSAGE_NULL, 0x128)
PLACE(MPI_MESSAGE_NO_PROC, 0x129)
PLACE(MPI_INFO_NULL, 0x130)
PLACE(MPI_INFO_ENV, 0x131)
PLACE(MPI_ERRHANDLER_NULL, 0x140)
PLACE(MPI_ERRORS_ARE_FATAL, 0x141)
PLACE(MPI_ERRORS_RETURN, 0x143)
PLACE(MPI_REQUEST_NULL, 0x180)
PLACE("ompi_mpi_errors_abort", 0x141) /* of MPI 4; here as well the whole job ends */
PLACE("ompi_mpi_instance_null", 0x120)
FUNCTION(MPI_NULL_COPY_FN, 0)
FUNCTION(MPI_NULL_DELETE_FN, 0)
FUNCTION(MPI_DUP_FN, 1)
FUNCTION(MPI_COMM_NULL_COPY_FN, 0)
FUNCTION(MPI_COMM_NULL_DELETE_FN, 0)
FUNCTION(MPI_COMM_DUP_FN, 1)
FUNCTION(MPI_TYPE_NULL_COPY_FN, 0)
FUNCTION(MPI_TYPE_NULL_DELETE_FN, 0)
FUNCTION(MPI_TYPE_DUP_FN, 1)
FUNCTION(MPI_WIN_NULL_COPY_FN, 0)
FUNCTION(MPI_WIN_NULL_DELETE_FN, 0)
FUNCTION(MPI_WIN_DUP_FN, 1)
#undef X

/* Where the middleware keeps what the standard hides. */
enum { BYTES, CANCELLED = 2, OWNER };

struct pf_abi_status *pf_status_begin(const MPI_Status *status, struct pf_abi_status *own)
{
    if (!status)
        return NULL;
    *own = (struct pf_abi_status){.source = pf_rank_in(status->MPI_SOURCE),
                                  .tag = pf_tag_in(status->MPI_TAG),
                                  .error = pf_errcode_in(status->MPI_ERROR)};
    memcpy(&own->reserved[BYTES], &status->_ucount, sizeof status->_ucount);
    own->reserved[CANCELLED] = status->_cancelled & 1;
    own->reserved[OWNER] = status->_cancelled >> 1;
    return own;
}

void pf_status_end(MPI_Status *status, const struct pf_abi_status *own)
{
    if (!status)
        return;
    status->MPI_SOURCE = pf_rank_out(own->source);
    status->MPI_TAG = pf_tag_out(own->tag);
    status->MPI_ERROR = pf_errcode_out(own->error);
    memcpy(&status->_ucount, &own->reserved[BYTES], sizeof status->_ucount);
    status->_cancelled = (own->reserved[CANCELLED] ? 1 : 0) | (int)((unsigned)own->reserved[OWNER] << 1);
}

struct pf_abi_status *pf_statuses_begin(const MPI_Status *statuses, int count)
{
    struct pf_abi_status *own = statuses ? pf_calloc((size_t)(count > 0 ? count : 1), sizeof *own) : NULL;
    for (int i = 0; own && i < count; i++)
        pf_status_begin(&statuses[i], &own[i]);
    return own;
}

void pf_statuses_end(MPI_Status *statuses, struct pf_abi_status *own, int used, int code)
{
    bool filled = code == 0 || pf_errcode_out(code) == MPI_ERR_IN_STATUS;
    for (int i = 0; own && filled && i < used; i++)
        pf_status_end(&statuses[i], &own[i]);
    free(own);
}

enum { LONGEST_TEXT = 8192 }; /* MPI_MAX_LIBRARY_VERSION_STRING of the middleware */

char *pf_text_begin(void)
{
    return pf_calloc(1, LONGEST_TEXT);
}

void pf_text_end(char *text, char *own, int *length, size_t room)
{
    if (text) {
        snprintf(text, room, "%s", own);
        if (length)
            *length = (int)strlen(text);
    }
    free(own);
}

int *pf_ints_in(const int *values, int count, int (*translate)(int))
{
    int *own = pf_calloc((size_t)(count > 0 ? count : 1), sizeof *own);
    for (int i = 0; values && i < count; i++)
        own[i] = translate(values[i]);
    return own;
}

void pf_ints_out(int *values, int count, int (*translate)(int))
{
    for (int i = 0; values && i < count; i++)
        values[i] = translate(values[i]);
}

int *pf_weights_in(const int *weights)
{
    enum { UNWEIGHTED = 10, WEIGHTS_EMPTY };
    if (weights == MPI_UNWEIGHTED)
        return (int *)UNWEIGHTED;
    return weights == MPI_WEIGHTS_EMPTY ? (int *)WEIGHTS_EMPTY : (int *)weights;
}

void pf_attribute_out(int keyval, void *value)
{
    static int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_DYNAMIC,
                            MPI_WIN_FLAVOR_SHARED};
    static int models[] = {MPI_WIN_UNIFIED, MPI_WIN_SEPARATE}, nowhere = MPI_PROC_NULL;
    int **place = value;
    if (keyval == MPI_HOST)
        *place = &nowhere;
    for (size_t i = 0; keyval == MPI_WIN_CREATE_FLAVOR && i < sizeof flavors / sizeof flavors[0]; i++)
        if (**place == pf_flavor_in(flavors[i])) {
            *place = &flavors[i];
            break;
        }
    for (size_t i = 0; keyval == MPI_WIN_MODEL && i < sizeof models / sizeof models[0]; i++)
        if (**place == pf_model_in(models[i])) {
            *place = &models[i];
            break;
        }
}

void pf_abi_absent(const char *name)
{
    pf_die("%s: a program that was built for Open MPI calls it, and this version does not have it there "
           "(pfinfo --coverage); build the program with pfcc",
           name);
}

/* An error handler, which expects Open MPI's codes. MPI gives it no context, so each one gets a closure that
 * knows it. */
typedef void error_function(void *object, int *code, ...);

struct handler {
    error_function *function;
    void *code;
    UT_hash_handle hh;
};

static void call_handler(ffi_cif *interface, void *result, void **arguments, void *data)
{
    const struct handler *handler = data;
    int code = pf_errcode_out(**(int **)arguments[1]);
    handler->function(*(void **)arguments[0], &code);
}

static void *own_handler(error_function *function)
{
    static struct handler *handlers; /* only looked up, never listed */
    static ffi_type *types[] = {&ffi_type_pointer, &ffi_type_pointer};
    static ffi_cif interface;
    struct handler *handler;
    HASH_FIND_PTR(handlers, &function, handler);
    if (handler)
        return handler->code;
    handler = pf_calloc(1, sizeof *handler);
    void *memory = ffi_closure_alloc(sizeof(ffi_closure), &handler->code);
    if (!memory || ffi_prep_cif(&interface, FFI_DEFAULT_ABI, 2, &ffi_type_void, types) != FFI_OK ||
        ffi_prep_closure_loc(memory, &interface, call_handler, handler, handler->code) != FFI_OK)
        pf_die("no memory for an error handler");
    handler->function = function;
    HASH_ADD_PTR(handlers, function, handler);
    return handler->code;
}

#define CREATES_ERRHANDLER(name)                                                                             \
    int pf_MPI_##name(void *function, void *handle);                                                         \
    PF_EXPORT int abi_##name(error_function *function, void *handle) __asm__("MPI_" #name);                  \
    PF_EXPORT int Pabi_##name(error_function *function, void *handle) __asm__("PMPI_" #name)                 \
        __attribute__((alias("MPI_" #name)));                                                                \
    int abi_##name(error_function *function, void *handle)                                                   \
    {                                                                                                        \
        return pf_errcode_out(pf_MPI_##name(own_handler(function), handle));                                 \
    }
CREATES_ERRHANDLER(Comm_create_errhandler)
CREATES_ERRHANDLER(Win_create_errhandler)
CREATES_ERRHANDLER(File_create_errhandler)
CREATES_ERRHANDLER(Errhandler_create)

/* A generalised request, whose functions fill in a status. */
struct request {
    int (*query)(void *state, MPI_Status *status);
    int (*release)(void *state);
    int (*cancel)(void *state, int complete);
    void *state;
};

static int query(void *state, struct pf_abi_status *own)
{
    const struct request *request = state;
    MPI_Status status;
    pf_status_end(&status, own);
    int code = request->query(request->state, &status);
    pf_status_begin(&status, own);
    return pf_errcode_in(code);
}

static int release(void *state)
{
    struct request *request = state;
    int code = request->release(request->state);
    free(request);
    return pf_errcode_in(code);
}

static int cancel(void *state, int complete)
{
    const struct request *request = state;
    return pf_errcode_in(request->cancel(request->state, complete));
}

int pf_MPI_Grequest_start(int (*query)(void *, struct pf_abi_status *), int (*release)(void *),
                          int (*cancel)(void *, int), void *state, void *handle);
PF_EXPORT int abi_grequest_start(MPI_Grequest_query_function *, MPI_Grequest_free_function *,
                                 MPI_Grequest_cancel_function *, void *,
                                 void *) __asm__("MPI_Grequest_start");
PF_EXPORT int abi_status_c2f(const MPI_Status *, MPI_Fint *) __asm__("MPI_Status_c2f");
PF_EXPORT int abi_status_f2c(const MPI_Fint *, MPI_Status *) __asm__("MPI_Status_f2c");
#define ALSO_PROFILED(function, name)                                                                        \
    PF_EXPORT __typeof__(function) P##function __asm__("PMPI_" #name) __attribute__((alias("MPI_" #name)));
ALSO_PROFILED(abi_grequest_start, Grequest_start)
ALSO_PROFILED(abi_status_c2f, Status_c2f)
ALSO_PROFILED(abi_status_f2c, Status_f2c)

int abi_grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                       MPI_Grequest_cancel_function *cancel_fn, void *state, void *handle)
{
    struct request *request = pf_malloc(sizeof *request);
    *request = (struct request){query_fn, free_fn, cancel_fn, state};
    return pf_errcode_out(pf_MPI_Grequest_start(query, release, cancel, request, handle));
}

int abi_status_c2f(const MPI_Status *status, MPI_Fint *fortran)
{
    memcpy(fortran, status, sizeof *status);
    return MPI_SUCCESS;
}

int abi_status_f2c(const MPI_Fint *fortran, MPI_Status *status)
{
    memcpy(status, fortran, sizeof *status);
    return MPI_SUCCESS;
}

/* MPI 4.0 section 10. The length counts the end of the text. */
int pf_MPI_Info_get(void *info, const char *key, int valuelen, char *value, int *flag);
int pf_MPI_Info_get_valuelen(void *info, const char *key, int *valuelen, int *flag);
PF_EXPORT int abi_info_get_string(void *, const char *, int *, char *, int *) __asm__("MPI_Info_get_string");
ALSO_PROFILED(abi_info_get_string, Info_get_string)

int abi_info_get_string(void *info, const char *key, int *buflen, char *value, int *flag)
{
    int length = 0;
    int code = pf_MPI_Info_get_valuelen(info, key, &length, flag);
    if (code == 0 && *flag && *buflen > 0)
        code = pf_MPI_Info_get(info, key, *buflen - 1, value, flag);
    if (code == 0 && *flag)
        *buflen = length + 1;
    return pf_errcode_out(code);
}

/*
 * What libmpi_cxx, which Debian's mpicxx links, takes of the library's inside: objects that it fills in or
 * finds empty, and functions behind MPI::Op::Init, keyvals and error handlers of its classes.
 */
PF_EXPORT char ompi_errcodes_intern[256], ompi_registered_datareps[256];
PF_EXPORT char ompi_mpi_errors_throw_exceptions[1024];
PF_EXPORT int ompi_errcode_intern_lastused;
#define OF_CLASSES(name, what)                                                                               \
    PF_EXPORT void abi_##name(void) __asm__("ompi_" #name);                                                  \
    void abi_##name(void)                                                                                    \
    {                                                                                                        \
        pf_die("%s of Open MPI's C++ bindings cannot be used in a program that mpicxx has built; build it "  \
               "with pfcxx, or use the function of C",                                                       \
               what);                                                                                        \
    }
OF_CLASSES(op_set_cxx_callback, "MPI::Op::Init")
OF_CLASSES(attr_create_keyval, "Create_keyval")
OF_CLASSES(errhandler_create, "Create_errhandler")
OF_CLASSES(errhandler_invoke, "an error handler")
