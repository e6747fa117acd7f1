/* SPDX-License-Identifier: BSD-3-Clause */
#include "adapters/openmpi/native.h"

#include <limits.h>
#include <string.h>

#include <mpi.h>

#include "base/config.h"

static const int error_classes[] = {
#define PF_NATIVE_HANDLE(name, symbol)
#define PF_NATIVE_ERROR(name) name,
#include "adapters/openmpi/names.def"
#undef PF_NATIVE_HANDLE
#undef PF_NATIVE_ERROR
};

int pf_native_error_row(int native_class)
{
    for (size_t i = 0; i < sizeof error_classes / sizeof error_classes[0]; i++)
        if (error_classes[i] == native_class)
            return (int)i;
    return -1;
}

const struct pf_native_special pf_native_special = {MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL};

/*
 * mtl/portals4 keeps tags in 24 bits, the highest of which tells the negative tags of collectives from the
 * application's: a receive with MPI_ANY_TAG ignores only the lower 23.
 */
static int tag_upper_bound(void)
{
    return strcmp(pf_config.openmpi_pml, "cm") == 0 ? (1 << 23) - 1 : INT_MAX;
}

void pf_native_values_fill(struct pf_ompi_instance *inst, struct pf_native_values *values)
{
    *values = (struct pf_native_values){
        .any_source = MPI_ANY_SOURCE,
        .proc_null = MPI_PROC_NULL,
        .root = MPI_ROOT,
        .any_tag = MPI_ANY_TAG,
        .undefined = MPI_UNDEFINED,
        .order_c = MPI_ORDER_C,
        .order_fortran = MPI_ORDER_FORTRAN,
        .distribute_block = MPI_DISTRIBUTE_BLOCK,
        .distribute_cyclic = MPI_DISTRIBUTE_CYCLIC,
        .distribute_none = MPI_DISTRIBUTE_NONE,
        .distribute_default = MPI_DISTRIBUTE_DFLT_DARG,
        .tag_upper_bound = tag_upper_bound(),
        .status_size = sizeof(MPI_Status),
        .in_place = MPI_IN_PLACE,
        .bottom = MPI_BOTTOM,
        .request_null = pf_ompi_symbol(inst, "ompi_request_null"),
        .datatype_null = pf_ompi_symbol(inst, "ompi_mpi_datatype_null"),
        .comm_null = pf_ompi_symbol(inst, "ompi_mpi_comm_null"),
        .group_null = pf_ompi_symbol(inst, "ompi_mpi_group_null"),
        .info_null = pf_ompi_symbol(inst, "ompi_mpi_info_null"),
        .op_null = pf_ompi_symbol(inst, "ompi_mpi_op_null"),
    };
}

void pf_native_status_get(const void *native, struct pf_native_status_view *out)
{
    const MPI_Status *status = native;
    *out = (struct pf_native_status_view){
        .source = status->MPI_SOURCE,
        .tag = status->MPI_TAG,
        .error = status->MPI_ERROR,
        .cancelled = status->_cancelled,
        .bytes = (int64_t)status->_ucount,
    };
}

void pf_native_status_set(void *native, const struct pf_native_status_view *in)
{
    MPI_Status *status = native;
    *status = (MPI_Status){
        .MPI_SOURCE = in->source,
        .MPI_TAG = in->tag,
        .MPI_ERROR = in->error,
        ._cancelled = in->cancelled,
        ._ucount = (size_t)in->bytes,
    };
}

_Static_assert(sizeof(MPI_Status) <= sizeof(union pf_native_status),
               "the middleware's buffer holds a native status");
