/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's reduction operations, one closure per implementation. */
#include "middleware/datatype/op.h"

#include <ffi.h>

#include "base/log.h"
#include "base/memory.h"
#include "middleware/core/call.h"
#include "middleware/datatype/datatype.h"

/* An implementation calls a user function with its own datatype handle and without context; the closure knows
 * both. */
struct closure {
    struct pf_op *op;
    struct pf_instance *in;
    ffi_closure *memory;
};

struct pf_op {
    struct pf_object object;
    struct pf_rank *owner;
    MPI_User_function *function;
    bool commutative;
    MPI_Datatype used; /* by the latest call; NULL: by none */
    struct closure closures[PF_IMPL_COUNT];
};

/* The call interface of MPI_User_function: (void *in, void *inout, int *len, datatype *). */
static ffi_cif *user_function_interface(void)
{
    static ffi_cif interface;
    static ffi_type *arguments[4];
    if (!arguments[0]) {
        for (int i = 0; i < 4; i++)
            arguments[i] = &ffi_type_pointer;
        if (ffi_prep_cif(&interface, FFI_DEFAULT_ABI, 4, &ffi_type_void, arguments) != FFI_OK)
            pf_die("libffi cannot describe a reduction function on this machine");
    }
    return &interface;
}

static void call_user(ffi_cif *interface, void *result, void **arguments, void *data)
{
    struct closure *closure = data;
    const void *native_type = *(void **)arguments[3];
    void *native = closure->in->values->short_handles ? (void *)(uintptr_t) * (const uint32_t *)native_type
                                                      : *(void *const *)native_type;
    MPI_Datatype datatype = closure->op->used;
    if (!datatype || !pf_is_predefined(datatype) || pf_native(closure->in, datatype) != native)
        datatype = pf_datatype_from_native(closure->in, native);
    closure->op->function(*(void **)arguments[0], *(void **)arguments[1], *(int **)arguments[2], &datatype);
}

static void *op_shadow(struct pf_instance *in, struct pf_object *object)
{
    struct pf_op *op = (struct pf_op *)object;
    struct closure *closure = &op->closures[in->impl];
    void *code;
    closure->op = op;
    closure->in = in;
    closure->memory = ffi_closure_alloc(sizeof(ffi_closure), &code);
    if (!closure->memory ||
        ffi_prep_closure_loc(closure->memory, user_function_interface(), call_user, closure, code) != FFI_OK)
        pf_die("no memory for the closure of a reduction function");
    pf_native_op_t native = NULL;
    if (in->fn->Op_create(code, op->commutative, &native) != MPI_SUCCESS)
        return in->values->op_null;
    op->object.native[in->impl] = native;
    return native;
}

const struct pf_object_ops pf_op_ops = {.size = sizeof pf_op_ops, .shadow = op_shadow};

bool pf_op_suits(MPI_Op handle, MPI_Datatype *datatype)
{
    static const MPI_Datatype real[] = {MPI_FLOAT, MPI_DOUBLE,           MPI_LONG_DOUBLE, MPI_REAL,
                                        MPI_REAL4, MPI_DOUBLE_PRECISION, MPI_REAL8};
    bool logical = handle == MPI_LAND || handle == MPI_LOR || handle == MPI_LXOR;
    bool bits = handle == MPI_BAND || handle == MPI_BOR || handle == MPI_BXOR;
    bool sums = handle == MPI_MAX || handle == MPI_MIN || handle == MPI_SUM || handle == MPI_PROD;
    if (*datatype == MPI_LOGICAL)
        return logical || handle == MPI_REPLACE || handle == MPI_NO_OP || !pf_is_predefined(handle);
    if (*datatype == MPI_BYTE && (logical || sums))
        *datatype = MPI_UNSIGNED_CHAR;
    for (size_t i = 0; (logical || bits) && i < sizeof real / sizeof real[0]; i++)
        if (*datatype == real[i])
            return false;
    return !(logical && *datatype == MPI_INTEGER);
}

bool pf_op_suits_both(MPI_Op handle, MPI_Datatype *origin, MPI_Datatype *target)
{
    MPI_Datatype from = *origin, to = *target;
    if (!pf_op_suits(handle, &from) || !pf_op_suits(handle, &to))
        return false;
    if (*origin == *target) {
        *origin = from;
        *target = to;
    }
    return true;
}

pf_native_op_t pf_op_native(struct pf_instance *in, MPI_Op handle, MPI_Datatype datatype)
{
    struct pf_op *op = pf_object_of(handle, PF_KIND_OP);
    if (op)
        op->used = datatype;
    return pf_native(in, handle);
}

void pf_op_retain(MPI_Op handle)
{
    struct pf_op *op = pf_object_of(handle, PF_KIND_OP);
    if (op)
        op->object.references++;
}

void pf_op_release(MPI_Op handle)
{
    struct pf_op *op = pf_object_of(handle, PF_KIND_OP);
    if (!op || --op->object.references > 0)
        return;
    for (int i = 0; i < PF_IMPL_COUNT; i++) {
        if (!op->object.native[i])
            continue;
        struct pf_instance *in = op->closures[i].in;
        in->fn->Op_free(&(pf_native_op_t){op->object.native[i]});
        ffi_closure_free(op->closures[i].memory);
    }
    op->owner->live_objects--;
    op->object.kind = PF_KIND_DEAD;
    pf_object_discard(op);
}

int pf_PMPI_Op_create(MPI_User_function *function, int commute, MPI_Op *handle)
{
    struct pf_rank *r = PF_ENTER(Op_create);
    if (!function || !handle)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    struct pf_op *op = pf_calloc(1, sizeof *op);
    op->object.kind = PF_KIND_OP;
    op->object.references = 1;
    op->object.home = r->active->impl;
    op->owner = r;
    op->function = function;
    op->commutative = commute != 0;
    r->live_objects++;
    *handle = (MPI_Op)(uintptr_t)op;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Op_free(MPI_Op *handle)
{
    struct pf_rank *r = PF_ENTER(Op_free);
    if (!handle || !pf_object_of(*handle, PF_KIND_OP))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_OP);
    pf_op_release(*handle);
    *handle = MPI_OP_NULL;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Op_commutative(MPI_Op handle, int *commute)
{
    struct pf_rank *r = PF_ENTER(Op_commutative);
    struct pf_op *op = pf_object_of(handle, PF_KIND_OP);
    bool predefined = (uintptr_t)handle > (uintptr_t)MPI_OP_NULL && (uintptr_t)handle <= (uintptr_t)MPI_NO_OP;
    if (!commute || (!op && !predefined))
        return pf_call_error(r, MPI_COMM_WORLD, commute ? MPI_ERR_OP : MPI_ERR_ARG);
    /* MPI_REPLACE and MPI_NO_OP are the predefined ones that do not commute (MPI 3.1 section 11.3.4). */
    *commute = op ? op->commutative : handle != MPI_REPLACE && handle != MPI_NO_OP;
    return pf_call_return(r, MPI_SUCCESS);
}
