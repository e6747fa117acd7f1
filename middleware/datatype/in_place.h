/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/datatype/datatype.h"

/*
 * MPI_IN_PLACE in an all-to-all exchange. SMPI copies what it sends, as many bytes as the data are long
 * without their gaps, and frees the copy of a nonblocking call before its messages have left. It gets packed
 * blocks instead, in the same messages. The other implementations need nothing of that.
 */
struct pf_in_place {
    void *room;   /* of all that follows, to be freed when the operation is over; NULL: nothing is replaced */
    void *buffer; /* what stands for MPI_IN_PLACE, and its blocks */
    int *counts, *displs;
    MPI_Datatype *types;
};

/* Which of the calls: where the blocks are. */
enum pf_in_place_blocks { PF_IN_PLACE_EQUAL, PF_IN_PLACE_ITEMS, PF_IN_PLACE_BYTES };

/* `n` blocks of the receive buffer, by the arguments of the call; PF_IN_PLACE_BYTES has a type for each.
 * Packs them if the implementation needs it. It costs no simulated time. */
void pf_in_place_pack(struct pf_in_place *out, struct pf_instance *in, enum pf_in_place_blocks blocks,
                      bool nonblocking, const void *buffer, const int *counts, const int *displs,
                      const MPI_Datatype *types, int n);
