/* SPDX-License-Identifier: BSD-3-Clause */
/* From an implementation's datatype back to the middleware's: user functions must see the handles of the
 * application. */
#include <stdlib.h>
#include <uthash.h>

#include "base/memory.h"
#include "middleware/core/rank_objects.h"
#include "middleware/datatype/datatype.h"

struct pf_native_type {
    void *native;
    MPI_Datatype handle;
    UT_hash_handle hh;
};

void pf_datatype_native_add(struct pf_rank *r, int impl, void *native, MPI_Datatype handle)
{
    struct pf_native_type **table = &pf_rank_objects(r)->natives[impl], *entry;
    HASH_FIND_PTR(*table, &native, entry);
    if (entry)
        return;
    entry = pf_malloc(sizeof *entry);
    entry->native = native;
    entry->handle = handle;
    HASH_ADD_PTR(*table, native, entry);
}

void pf_datatype_native_remove(struct pf_rank *r, int impl, void *native)
{
    struct pf_native_type **table = &pf_rank_objects(r)->natives[impl], *entry;
    HASH_FIND_PTR(*table, &native, entry);
    if (!entry)
        return;
    HASH_DEL(*table, entry);
    free(entry);
}

/* An implementation may use one object for several names: the first one wins, those of C before those of
 * Fortran. */
static void index_named(struct pf_rank *r, struct pf_instance *in, bool fortran)
{
    for (uintptr_t value = (uintptr_t)MPI_DATATYPE_NULL + 1; value < PF_PREDEFINED_LIMIT; value++) {
        const struct pf_named_type *type = pf_datatype_named((MPI_Datatype)value);
        void *native = in->predefined[value];
        if (type && type->fortran == fortran && native && native != in->values->datatype_null)
            pf_datatype_native_add(r, in->impl, native, (MPI_Datatype)value);
    }
}

MPI_Datatype pf_datatype_from_native(struct pf_instance *in, void *native)
{
    pf_self_t *self = pf_self();
    if (!self || !self->mpi)
        return MPI_DATATYPE_NULL;
    struct pf_rank_objects *objects = pf_rank_objects(self->mpi);
    if (!objects->named_indexed[in->impl]) {
        objects->named_indexed[in->impl] = true;
        index_named(self->mpi, in, false);
        index_named(self->mpi, in, true);
    }
    struct pf_native_type *entry;
    HASH_FIND_PTR(objects->natives[in->impl], &native, entry);
    return entry ? entry->handle : MPI_DATATYPE_NULL;
}
