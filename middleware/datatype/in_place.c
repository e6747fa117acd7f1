/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_IN_PLACE for an implementation that does it wrong (see in_place.h). */
#include "middleware/datatype/in_place.h"

#include <limits.h>
#include <stdint.h>

#include "base/memory.h"
#include "middleware/core/call.h"

/* One block. */
struct block {
    MPI_Datatype type;
    int count;
    MPI_Count size; /* bytes of its data */
    MPI_Aint offset;
    bool dense;
};

static struct block block_at(enum pf_in_place_blocks blocks, const int *counts, const int *displs,
                             const MPI_Datatype *types, int i)
{
    struct pf_bounds bounds;
    struct block b = {.type = types[blocks == PF_IN_PLACE_BYTES ? i : 0],
                      .count = counts[blocks == PF_IN_PLACE_EQUAL ? 0 : i]};
    if (b.count < 0 || !pf_datatype_valid(b.type))
        return (struct block){.count = -1};
    pf_datatype_bounds(b.type, &bounds);
    MPI_Aint extent = bounds.ub - bounds.lb;
    b.size = b.count * bounds.size;
    b.dense = bounds.dense || b.size == 0;
    b.offset = blocks == PF_IN_PLACE_BYTES   ? displs[i]
               : blocks == PF_IN_PLACE_ITEMS ? displs[i] * extent
                                             : (MPI_Aint)i * b.count * extent;
    return b;
}

void pf_in_place_pack(struct pf_in_place *out, struct pf_instance *in, enum pf_in_place_blocks blocks,
                      bool nonblocking, const void *buffer, const int *counts, const int *displs,
                      const MPI_Datatype *types, int n)
{
    out->room = NULL;
    if (!in->values->in_place_lost || !buffer || !counts || !types ||
        (!displs && blocks != PF_IN_PLACE_EQUAL))
        return;
    MPI_Count bytes = 0;
    bool dense = true;
    for (int i = 0; i < n; i++) {
        struct block b = block_at(blocks, counts, displs, types, i);
        if (b.count < 0)
            return; /* the implementation says what is wrong */
        MPI_Count packed = b.count * pf_datatype_bytes(pf_self()->mpi, b.type, in->impl);
        bytes += packed > b.size ? packed : b.size;
        dense = dense && b.dense;
    }
    if (bytes == 0 || bytes > INT_MAX || (dense && !nonblocking))
        return;
    size_t each = sizeof *out->types + sizeof *out->counts + sizeof *out->displs;
    out->room = pf_malloc((size_t)n * each + (size_t)bytes + 1);
    out->types = out->room;
    out->counts = (int *)(out->types + n);
    out->displs = out->counts + n;
    out->buffer = out->displs + n;
    int position = 0;
    for (int i = 0; i < n; i++) {
        struct block b = block_at(blocks, counts, displs, types, i);
        int before = position;
        in->fn->Pack((void *)((intptr_t)buffer + b.offset), b.count, pf_native(in, b.type), out->buffer,
                     (int)bytes, &position, pf_native(in, MPI_COMM_SELF));
        bool empty = position == before; /* but it may have items, which the other side counts on */
        out->types[i] = empty ? b.type : MPI_BYTE;
        out->counts[i] = empty ? b.count : position - before;
        out->displs[i] = before;
    }
}
