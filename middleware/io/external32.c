/* SPDX-License-Identifier: BSD-3-Clause */
/* The size of packed data in the representation that all machines share. Open MPI 4.1 says 8 bytes for an
 * MPI_LONG and packs 4, as MPI 3.1 section 13.5.2 has it. */
#include "middleware/agree/switch.h"
#include "middleware/comm/routing.h"
#include "middleware/datatype/datatype.h"

/* In how many bytes the size of an MPI_LONG differs from what is packed. */
static MPI_Aint surplus_of_long(struct pf_instance *in, const char *datarep)
{
    long nothing = 0, packed[2];
    MPI_Aint size = 0, position = 0;
    pf_native_datatype_t type = pf_native(in, MPI_LONG);
    if (in->fn->Pack_external_size(datarep, 1, type, &size) != 0 ||
        in->fn->Pack_external(datarep, &nothing, 1, type, packed, sizeof packed, &position) != 0)
        return 0;
    return size - position;
}

int pf_PMPI_Pack_external_size(const char *datarep, int incount, MPI_Datatype datatype, MPI_Aint *size)
{
    struct pf_rank *r = PF_ENTER(Pack_external_size);
    struct pf_instance *in = pf_call_native_begin(r, pf_switch_promote(r));
    int code = in->fn->Pack_external_size(datarep, incount, pf_native(in, datatype), size);
    MPI_Count longs = code == 0 ? incount * pf_datatype_longs(datatype) : 0;
    if (longs > 0)
        *size -= longs * surplus_of_long(in, datarep);
    return pf_call_leave(r, in, MPI_COMM_WORLD, code);
}
