/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes an object's native shadow at its first use in another implementation. */
#include "middleware/core/object.h"

#include <stdlib.h>

#include <simgrid/engine.h>

#include "middleware/comm/comm.h"
#include "middleware/comm/group.h"
#include "middleware/core/call.h"
#include "middleware/datatype/datatype.h"
#include "middleware/object/info.h"
#include "middleware/object/op.h"
#include "base/memory.h"

static void *make_shadow(struct pf_instance *in, struct pf_object *object)
{
    switch (object->kind) {
    case PF_KIND_COMM:
        return pf_comm_shadow(in, (struct pf_comm *)object);
    case PF_KIND_GROUP:
        return pf_group_shadow(in, (struct pf_group *)object);
    case PF_KIND_DATATYPE:
        return pf_datatype_shadow(in, (struct pf_datatype *)object);
    case PF_KIND_OP:
        return pf_op_shadow(in, (struct pf_op *)object);
    case PF_KIND_INFO:
        return pf_info_shadow(in, (struct pf_info *)object);
    default:
        return in->values->comm_null; /* a freed or foreign handle: the native call names the error */
    }
}

void *pf_object_materialize(struct pf_instance *in, struct pf_object *object)
{
    const pf_self_t *self = pf_self();
    if (!self || !self->mpi || object->home == in->impl)
        return make_shadow(in, object);
    struct pf_account *account = self->mpi->account;
    pf_account_shadow_begin(account, simgrid_get_clock());
    void *native = make_shadow(in, object);
    pf_account_shadow_end(account, simgrid_get_clock(), object->native[in->impl] != NULL);
    return native;
}

pf_native_datatype_t *pf_native_array(struct pf_instance *in, const MPI_Datatype *types, int n)
{
    pf_native_datatype_t *natives = pf_malloc((size_t)(n > 0 ? n : 1) * sizeof *natives);
    for (int i = 0; i < n; i++)
        natives[i] = pf_native(in, types[i]);
    return natives;
}
