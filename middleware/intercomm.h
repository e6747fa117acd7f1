/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_INTERCOMM_H
#define PF_MIDDLEWARE_INTERCOMM_H

#include "middleware/comm.h"

static inline bool pf_comm_is_inter(const struct pf_comm *comm)
{
    return comm->shared->remote_ranks != NULL;
}

/* A member's handle on the native intercommunicator that collective `sequence` of `parent` has made. */
struct pf_comm *pf_intercomm_adopt(struct pf_rank *r, struct pf_comm *parent, uint64_t sequence,
                                   struct pf_instance *in, void *native);

#endif
