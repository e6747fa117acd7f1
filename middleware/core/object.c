/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes an object's native shadow at its first use in another implementation. */
#include "middleware/core/object.h"

#include <simgrid/engine.h>

#include "middleware/core/call.h"
#include "base/memory.h"

/* A freed or foreign handle, or one of a kind that has no shadows: the native call names the error. */
static void *no_shadow(struct pf_instance *in, struct pf_object *object)
{
    return in->values->comm_null;
}

static const struct pf_object_ops none = {.size = sizeof none, .shadow = no_shadow};
static const struct pf_object_ops *known[PF_KIND_END - PF_KIND_COMM];

void pf_object_register(enum pf_kind kind, const struct pf_object_ops *ops)
{
    known[kind - PF_KIND_COMM] = ops;
}

static const struct pf_object_ops *ops_of(const struct pf_object *object)
{
    uint32_t index = object->kind - PF_KIND_COMM; /* of a wild pointer it is anything */
    return index < sizeof known / sizeof *known && known[index] ? known[index] : &none;
}

void *pf_object_materialize(struct pf_instance *in, struct pf_object *object)
{
    const pf_self_t *self = pf_self();
    if (!self || !self->mpi || object->home == in->impl)
        return ops_of(object)->shadow(in, object);
    struct pf_account *account = self->mpi->account;
    pf_account_shadow_begin(account, simgrid_get_clock());
    void *native = ops_of(object)->shadow(in, object);
    pf_account_shadow_end(account, simgrid_get_clock(), object->native[in->impl] != NULL);
    return native;
}

void *pf_object_predefined(struct pf_instance *in, const void *handle)
{
    if (handle != MPI_COMM_WORLD || pf_job_state.world_count < 2)
        return NULL;
    struct pf_object *world = (struct pf_object *)pf_job_state.ranks[in->rank].world;
    if (!world->native[in->impl])
        ops_of(world)->shadow(in, world);
    in->predefined[(uintptr_t)MPI_COMM_WORLD] = world->native[in->impl];
    return world->native[in->impl];
}

pf_native_datatype_t *pf_native_array(struct pf_instance *in, const MPI_Datatype *types, int n)
{
    pf_native_datatype_t *natives = pf_malloc((size_t)(n > 0 ? n : 1) * sizeof *natives);
    for (int i = 0; i < n; i++)
        natives[i] = pf_native(in, types[i]);
    return natives;
}
