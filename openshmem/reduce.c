/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions: up a binomial tree, where each PE gets what its children have, and down again as a broadcast.
 * The order of the operations depends on the size of the set alone, so results are the same in every run.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "openshmem/active_set.h"

void pf_shmem_reduce(struct pf_shmem *me, void *to, const void *from, int count, size_t size,
                     pf_shmem_operation operation, PF_SHMEM_SET)
{
    struct pf_shmem_set set = pf_shmem_set_of(me, set_start, set_log_stride, set_size, sync);
    if (count < 0)
        pf_shmem_die(me, "a reduction of %d elements", count);
    size_t length = (size_t)count * size;
    if (count == 0)
        return;
    pf_shmem_locate(me, to, length);
    memmove(to, from, length);
    void *theirs = set.index % 2 == 0 && set.size > 1 ? pf_malloc(length) : NULL;
    int bit = 1;
    for (int round = 0; bit < set.size && !(set.index & bit); round++, bit *= 2) {
        if (set.index + bit >= set.size)
            continue;
        pf_shmem_set_take(&set, PF_SHMEM_TREE + round, set.index + bit);
        pf_shmem_get(me, SHMEM_CTX_DEFAULT, theirs, to, length, pf_shmem_set_pe(&set, set.index + bit));
        operation(to, theirs, (size_t)count);
    }
    free(theirs);
    if (set.index > 0)
        pf_shmem_set_signal(&set, PF_SHMEM_TREE + __builtin_ctz((unsigned int)bit), set.index - bit);
    pf_shmem_set_broadcast(&set, to, to, length, 0);
}
