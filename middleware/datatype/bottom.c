/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces MPI_BOTTOM in collectives by addresses that SMPI can compute with. */
#include "middleware/datatype/bottom.h"

/* Where the data of the first derived type begin; 0 when there is none. */
static MPI_Aint first_address(const MPI_Datatype *types, int n)
{
    for (int i = 0; i < n; i++) {
        struct pf_bounds bounds;
        if (!pf_datatype_of(types[i]))
            continue;
        pf_datatype_bounds(types[i], &bounds);
        if (bounds.size > 0)
            return bounds.true_lb;
    }
    return 0;
}

/* The same data, seen from an address. */
static pf_native_datatype_t shifted(struct pf_instance *in, pf_native_datatype_t type, MPI_Aint address)
{
    int one = 1;
    MPI_Aint back = -address;
    pf_native_datatype_t made = in->values->datatype_null;
    in->fn->Type_create_hindexed(1, &one, &back, type, &made);
    in->fn->Type_commit(&made);
    return made;
}

bool pf_bottom_begin(struct pf_instance *in, const MPI_Datatype *types, int n, void **buffer,
                     pf_native_datatype_t *natives)
{
    MPI_Aint address = in->values->bottom_lost ? first_address(types, n) : 0;
    if (!address)
        return false;
    for (int i = 0; i < n; i++)
        if (natives[i] != in->values->datatype_null)
            natives[i] = shifted(in, natives[i], address);
    *buffer = (void *)(uintptr_t)address;
    return true;
}

void pf_bottom_end(struct pf_instance *in, int n, pf_native_datatype_t *natives)
{
    for (int i = 0; i < n; i++)
        if (natives[i] != in->values->datatype_null)
            in->fn->Type_free(&natives[i]);
}
