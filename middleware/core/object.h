/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "adapters/adapter.h"
#include "middleware/include/mpi.h"
#include "pf_native.h"

/*
 * objects of the middleware: what a handle of the application points to, unless it is predefined (a small
 * integer). Every object starts with struct pf_object, belongs to one rank, and keeps its recipe, from which
 * a native shadow is made in another implementation at first use.
 */
enum pf_kind {
    PF_KIND_COMM = 0x50460001,
    PF_KIND_GROUP,
    PF_KIND_DATATYPE,
    PF_KIND_OP,
    PF_KIND_REQUEST,
    PF_KIND_INFO,
    PF_KIND_ERRHANDLER,
    PF_KIND_WIN,
    PF_KIND_FILE,
    PF_KIND_MESSAGE,
    PF_KIND_END,
    PF_KIND_DEAD = 0x5046dead
};

struct pf_object {
    uint32_t kind; /* enum pf_kind: distinguishes a handle from a wild pointer */
    int references;
    int home; /* enum pf_impl of the model in force when the program made it: its native objects elsewhere are
                 shadows */
    void *native[PF_IMPL_COUNT]; /* the shadow in each implementation, NULL while there is none */
};

/* What the middleware can do with the objects of one kind. */
struct pf_object_ops {
    size_t size;
    /* Makes the native shadow, locally and at no simulated time, and notes it in the object. Returns the
     * implementation's null handle when it cannot be made. */
    void *(*shadow)(struct pf_instance *in, struct pf_object *object);
};

/* The rooms of the objects have theirs in a table each; the start of the job makes them known here. */
void pf_object_register(enum pf_kind kind, const struct pf_object_ops *ops);

/* Takes the memory of freed objects instead of free(), so that no new object gets the address of one whose
 * handle may still be used; or NULL. */
extern void (*pf_object_keep)(void *object);

/* The end of an object: its handle means nothing any more. */
static inline void pf_object_discard(void *object)
{
    if (pf_object_keep)
        pf_object_keep(object);
    else
        free(object);
}

static inline bool pf_is_predefined(const void *handle)
{
    return (uintptr_t)handle < PF_PREDEFINED_LIMIT;
}

/* The object behind a handle, NULL when it is predefined or not of that kind. */
static inline void *pf_object_of(const void *handle, enum pf_kind kind)
{
    if ((uintptr_t)handle < 0x1000)
        return NULL;
    struct pf_object *object = (struct pf_object *)(uintptr_t)handle;
    return object->kind == (uint32_t)kind ? object : NULL;
}

/* Makes the shadow that is missing. Returns the implementation's null handle (and the native call then
 * reports the error) when the handle is not valid. */
void *pf_object_materialize(struct pf_instance *in, struct pf_object *object);

/* The same for a predefined handle: MPI_COMM_WORLD of a job of a workload, which is no implementation's own.
 * NULL for all others, whose native handle is NULL. */
void *pf_object_predefined(struct pf_instance *in, const void *handle);

/* The implementation's handle for the middleware's. The hot path of every wrapper. */
static inline void *pf_native_handle(struct pf_instance *in, const void *handle)
{
    if (pf_is_predefined(handle)) {
        void *native = in->predefined[(uintptr_t)handle];
        return __builtin_expect(native != NULL, 1) ? native : pf_object_predefined(in, handle);
    }
    struct pf_object *object = (struct pf_object *)(uintptr_t)handle;
    void *native = object->native[in->impl];
    return __builtin_expect(native != NULL, 1) ? native : pf_object_materialize(in, object);
}

/* The same with the native type that goes with the middleware's, so that no native call gets a handle of
 * another kind. */
#define pf_native(in, handle)                                                                                \
    _Generic((handle), MPI_Comm                                                                              \
             : (pf_native_comm_t)pf_native_handle(in, handle), MPI_Datatype                                  \
             : (pf_native_datatype_t)pf_native_handle(in, handle), MPI_File                                  \
             : (pf_native_file_t)pf_native_handle(in, handle), MPI_Group                                     \
             : (pf_native_group_t)pf_native_handle(in, handle), MPI_Info                                     \
             : (pf_native_info_t)pf_native_handle(in, handle), MPI_Message                                   \
             : (pf_native_message_t)pf_native_handle(in, handle), MPI_Op                                     \
             : (pf_native_op_t)pf_native_handle(in, handle), MPI_Win                                         \
             : (pf_native_win_t)pf_native_handle(in, handle))
