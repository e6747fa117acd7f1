/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "openshmem/internal.h"

/*
 * The PEs of one collective: start, start + stride, ... Their signals are elements of pSync, which count: a
 * PE that waits for one takes it, so that all are 0 again at the end, and a PE that is one collective ahead
 * does no harm. Elements below PF_SHMEM_ROUNDS are the rounds of a barrier, the others belong to the rest of
 * a collective.
 */
struct pf_shmem_set {
    struct pf_shmem *me;
    int start, stride, size;
    int index; /* of the caller */
    long *sync;
};

enum { PF_SHMEM_ROUNDS = 32, PF_SHMEM_READY = 32, PF_SHMEM_DATA, PF_SHMEM_VALUE, PF_SHMEM_TREE };

/* Dies when the caller is not in it, or pSync is not symmetric. */
struct pf_shmem_set pf_shmem_set_of(struct pf_shmem *me, PF_SHMEM_SET);
struct pf_shmem_set pf_shmem_set_all(struct pf_shmem *me);

/* The PE with this index, taken modulo the size. */
static inline int pf_shmem_set_pe(const struct pf_shmem_set *set, int index)
{
    return set->start + index % set->size * set->stride;
}

void pf_shmem_set_signal(const struct pf_shmem_set *set, int element, int index);
void pf_shmem_set_take(const struct pf_shmem_set *set, int element, int index);
/* No PE leaves before all have come: in round k each signals the one that is 2^k further. */
void pf_shmem_set_sync(const struct pf_shmem_set *set);
/* The data of the member `root` to all others, down a binomial tree: `own` at the root, `to` elsewhere. */
void pf_shmem_set_broadcast(const struct pf_shmem_set *set, void *to, const void *own, size_t length,
                            int root);
