/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Procedures of Fortran as functions of C. MPI gives a callback no context, so each procedure gets a closure
 * of its own that knows it.
 */
#include <ffi.h>
#include <stdlib.h>
#include <uthash.h>

#include "base/log.h"
#include "base/memory.h"
#include "middleware/fortran/fortran.h"

struct closure {
    pf_fortran_procedure *procedure;
    enum pf_fortran_callback kind;
    pf_fortran_procedure *code;
    UT_hash_handle hh;
};

static struct closure *closures[PF_FORTRAN_CALLBACK_COUNT]; /* only looked up, never listed */

/* Their arguments in C: p is a pointer or a handle, i an int, o an MPI_Offset. What follows the colon is
 * returned. */
static const char *const signatures[PF_FORTRAN_CALLBACK_COUNT] = {
    [PF_FORTRAN_OP] = "pppp:",
    [PF_FORTRAN_COMM_COPY] = "pipppp:i",
    [PF_FORTRAN_TYPE_COPY] = "pipppp:i",
    [PF_FORTRAN_WIN_COPY] = "pipppp:i",
    [PF_FORTRAN_MPI1_COPY] = "pipppp:i",
    [PF_FORTRAN_COMM_DELETE] = "pipp:i",
    [PF_FORTRAN_TYPE_DELETE] = "pipp:i",
    [PF_FORTRAN_WIN_DELETE] = "pipp:i",
    [PF_FORTRAN_MPI1_DELETE] = "pipp:i",
    [PF_FORTRAN_COMM_ERROR] = "pp:",
    [PF_FORTRAN_WIN_ERROR] = "pp:",
    [PF_FORTRAN_FILE_ERROR] = "pp:",
    [PF_FORTRAN_QUERY] = "pp:i",
    [PF_FORTRAN_FREE] = "p:i",
    [PF_FORTRAN_CANCEL] = "pi:i",
    [PF_FORTRAN_EXTENT] = "ppp:i",
    [PF_FORTRAN_CONVERSION] = "ppipop:i",
};

static ffi_cif *interface_of(enum pf_fortran_callback kind)
{
    static ffi_cif interfaces[PF_FORTRAN_CALLBACK_COUNT];
    static ffi_type *types[PF_FORTRAN_CALLBACK_COUNT][8];
    ffi_cif *interface = &interfaces[kind];
    const char *letter = signatures[kind];
    unsigned int count = 0;
    if (types[kind][0])
        return interface;
    for (; *letter != ':'; letter++)
        types[kind][count++] = *letter == 'p'   ? &ffi_type_pointer
                               : *letter == 'i' ? &ffi_type_sint
                                                : &ffi_type_sint64;
    if (ffi_prep_cif(interface, FFI_DEFAULT_ABI, count, letter[1] ? &ffi_type_sint : &ffi_type_void,
                     types[kind]) != FFI_OK)
        pf_die("libffi cannot describe a callback of Fortran on this machine");
    return interface;
}

/* The object of an attribute as Fortran names it. */
static MPI_Fint object_of(enum pf_fortran_callback kind, void *handle)
{
    if (kind == PF_FORTRAN_TYPE_COPY || kind == PF_FORTRAN_TYPE_DELETE)
        return pf_PMPI_Type_c2f(handle);
    if (kind == PF_FORTRAN_WIN_COPY || kind == PF_FORTRAN_WIN_DELETE || kind == PF_FORTRAN_WIN_ERROR)
        return pf_PMPI_Win_c2f(handle);
    return kind == PF_FORTRAN_FILE_ERROR ? pf_PMPI_File_c2f(handle) : pf_PMPI_Comm_c2f(handle);
}

typedef void fortran_op(void *in, void *inout, MPI_Fint *length, MPI_Fint *datatype);
typedef void fortran_copy(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *state, MPI_Aint *in, MPI_Aint *out,
                          MPI_Fint *flag, MPI_Fint *ierror);
typedef void fortran_copy1(MPI_Fint *object, MPI_Fint *keyval, MPI_Fint *state, MPI_Fint *in, MPI_Fint *out,
                           MPI_Fint *flag, MPI_Fint *ierror);
typedef void fortran_delete(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value, MPI_Aint *state,
                            MPI_Fint *ierror);
typedef void fortran_delete1(MPI_Fint *object, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *state,
                             MPI_Fint *ierror);
typedef void fortran_error(MPI_Fint *object, MPI_Fint *code);
typedef void fortran_query(MPI_Aint *state, MPI_Status *status, MPI_Fint *ierror);
typedef void fortran_free(MPI_Aint *state, MPI_Fint *ierror);
typedef void fortran_cancel(MPI_Aint *state, MPI_Fint *complete, MPI_Fint *ierror);
typedef void fortran_extent(MPI_Fint *datatype, MPI_Aint *extent, MPI_Aint *state, MPI_Fint *ierror);
typedef void fortran_conversion(void *user, MPI_Fint *datatype, MPI_Fint *count, void *file,
                                MPI_Offset *position, MPI_Aint *state, MPI_Fint *ierror);

#define POINTER(i) (*(void **)arguments[i])
#define INTEGER(i) (*(int *)arguments[i])
#define CALL(type) ((type *)closure->procedure)

static int call_copy(const struct closure *closure, void **arguments)
{
    MPI_Fint object = object_of(closure->kind, POINTER(0)), keyval = INTEGER(1), flag = 0, ierror = 0;
    MPI_Aint state = (MPI_Aint)POINTER(2), in = (MPI_Aint)POINTER(3), out = 0;
    if (closure->kind == PF_FORTRAN_MPI1_COPY) {
        MPI_Fint state1 = (MPI_Fint)state, in1 = (MPI_Fint)in, out1 = 0;
        CALL(fortran_copy1)(&object, &keyval, &state1, &in1, &out1, &flag, &ierror);
        out = out1;
    } else {
        CALL(fortran_copy)(&object, &keyval, &state, &in, &out, &flag, &ierror);
    }
    *(void **)POINTER(4) = (void *)out;
    *(int *)POINTER(5) = flag != 0;
    return ierror;
}

static int call_delete(const struct closure *closure, void **arguments)
{
    MPI_Fint object = object_of(closure->kind, POINTER(0)), keyval = INTEGER(1), ierror = 0;
    MPI_Aint value = (MPI_Aint)POINTER(2), state = (MPI_Aint)POINTER(3);
    MPI_Fint value1 = (MPI_Fint)value, state1 = (MPI_Fint)state;
    if (closure->kind == PF_FORTRAN_MPI1_DELETE)
        CALL(fortran_delete1)(&object, &keyval, &value1, &state1, &ierror);
    else
        CALL(fortran_delete)(&object, &keyval, &value, &state, &ierror);
    return ierror;
}

static int call_representation(const struct closure *closure, void **arguments)
{
    MPI_Fint datatype, ierror = 0;
    if (closure->kind == PF_FORTRAN_EXTENT) {
        MPI_Aint state = (MPI_Aint)POINTER(2);
        datatype = pf_PMPI_Type_c2f(POINTER(0));
        CALL(fortran_extent)(&datatype, POINTER(1), &state, &ierror);
    } else {
        MPI_Aint state = (MPI_Aint)POINTER(5);
        MPI_Fint count = INTEGER(2);
        MPI_Offset position = *(MPI_Offset *)arguments[4];
        datatype = pf_PMPI_Type_c2f(POINTER(1));
        CALL(fortran_conversion)(POINTER(0), &datatype, &count, POINTER(3), &position, &state, &ierror);
    }
    return ierror;
}

/* Callbacks of a generalized request: they see the variable that the application has given, as in other
 * implementations. */
static int call_request(const struct closure *closure, void **arguments)
{
    MPI_Aint *state = POINTER(0);
    MPI_Fint ierror = 0, complete;
    switch (closure->kind) {
    case PF_FORTRAN_QUERY:
        CALL(fortran_query)(state, POINTER(1), &ierror);
        break;
    case PF_FORTRAN_FREE:
        CALL(fortran_free)(state, &ierror);
        break;
    default:
        complete = INTEGER(1) != 0;
        CALL(fortran_cancel)(state, &complete, &ierror);
    }
    return ierror;
}

static void call_procedure(ffi_cif *interface, void *result, void **arguments, void *data)
{
    const struct closure *closure = data;
    MPI_Fint object;
    int error;
    switch (closure->kind) {
    case PF_FORTRAN_OP:
        object = pf_PMPI_Type_c2f(*(MPI_Datatype *)POINTER(3));
        CALL(fortran_op)(POINTER(0), POINTER(1), POINTER(2), &object);
        return;
    case PF_FORTRAN_COMM_ERROR:
    case PF_FORTRAN_WIN_ERROR:
    case PF_FORTRAN_FILE_ERROR:
        object = object_of(closure->kind, *(void **)POINTER(0));
        CALL(fortran_error)(&object, POINTER(1));
        return;
    case PF_FORTRAN_COMM_COPY:
    case PF_FORTRAN_TYPE_COPY:
    case PF_FORTRAN_WIN_COPY:
    case PF_FORTRAN_MPI1_COPY:
        error = call_copy(closure, arguments);
        break;
    case PF_FORTRAN_EXTENT:
    case PF_FORTRAN_CONVERSION:
        error = call_representation(closure, arguments);
        break;
    case PF_FORTRAN_QUERY:
    case PF_FORTRAN_FREE:
    case PF_FORTRAN_CANCEL:
        error = call_request(closure, arguments);
        break;
    default:
        error = call_delete(closure, arguments);
    }
    *(ffi_sarg *)result = error;
}

pf_fortran_procedure *pf_fortran_function(enum pf_fortran_callback kind, pf_fortran_procedure *procedure)
{
    struct closure *closure;
    HASH_FIND_PTR(closures[kind], &procedure, closure);
    if (closure)
        return closure->code;
    closure = pf_calloc(1, sizeof *closure);
    void *code = NULL;
    void *memory = ffi_closure_alloc(sizeof(ffi_closure), &code);
    if (!closure || !memory ||
        ffi_prep_closure_loc(memory, interface_of(kind), call_procedure, closure, code) != FFI_OK)
        pf_die("no memory for a callback of Fortran");
    closure->procedure = procedure;
    closure->kind = kind;
    *(void **)&closure->code = code;
    HASH_ADD_PTR(closures[kind], procedure, closure);
    return closure->code;
}
