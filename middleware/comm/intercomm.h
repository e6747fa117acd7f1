/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/comm/comm.h"

static inline bool pf_comm_is_inter(const struct pf_comm *comm)
{
    return comm->shared->other != NULL;
}

/* A member's handle on a new intercommunicator between two groups of ranks of the world, `me` in the first
 * of them. Its members find each other by these lists; calls with the same lists come in the same order at
 * every member. `native` may be NULL: the shadow is made at first use. */
struct pf_comm *pf_intercomm_adopt(struct pf_rank *r, const struct pf_comm *parent, const int *ranks,
                                   int size, int me, const int *others, int others_size,
                                   struct pf_instance *in, void *native);

/* The duplicate of an intercommunicator. */
struct pf_comm *pf_intercomm_duplicate(struct pf_rank *r, struct pf_comm *parent, struct pf_instance *in,
                                       void *native);
